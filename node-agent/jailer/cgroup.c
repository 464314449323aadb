/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/cgroup.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"
#include "common/path.h"
#include "node-agent/jailer/cgroup_internal.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/sweep.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

int cgroup_slot_fd(const struct cgroup_system *system, enum cgroup_controller controller)
{
    for (size_t i = 0; i < system->count; i++) {
        if (system->hierarchies[i].controllers & CGROUP_BIT(controller))
            return system->hierarchies[i].slot_fd;
    }
    return -1;
}

static void attribute_path(char ret_path[static 128], const char *id, const char *attribute)
{
    (void)snprintf(ret_path, 128, "%s/%s", id, attribute);
}

int cgroup_write(int slot_fd, const char *id, const char *attribute, const char *text,
                 struct error *err)
{
    char path[128];
    attribute_path(path, id, attribute);
    int r = fd_write_attr(slot_fd, path, text);
    return r < 0 ? error_set_errno(err, -r, "set %s to %s", attribute, text) : 0;
}

int cgroup_read_number(int slot_fd, const char *id, const char *attribute, uint64_t *ret_value)
{
    char path[128], text[CGROUP_VALUE_SIZE];
    attribute_path(path, id, attribute);
    int r = fd_read_attr(slot_fd, path, text, sizeof(text));
    return r < 0 ? r : parse_u64(text, 0, UINT64_MAX, ret_value);
}

uint64_t cgroup_read_keyed(int slot_fd, const char *id, const char *attribute, const char *key)
{
    char path[128], text[4096];
    attribute_path(path, id, attribute);
    if (fd_read_attr(slot_fd, path, text, sizeof(text)) < 0)
        return 0;
    size_t key_len = strlen(key);
    for (char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        bool last = line[len] == '\0';
        line[len] = '\0';
        uint64_t value = 0;
        if (strncmp(line, key, key_len) == 0 && line[key_len] == ' ' &&
            parse_u64(line + key_len + 1, 0, UINT64_MAX, &value) >= 0)
            return value;
        line += last ? len : len + 1;
    }
    return 0;
}

/* Reads what v2 offers at its mount; 0 where there is no v2. */
static unsigned int read_v2_controllers(const struct cgroup_mounts *mounts)
{
    const struct cgroup_mount *v2 = cgroup_mounts_find_v2(mounts);
    char text[512];
    cleanup_close int fd = v2 ? path_open_dir(v2->point) : -1;
    if (fd < 0 || fd_read_attr(fd, "cgroup.controllers", text, sizeof(text)) < 0)
        return 0;
    return cgroup_controllers_parse(text, " ");
}

/* The directory at the root of the mount (PARENT will be made in it), or the own cgroup. */
static int open_hierarchy(struct cgroup_system *system, const struct cgroup_mount *mount,
                          unsigned int controllers, const char *self_cgroup, struct error *err)
{
    struct cgroup_hierarchy *hierarchy = &system->hierarchies[system->count];
    char own[CGROUP_PATH_SIZE] = "";
    if (system->self && cgroup_own_path(self_cgroup, mount, own) < 0)
        return error_set(err, ENOENT, "the jailer's own cgroup does not lie below %s",
                         mount->point);
    *hierarchy = (struct cgroup_hierarchy){
        .controllers = controllers, .root_fd = -1, .base_fd = -1, .slot_fd = -1};
    system->count++;
    /* own starts with a slash, or is empty. */
    int r = path_join(hierarchy->path, sizeof(hierarchy->path), mount->point,
                      system->self ? own + (own[0] == '/' ? 1 : 0) : system->parent);
    if (r < 0)
        return error_set_errno(err, -r, "path of a cgroup below %s", mount->point);
    int fd = path_open_dir(system->self ? hierarchy->path : mount->point);
    if (fd < 0)
        return error_set_errno(err, -fd, "open cgroup %s", hierarchy->path);
    if (system->self)
        hierarchy->base_fd = fd;
    else
        hierarchy->root_fd = fd;
    return 0;
}

int cgroup_mounts_read(int proc_fd, struct cgroup_mounts *ret_mounts,
                       unsigned int *ret_v2_controllers, struct error *err)
{
    cleanup_buf struct buf mountinfo = BUF_INIT(MAX_PROC_FILE);
    int r = fd_read_file(proc_fd, "self/mountinfo", false, &mountinfo);
    if (r < 0)
        return error_set_errno(err, -r, "read /proc/self/mountinfo");
    cgroup_mounts_parse(buf_str(&mountinfo), ret_mounts);
    *ret_v2_controllers = read_v2_controllers(ret_mounts);
    return 0;
}

/* A container runtime mounts the cgroup file systems read-only. With its own cgroup as the parent
 * the jailer is in such a container, whose mounts are nobody else's; what stays read-only all the
 * same is refused by cgroup_layout_choose(). */
static bool make_writable(const struct cgroup_mounts *mounts)
{
    bool changed = false;
    for (size_t i = 0; i < mounts->count; i++) {
        if (mounts->mounts[i].read_only &&
            mount(NULL, mounts->mounts[i].point, NULL,
                  MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0)
            changed = true;
    }
    return changed;
}

static int open_layout(struct cgroup_system *system, struct error *err)
{
    struct cgroup_mounts mounts;
    struct cgroup_layout layout;
    unsigned int v2_controllers = 0;
    cleanup_buf struct buf self_cgroup = BUF_INIT(MAX_PROC_FILE);
    mounts.count = 0;
    int r = fd_read_file(system->proc_fd, "self/cgroup", false, &self_cgroup);
    if (r < 0)
        return error_set_errno(err, -r, "read /proc/self/cgroup");
    r = cgroup_mounts_read(system->proc_fd, &mounts, &v2_controllers, err);
    if (r >= 0 && system->self && make_writable(&mounts))
        r = cgroup_mounts_read(system->proc_fd, &mounts, &v2_controllers, err);
    if (r < 0)
        return r;
    r = cgroup_layout_choose(&mounts, v2_controllers, &layout, err);
    if (r < 0)
        return r;
    system->backend = layout.version == 2 ? &cgroup_v2 : &cgroup_v1;
    for (size_t i = 0; i < layout.count && r >= 0; i++) {
        const struct cgroup_mount *mount = layout.hierarchies[i];
        unsigned int controllers = layout.version == 2 ? CGROUP_V2_NEEDED : mount->controllers;
        r = open_hierarchy(system, mount, controllers, buf_str(&self_cgroup), err);
    }
    return r;
}

static int move_self(const struct cgroup_system *system, int dir_fd, const char *path,
                     struct error *err)
{
    int r = fd_write_attr(dir_fd, system->backend->move_file, "0");
    return r < 0 ? error_set_errno(err, -r, "move the jailer into cgroup %s", path) : 0;
}

/* PARENT is the own cgroup: the jailer goes into a leaf beside the sandboxes, or v2 would let
 * their common parent have no controllers. */
static int prepare_self(struct cgroup_system *system, struct cgroup_hierarchy *hierarchy,
                        struct error *err)
{
    if (mkdirat(hierarchy->base_fd, CGROUP_LEAF, 0755) < 0 && errno != EEXIST)
        return error_set_errno(err, errno, "make cgroup %s/" CGROUP_LEAF, hierarchy->path);
    cleanup_close int leaf_fd =
        openat(hierarchy->base_fd, CGROUP_LEAF, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (leaf_fd < 0)
        return error_set_errno(err, errno, "open cgroup %s/" CGROUP_LEAF, hierarchy->path);
    int r = move_self(system, leaf_fd, hierarchy->path, err);
    if (r >= 0)
        r = system->backend->delegate(hierarchy->base_fd, hierarchy->path, err);
    return r;
}

/* Closed to everybody else: who can open a slot's directory could take its lock. */
static int prepare_named(struct cgroup_system *system, struct cgroup_hierarchy *hierarchy,
                         struct error *err)
{
    int r = system->backend->delegate(hierarchy->root_fd, "at the root of the hierarchy", err);
    if (r < 0)
        return r;
    /* Another jailer that ends may remove it in between. */
    for (int tries = 0; hierarchy->base_fd < 0 && tries < 8; tries++) {
        if (mkdirat(hierarchy->root_fd, system->parent, 0700) < 0 && errno != EEXIST)
            return error_set_errno(err, errno, "make cgroup %s", hierarchy->path);
        hierarchy->base_fd =
            openat(hierarchy->root_fd, system->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (hierarchy->base_fd < 0)
        return error_set_errno(err, errno, "open cgroup %s", hierarchy->path);
    return system->backend->delegate(hierarchy->base_fd, hierarchy->path, err);
}

static int prepare_bases(struct cgroup_system *system, struct error *err)
{
    int r = 0;
    for (size_t i = 0; i < system->count && r >= 0; i++)
        r = system->self ? prepare_self(system, &system->hierarchies[i], err)
                         : prepare_named(system, &system->hierarchies[i], err);
    return r;
}

static int prepare_slots(struct cgroup_system *system, uint64_t cpu_milli, struct error *err)
{
    for (size_t i = 0; i < system->count; i++) {
        int r = system->backend->delegate(system->hierarchies[i].slot_fd, system->slot_name, err);
        if (r < 0)
            return r;
    }
    return system->backend->prepare_slot(system, cpu_milli, err);
}

static bool base_is_gone(const struct cgroup_system *system,
                         const struct cgroup_hierarchy *hierarchy)
{
    struct stat held, named;
    return hierarchy->base_fd >= 0 && fstat(hierarchy->base_fd, &held) == 0 &&
           (fstatat(hierarchy->root_fd, system->parent, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
            held.st_ino != named.st_ino);
}

static bool forget_gone_bases(struct cgroup_system *system)
{
    bool gone = false;
    for (size_t i = 0; i < system->count && !system->self; i++) {
        struct cgroup_hierarchy *hierarchy = &system->hierarchies[i];
        if (base_is_gone(system, hierarchy)) {
            hierarchy->base_fd = fd_close(hierarchy->base_fd);
            gone = true;
        }
    }
    return gone;
}

/* Until there is a slot in it another jailer that ends may remove PARENT, and nothing can be made
 * in what is removed. */
static int claim(struct cgroup_system *system, struct error *err)
{
    for (int tries = 0;; tries++) {
        int r = prepare_bases(system, err);
        if (r >= 0)
            r = cgroup_slot_claim(system, err);
        if (r >= 0 || tries >= 8)
            return r;
        cgroup_slot_release(system);
        if (!forget_gone_bases(system))
            return r;
    }
}

bool cgroup_parent_is_self(const char *parent)
{
    return strcmp(parent, CGROUP_SELF) == 0;
}

int cgroup_system_open(int proc_fd, const struct cgroup_options *options,
                       struct cgroup_system **ret_system, struct error *err)
{
    struct cgroup_system *system = calloc(1, sizeof(*system));
    if (!system)
        return error_set_errno(err, ENOMEM, "cgroups");
    system->proc_fd = proc_fd;
    system->self = cgroup_parent_is_self(options->parent);
    (void)snprintf(system->parent, sizeof(system->parent), "%s", options->parent);

    int r = open_layout(system, err);
    if (r >= 0)
        r = claim(system, err);
    if (r >= 0)
        r = prepare_slots(system, options->cpu_milli, err);
    if (r < 0) {
        cgroup_system_close(system);
        return r;
    }
    *ret_system = system;
    return 0;
}

static void hierarchy_close(struct cgroup_system *system, struct cgroup_hierarchy *hierarchy)
{
    /* Both fail as long as another jailer is at work there, which is right. */
    if (!system->self && hierarchy->base_fd >= 0) {
        (void)unlinkat(hierarchy->root_fd, system->parent, AT_REMOVEDIR);
    } else if (hierarchy->base_fd >= 0) {
        system->backend->undelegate(hierarchy->base_fd);
        if (move_self(system, hierarchy->base_fd, hierarchy->path, NULL) >= 0)
            (void)unlinkat(hierarchy->base_fd, CGROUP_LEAF, AT_REMOVEDIR);
    }
    hierarchy->base_fd = fd_close(hierarchy->base_fd);
    hierarchy->root_fd = fd_close(hierarchy->root_fd);
}

void cgroup_system_close(struct cgroup_system *system)
{
    if (!system)
        return;
    cgroup_slot_release(system);
    for (size_t i = 0; i < system->count; i++)
        hierarchy_close(system, &system->hierarchies[i]);
    free(system);
}

unsigned int cgroup_system_version(const struct cgroup_system *system)
{
    return system->backend->version;
}

unsigned int cgroup_system_slot(const struct cgroup_system *system)
{
    return system->slot;
}

unsigned int cgroup_system_uid_part(const struct cgroup_system *system)
{
    return system->slot + (system->self ? MAX_JAILERS : 0);
}

uint64_t cgroup_system_memory_limit(const struct cgroup_system *system)
{
    const char *attribute = system->backend->version == 2 ? "memory.max" : "memory.limit_in_bytes";
    uint64_t limit = UINT64_MAX;
    for (size_t i = 0; i < system->count; i++) {
        if (system->hierarchies[i].controllers & CGROUP_BIT(CGROUP_MEMORY))
            (void)cgroup_read_number(system->hierarchies[i].base_fd, ".", attribute, &limit);
    }
    return limit;
}

bool cgroup_host_has_swap(int proc_fd)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_PROC_FILE);
    int r = fd_read_file(proc_fd, "swaps", false, &text);
    if (r == -ENOENT)
        return false; /* a kernel without swap */
    /* More than the heading: there is swap. */
    const char *heading_end = r < 0 ? NULL : strchr(buf_str(&text), '\n');
    return !heading_end || heading_end[1] != '\0';
}

int cgroup_create(struct cgroup_system *system, const char *id, const struct cgroup_limits *limits,
                  struct cgroup *ret_cgroup, struct error *err)
{
    struct cgroup cgroup = {.oom_fd = -1};
    (void)snprintf(cgroup.name, sizeof(cgroup.name), "%s", id);
    if (!system->limits_swap && cgroup_host_has_swap(system->proc_fd))
        return error_set(err, ENOTSUP,
                         "this host has swap and its kernel can't limit it per cgroup: switch "
                         "swap off, or boot with swapaccount=1");
    int r = 0;
    for (size_t i = 0; i < system->count && r >= 0; i++) {
        if (mkdirat(system->hierarchies[i].slot_fd, id, 0700) < 0)
            r = error_set_errno(err, errno, "make cgroup %s/%s/%s", system->hierarchies[i].path,
                                system->slot_name, id);
    }
    if (r >= 0)
        r = system->backend->set_limits(system, &cgroup, limits, err);
    if (r < 0) {
        (void)cgroup_destroy(system, &cgroup);
        return r;
    }
    *ret_cgroup = cgroup;
    return 0;
}

int cgroup_open_entrance(struct cgroup_system *system, const struct cgroup *cgroup,
                         int *ret_clone_fd, int ret_tasks_fds[static MAX_CGROUP_HIERARCHIES],
                         size_t *ret_tasks_count, struct error *err)
{
    if (system->backend->version == 2) {
        int fd = openat(system->hierarchies[0].slot_fd, cgroup->name,
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return error_set_errno(err, errno, "open the sandbox's cgroup");
        *ret_clone_fd = fd;
        *ret_tasks_count = 0;
        return 0;
    }
    char path[128];
    attribute_path(path, cgroup->name, system->backend->move_file);
    size_t count = 0;
    for (; count < system->count; count++) {
        ret_tasks_fds[count] =
            openat(system->hierarchies[count].slot_fd, path, O_WRONLY | O_CLOEXEC);
        if (ret_tasks_fds[count] >= 0)
            continue;
        int failure = errno;
        while (count > 0)
            (void)fd_close(ret_tasks_fds[--count]);
        return error_set_errno(err, failure, "open %s of the sandbox's cgroup",
                               system->backend->move_file);
    }
    *ret_clone_fd = -1;
    *ret_tasks_count = count;
    return 0;
}

static int give_entrance(struct cgroup_system *system, const char *name, uid_t uid, gid_t gid,
                         struct error *err)
{
    char path[128];
    attribute_path(path, name, system->backend->move_file);
    return fchownat(system->hierarchies[0].slot_fd, path, uid, gid, AT_SYMLINK_NOFOLLOW) < 0
               ? error_set_errno(err, errno, "give %s to a zygote", path)
               : 0;
}

int cgroup_admit(struct cgroup_system *system, const struct cgroup *cgroup, uid_t uid,
                 struct error *err)
{
    return system->backend->version == 2 ? give_entrance(system, cgroup->name, uid, (gid_t)-1, err)
                                         : 0;
}

int cgroup_admit_group(struct cgroup_system *system, gid_t gid, struct error *err)
{
    if (system->backend->version != 2)
        return 0;
    if (fchmodat(system->hierarchies[0].slot_fd, system->backend->move_file, 0660, 0) < 0)
        return error_set_errno(err, errno, "let a group write to %s", system->backend->move_file);
    return give_entrance(system, ".", (uid_t)-1, gid, err);
}

int cgroup_set_cpu(struct cgroup_system *system, const struct cgroup *cgroup, uint32_t cpu_milli,
                   struct error *err)
{
    return system->backend->set_cpu(system, cgroup, cpu_milli, err);
}

int cgroup_change(struct cgroup_system *system, const struct cgroup *cgroup,
                  const struct cgroup_limits *now, const struct cgroup_limits *limits,
                  struct error *err)
{
    int r = 0;
    if (limits->memory_bytes != now->memory_bytes)
        r = system->backend->set_memory(system, cgroup, limits->memory_bytes,
                                        limits->memory_bytes > now->memory_bytes, err);
    if (r >= 0 && limits->cpu_milli != now->cpu_milli)
        r = system->backend->set_cpu(system, cgroup, limits->cpu_milli, err);
    return r;
}

int cgroup_set_idle(struct cgroup_system *system, const struct cgroup *cgroup, bool idle,
                    struct error *err)
{
    return system->backend->set_idle(system, cgroup, idle, err);
}

void cgroup_usage(struct cgroup_system *system, const struct cgroup *cgroup,
                  struct cgroup_usage *ret_usage)
{
    system->backend->usage(system, cgroup, ret_usage);
}

void cgroup_kill(struct cgroup_system *system, const struct cgroup *cgroup)
{
    (void)sweep_kill(system->hierarchies[0].slot_fd, cgroup->name, NULL, NULL);
}

int cgroup_destroy(struct cgroup_system *system, struct cgroup *cgroup)
{
    cgroup->oom_fd = fd_close(cgroup->oom_fd);
    int result = 0;
    for (size_t i = 0; i < system->count; i++) {
        if (unlinkat(system->hierarchies[i].slot_fd, cgroup->name, AT_REMOVEDIR) < 0 &&
            errno != ENOENT)
            result = -errno;
    }
    return result;
}
