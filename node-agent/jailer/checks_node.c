/* SPDX-License-Identifier: Apache-2.0 */

/* What else of the host a jailer depends on: uids, the spool; and what is good to know of it. */
#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/jailer/check.h"
#include "node-agent/jailer/idmap.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/listen.h"

#include <fcntl.h>
#include <libgen.h>
#include <string.h>

static void check_uids(const struct check_subject *subject)
{
    static const struct check_kind range = {
        "uids.range", PROTO_REQUIRED,
        "choose --uid-base and --uid-count so that all of these ids exist in the jailer's user "
        "namespace (/proc/self/uid_map) and nobody else has them (/etc/subuid, /etc/subgid)"};
    static const struct check_kind number = {"uids.number", PROTO_REQUIRED,
                                             "give a larger --uid-count, or a smaller --max-runs"};
    const struct options *options = subject->options;
    struct idmap idmap;
    struct error err = {0};
    char figure[128];
    int r = idmap_check_host(subject->proc_fd, options->uid_base, options->uid_count, &err);
    (void)snprintf(figure, sizeof(figure), "%u to %u exist and are free", options->uid_base,
                   options->uid_base + options->uid_count - 1);
    check_add_result(subject->checks, &range, r, &err, figure);
    r = idmap_init(&idmap, options->uid_base, options->uid_count, 0, MAX_UID_PARTS,
                   options->max_runs, &err);
    (void)snprintf(figure, sizeof(figure), "%u for each jailer, for %u runs",
                   options->uid_count / MAX_UID_PARTS, options->max_runs);
    check_add_result(subject->checks, &number, r, &err, figure);
}

/* The start makes it where it isn't there. */
static int find_spool(const struct options *options, struct error *err)
{
    char path[4096];
    if (access(options->spool_dir, F_OK) == 0)
        return listen_make_spool(options->spool_dir, options->peer_uid, err);
    (void)snprintf(path, sizeof(path), "%s", options->spool_dir);
    const char *directory = dirname(path);
    return access(directory, W_OK) < 0
               ? error_set_errno(err, errno, "make %s in %s", options->spool_dir, directory)
               : 0;
}

static void check_spool(const struct check_subject *subject)
{
    static const struct check_kind kind = {
        "spool", PROTO_REQUIRED,
        "make the directory that it lies in, writable for root (in a Pod, mount a hostPath there)"};
    struct error err = {0};
    if (subject->options->spool_dir)
        check_add_result(subject->checks, &kind, find_spool(subject->options, &err), &err,
                         subject->options->spool_dir);
}

static bool read_text(const struct check_subject *subject, const char *name, char *ret_text,
                      size_t size)
{
    return fd_read_attr(subject->proc_fd, name, ret_text, size) >= 0;
}

static void check_core_pattern(const struct check_subject *subject)
{
    static const struct check_kind kind = {"core-pattern", PROTO_INFORMATION, ""};
    char text[160];
    if (!read_text(subject, "sys/kernel/core_pattern", text, sizeof(text)))
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "not told");
    else if (text[0] == '|')
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK,
                  "piped to %.100s; a run's limit on core files, 1, keeps it from being started",
                  text + 1);
    else
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "no pipe: \"%.100s\"", text);
}

static bool is_confined(const char *label)
{
    return strncmp(label, "unconfined", sizeof("unconfined") - 1) != 0;
}

static void check_apparmor(const struct check_subject *subject)
{
    static const struct check_kind kind = {
        "apparmor", PROTO_RECOMMENDED,
        "start the jailer unconfined (in a Pod, appArmorProfile.type: Unconfined of its "
        "container): a profile for containers refuses mounts whatever the capabilities are"};
    char enabled[8] = "", label[160] = "", restricted[8] = "";
    (void)fd_read_attr(AT_FDCWD, "/sys/module/apparmor/parameters/enabled", enabled,
                       sizeof(enabled));
    if (strcmp(enabled, "Y") != 0) {
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "not enabled");
        return;
    }
    if (!read_text(subject, "self/attr/apparmor/current", label, sizeof(label)))
        (void)read_text(subject, "self/attr/current", label, sizeof(label));
    (void)read_text(subject, "sys/kernel/apparmor_restrict_unprivileged_userns", restricted,
                    sizeof(restricted));
    check_add(subject->checks, &kind, is_confined(label) ? PROTO_OUTCOME_FAILED : PROTO_OUTCOME_OK,
              "%s%s", label,
              strcmp(restricted, "1") == 0
                  ? "; user namespaces of the unprivileged are restricted, which a jail's are not"
                  : "");
}

static void check_selinux(const struct check_subject *subject)
{
    static const struct check_kind kind = {"selinux", PROTO_INFORMATION, ""};
    char enforce[8] = "", label[160] = "";
    if (fd_read_attr(AT_FDCWD, "/sys/fs/selinux/enforce", enforce, sizeof(enforce)) < 0) {
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "not enabled");
        return;
    }
    (void)read_text(subject, "self/attr/current", label, sizeof(label));
    check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "%s, the jailer is %s",
              strcmp(enforce, "1") == 0 ? "enforcing" : "permissive", label);
}

void checks_node(struct check_subject *subject)
{
    check_uids(subject);
    check_spool(subject);
    check_core_pattern(subject);
    check_apparmor(subject);
    check_selinux(subject);
}
