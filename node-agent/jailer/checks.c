/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/checks.h"

#include "common/cleanup.h"
#include "node-agent/jailer/check.h"

static void (*const concerns[])(struct check_subject *subject) = {
    checks_privilege, checks_kernel,   checks_namespaces, checks_network,
    checks_cgroup,    checks_runtimes, checks_node,
};

void checks_run(int proc_fd, const struct options *options, struct checks *ret_checks)
{
    struct check_subject subject = {.proc_fd = proc_fd, .options = options, .checks = ret_checks};
    ret_checks->count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(concerns); i++)
        concerns[i](&subject);
}
