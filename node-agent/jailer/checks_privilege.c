/* SPDX-License-Identifier: Apache-2.0 */

/* Root, its capabilities, and the limits of this process that a jail depends on. */
#include "common/cleanup.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/cgroup.h"
#include "node-agent/jailer/check.h"
#include "node-agent/jailer/host.h"

#include <ctype.h>
#include <sys/resource.h>

static const struct check_kind root = {"root", PROTO_REQUIRED,
                                       "start it as root, with sudo; in a Pod with runAsUser: 0"};
static const struct check_kind open_files = {
    "limit.open-files", PROTO_REQUIRED,
    "raise the hard limit on open files (ulimit -H -n, LimitNOFILE=), or lower --max-runs"};
static const struct check_kind core_file = {
    "limit.core-file", PROTO_REQUIRED,
    "raise the hard limit on core files to 1 or more (ulimit -H -c, LimitCORE=), or give it "
    "CAP_SYS_RESOURCE"};

/* "capability.sys-admin" for CAP_SYS_ADMIN. */
static void name_capability(const struct capability *capability, char ret_name[static 64])
{
    int len = snprintf(ret_name, 64, "capability.%s", capability->name + sizeof("CAP_") - 1);
    for (int i = 0; i < len && i < 63; i++)
        ret_name[i] = ret_name[i] == '_' ? '-' : (char)tolower(ret_name[i]);
}

static void check_capability(struct check_subject *subject, const struct capability *capability)
{
    char name[64], advice[PROTO_ADVICE_SIZE];
    name_capability(capability, name);
    (void)snprintf(advice, sizeof(advice),
                   "give it %s; in a Pod, securityContext.capabilities.add of the jailer's "
                   "container: %s",
                   capability->name, capability->name + sizeof("CAP_") - 1);
    const struct check_kind kind = {name, capability->optional ? PROTO_RECOMMENDED : PROTO_REQUIRED,
                                    advice};
    bool held = caps_has(capability);
    if (held)
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "held");
    else
        check_add(subject->checks, &kind, PROTO_OUTCOME_FAILED, "missing; it is for: %s",
                  capability->use);
    if (!held && capability->number == CAP_SYS_ADMIN && !subject->obstacle)
        subject->obstacle = "capability.sys-admin";
}

static void check_open_files(const struct check_subject *subject)
{
    struct rlimit limit = {0};
    struct error err = {0};
    char figure[128];
    int r = host_raise_nofile(subject->options->max_runs, &err);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    (void)snprintf(figure, sizeof(figure), "%llu, %u runs need %llu",
                   (unsigned long long)limit.rlim_max, subject->options->max_runs,
                   (unsigned long long)host_nofile(subject->options->max_runs));
    check_add_result(subject->checks, &open_files, r, &err, figure);
}

static void check_core_file(const struct check_subject *subject)
{
    struct error err = {0};
    int r = host_check_core_limit(&err);
    check_add_result(subject->checks, &core_file, r, &err,
                     "can be 1, at which the kernel starts no core handler");
}

void checks_privilege(struct check_subject *subject)
{
    bool is_root = geteuid() == 0;
    check_add(subject->checks, &root, is_root ? PROTO_OUTCOME_OK : PROTO_OUTCOME_FAILED, "uid %u",
              geteuid());
    if (!is_root)
        subject->obstacle = root.name;
    bool at_root = !cgroup_parent_is_self(subject->options->cgroup_parent);
    const struct capability *capability = NULL;
    for (size_t i = 0; (capability = caps_needed(i, at_root)); i++)
        check_capability(subject, capability);
    check_open_files(subject);
    check_core_file(subject);
}
