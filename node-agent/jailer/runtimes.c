/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/runtimes.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/parse.h"
#include "common/path.h"
#include "node-agent/jailer/mounts.h"
#include "node-agent/jailer/payload.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define MARK_DIR     "/usr/lib/sandboxrun"
#define VERSION_FILE MARK_DIR "/version"

struct needed_path {
    const char *path;
    mode_t type;
};

static const struct needed_path needed[] = {
    {PAYLOAD_PROGRAM, S_IFREG}, {PAYLOAD_RUNNER, S_IFREG}, {"/tmp", S_IFDIR},
    {"/proc", S_IFDIR},         {"/dev", S_IFDIR},         {JAIL_HOME, S_IFDIR},
};

/* Absolute links lead to the runtime's own root. */
int runtimes_open_inside(int root_fd, const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned int)(flags | O_CLOEXEC),
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    return fd < 0 ? -errno : (int)fd;
}

static int check_path(int root_fd, const struct needed_path *wanted, struct error *err)
{
    cleanup_close int fd = runtimes_open_inside(root_fd, wanted->path, O_PATH);
    struct stat st;
    if (fd < 0)
        return error_set_errno(err, -fd, "%s", wanted->path);
    if (fstat(fd, &st) < 0)
        return error_set_errno(err, errno, "%s", wanted->path);
    if ((st.st_mode & S_IFMT) != wanted->type)
        return error_set(err, EINVAL, "%s is not a %s", wanted->path,
                         wanted->type == S_IFDIR ? "directory" : "regular file");
    return 0;
}

/* The first line, as far as it can stand in a message. */
static int read_version(int root_fd, char ret_version[static PROTO_VERSION_SIZE], struct error *err)
{
    char text[PROTO_VERSION_SIZE];
    cleanup_close int fd =
        runtimes_open_inside(root_fd, VERSION_FILE, O_RDONLY | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return error_set_errno(err, -fd, VERSION_FILE);
    ssize_t n = fd_read_full(fd, text, sizeof(text) - 1);
    if (n < 0)
        return error_set_errno(err, (int)-n, VERSION_FILE);
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    for (const char *c = text; *c; c++) {
        if (*c < 0x20 || *c > 0x7e)
            return error_set(err, EINVAL, VERSION_FILE " is not one line of plain text");
    }
    if (text[0] == '\0')
        return error_set(err, EINVAL, VERSION_FILE " is empty");
    (void)snprintf(ret_version, PROTO_VERSION_SIZE, "%s", text);
    return 0;
}

int runtimes_load(int dir_fd, const char *name, struct runtime *ret_runtime, struct error *err)
{
    struct runtime runtime = {.mount_ns_fd = -1};
    if (strlen(name) >= sizeof(runtime.name) || !parse_is_dns_subdomain(name))
        return error_set(err, EINVAL,
                         "a runtime's name has up to %zu lower-case letters, digits, '-' and '.'",
                         sizeof(runtime.name) - 1);
    (void)snprintf(runtime.name, sizeof(runtime.name), "%s", name);
    cleanup_close int root_fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root_fd < 0)
        return error_set_errno(err, errno, "open the directory");
    for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
        int r = check_path(root_fd, &needed[i], err);
        if (r < 0)
            return r;
    }
    int r = read_version(root_fd, runtime.version, err);
    if (r < 0)
        return r;
    runtime.root_fd = TAKE_FD(root_fd);
    *ret_runtime = runtime;
    return 0;
}

bool runtimes_bears_mark(int dir_fd, const char *name)
{
    cleanup_close int root_fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    cleanup_close int mark_fd =
        root_fd < 0 ? -1 : runtimes_open_inside(root_fd, MARK_DIR, O_PATH | O_DIRECTORY);
    return mark_fd >= 0;
}

static void scan_entry(int dir_fd, const struct dirent *entry, struct runtimes *runtimes)
{
    if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
        return;
    if (runtimes->count == PROTO_MAX_RUNTIMES) {
        log_event(LOG_LEVEL_WARN, "runtime left out: there are too many",
                  LOG_TEXT("runtime", entry->d_name), LOG_NUMBER("max", PROTO_MAX_RUNTIMES));
        return;
    }
    struct error err;
    if (runtimes_load(dir_fd, entry->d_name, &runtimes->entries[runtimes->count], &err) < 0)
        log_event(runtimes_bears_mark(dir_fd, entry->d_name) ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
                  "runtime left out", LOG_TEXT("runtime", entry->d_name),
                  LOG_TEXT("error", err.text));
    else
        runtimes->count++;
}

int runtimes_scan(const char *path, struct runtimes *ret_runtimes, struct error *err)
{
    int fd = path_open_dir(path);
    if (fd < 0)
        return error_set_errno(err, -fd, "open the runtimes directory %s", path);
    DIR *dir = fdopendir(fd);
    if (!dir) {
        (void)fd_close(fd);
        return error_set_errno(err, errno, "read the runtimes directory %s", path);
    }
    ret_runtimes->count = 0;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        scan_entry(fd, entry, ret_runtimes);
    (void)closedir(dir);
    if (ret_runtimes->count == 0)
        return error_set(err, ENOENT,
                         "there is no usable runtime in %s: make one with hack/make-runtime.sh",
                         path);
    return 0;
}

void runtimes_done(struct runtimes *runtimes)
{
    for (size_t i = 0; i < runtimes->count; i++) {
        (void)fd_close(runtimes->entries[i].root_fd);
        (void)fd_close(runtimes->entries[i].mount_ns_fd);
    }
    runtimes->count = 0;
}

const struct runtime *runtimes_find(const struct runtimes *runtimes, const char *name)
{
    for (size_t i = 0; i < runtimes->count; i++) {
        if (strcmp(runtimes->entries[i].name, name) == 0)
            return &runtimes->entries[i];
    }
    return NULL;
}
