/* SPDX-License-Identifier: Apache-2.0 */

/* The runtimes: each is loaded as at start, and one is made a jail's root in a child process. */
#include "common/cleanup.h"
#include "common/parse.h"
#include "common/path.h"
#include "node-agent/jailer/check.h"
#include "node-agent/jailer/payload.h"
#include "node-agent/jailer/runtimes.h"
#include "node-agent/jailer/template.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

struct template_trial {
    int proc_fd;
    const struct runtime *runtime;
};

static int make_template(const void *arg, struct error *err)
{
    const struct template_trial *trial = arg;
    struct runtime runtime = *trial->runtime;
    return template_make(trial->proc_fd, &runtime, err);
}

/* A sandbox's uid owns nothing in it: the bits for others count. */
static int check_mode(const struct runtime *runtime, const char *path, mode_t wanted,
                      struct error *err)
{
    cleanup_close int fd = runtimes_open_inside(runtime->root_fd, path, O_PATH);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return error_set_errno(err, fd < 0 ? -fd : errno, "%s", path);
    if ((st.st_mode & wanted) != wanted)
        return error_set(err, EACCES, "%s has mode %04o: everybody must be able to %s it", path,
                         st.st_mode & 07777, wanted & S_IXOTH ? "execute" : "read");
    return 0;
}

static int check_files(const struct runtime *runtime, struct error *err)
{
    struct statvfs st;
    int r = check_mode(runtime, PAYLOAD_PROGRAM, S_IROTH | S_IXOTH, err);
    if (r >= 0)
        r = check_mode(runtime, PAYLOAD_RUNNER, S_IROTH, err);
    if (r >= 0 && fstatvfs(runtime->root_fd, &st) == 0 && (st.f_flag & ST_NOEXEC))
        r = error_set(err, EACCES, "it lies on a file system that is mounted noexec");
    return r;
}

/* The root of a jail, with its devices, on the first runtime that can have one. */
static void check_root(const struct check_subject *subject, const struct runtime *runtime)
{
    static const struct check_kind kind = {
        "mount.root", PROTO_REQUIRED,
        "look for what refuses mounts and devices: a capability that is missing, a profile of "
        "AppArmor or SELinux, a system call filter; in a Pod, appArmorProfile.type and "
        "seccompProfile.type: Unconfined of the jailer's container"};
    if (!runtime) {
        check_add_skipped(subject->checks, &kind, "runtimes");
        return;
    }
    const struct template_trial trial = {subject->proc_fd, runtime};
    char figure[PROTO_FIGURE_SIZE];
    (void)snprintf(figure, sizeof(figure), "%s as a read-only root, with its own /dev",
                   runtime->name);
    check_try(subject, &kind, make_template, &trial, figure);
}

/* 1 if it can be used, which is then the caller's to close. What isn't meant to be a runtime is
 * passed over, as at start. */
static unsigned int check_entry(const struct check_subject *subject, int dir_fd, const char *entry,
                                struct runtime *ret_runtime)
{
    char name[PROTO_CHECK_SIZE];
    struct runtime runtime = {.root_fd = -1, .mount_ns_fd = -1};
    struct error err = {0};
    const struct check_kind kind = {
        name, PROTO_RECOMMENDED,
        "make it anew with hack/make-runtime.sh, on a file system that is not mounted noexec"};
    int n = snprintf(name, sizeof(name), "runtime.%s", entry);
    if (n < 0 || n >= (int)sizeof(name) || !parse_is_dns_subdomain(name))
        (void)snprintf(name, sizeof(name), "runtime");
    int r = runtimes_load(dir_fd, entry, &runtime, &err);
    if (r < 0 && !runtimes_bears_mark(dir_fd, entry))
        return 0;
    if (r >= 0)
        r = check_files(&runtime, &err);
    if (r < 0) {
        (void)fd_close(runtime.root_fd);
        check_add(subject->checks, &kind, PROTO_OUTCOME_FAILED, "%s: %s", entry, err.text);
        return 0;
    }
    check_add(subject->checks, &kind, PROTO_OUTCOME_OK,
              "%s, everybody may execute " PAYLOAD_PROGRAM, runtime.version);
    *ret_runtime = runtime;
    return 1;
}

/* How many are usable; the first of them is the caller's to close. */
static unsigned int check_entries(const struct check_subject *subject, int dir_fd,
                                  struct runtime *ret_first)
{
    struct dirent **entries = NULL;
    unsigned int usable = 0;
    int count = scandirat(dir_fd, ".", &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        struct runtime runtime = {.root_fd = -1};
        if (entries[i]->d_name[0] != '.' && usable < PROTO_MAX_RUNTIMES &&
            check_entry(subject, dir_fd, entries[i]->d_name, &runtime) > 0 && usable++ == 0)
            *ret_first = runtime;
        else
            (void)fd_close(runtime.root_fd);
        free(entries[i]);
    }
    free(entries);
    return usable;
}

void checks_runtimes(struct check_subject *subject)
{
    static const struct check_kind kind = {
        "runtimes", PROTO_REQUIRED,
        "make one with hack/make-runtime.sh, or name another directory with --runtimes-dir"};
    const char *path = subject->options->runtimes_dir;
    struct runtime first = {.root_fd = -1, .mount_ns_fd = -1};
    unsigned int usable = 0;
    cleanup_close int fd = path_open_dir(path);
    if (fd < 0) {
        check_add(subject->checks, &kind, PROTO_OUTCOME_FAILED, "%s: %s", path, strerror(-fd));
    } else {
        usable = check_entries(subject, fd, &first);
        check_add(subject->checks, &kind, usable > 0 ? PROTO_OUTCOME_OK : PROTO_OUTCOME_FAILED,
                  "%u usable in %s", usable, path);
    }
    check_root(subject, usable > 0 ? &first : NULL);
    (void)fd_close(first.root_fd);
}
