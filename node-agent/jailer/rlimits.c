/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/rlimits.h"

#include "common/cleanup.h"

#include <string.h>

/* The one value at which the kernel refuses to start a piped core handler, which would run as
 * root on the host (fs/coredump.c); no file is that small. With 0 the handler runs all the same. */
#define CORE_LIMIT 1

/* The same for every run. Soft and hard, in the units of setrlimit(2). */
static const struct rlimits_setting fixed_settings[] = {
    {RLIMIT_CORE, "RLIMIT_CORE", {CORE_LIMIT, CORE_LIMIT}},
    {RLIMIT_NOFILE, "RLIMIT_NOFILE", {1024, 4096}},
    {RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", {64 << 10, 64 << 10}},
    /* Without a hard limit a program could choose the old memory layout and its arguments could
     * fill the memory before the limit on it counts. */
    {RLIMIT_STACK, "RLIMIT_STACK", {8 << 20, 64 << 20}},
    {RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE", {0, 0}},
    {RLIMIT_SIGPENDING, "RLIMIT_SIGPENDING", {1024, 1024}},
    {RLIMIT_NICE, "RLIMIT_NICE", {0, 0}},
    {RLIMIT_RTPRIO, "RLIMIT_RTPRIO", {0, 0}},
};

static void plan_add(struct rlimits_plan *plan, int resource, const char *name, rlim_t value)
{
    plan->settings[plan->count++] = (struct rlimits_setting){resource, name, {value, value}};
}

void rlimits_plan(struct rlimits_plan *ret_plan, uint64_t memory_bytes, uint32_t pids)
{
    *ret_plan = (struct rlimits_plan){.count = ARRAY_SIZE(fixed_settings)};
    memcpy(ret_plan->settings, fixed_settings, sizeof(fixed_settings));
    plan_add(ret_plan, RLIMIT_NPROC, "RLIMIT_NPROC", pids);
    plan_add(ret_plan, RLIMIT_FSIZE, "RLIMIT_FSIZE", memory_bytes);
}

int rlimits_enter(const struct rlimits_plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct rlimits_setting *setting = &plan->settings[i];
        struct rlimit now, wanted = setting->value;
        if (prlimit(0, (__rlimit_resource_t)setting->resource, NULL, &now) < 0)
            return error_set(err, errno, "read %s", setting->name);
        if (wanted.rlim_max > now.rlim_max && setting->resource != RLIMIT_CORE)
            wanted.rlim_max = now.rlim_max;
        if (wanted.rlim_cur > wanted.rlim_max)
            wanted.rlim_cur = wanted.rlim_max;
        if (prlimit(0, (__rlimit_resource_t)setting->resource, &wanted, NULL) < 0)
            return error_set(err, errno, "set %s", setting->name);
    }
    return 0;
}

int rlimits_check(struct error *err)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_CORE, &now) < 0)
        return error_set_errno(err, errno, "read RLIMIT_CORE");
    if (now.rlim_max >= CORE_LIMIT)
        return 0;
    struct rlimit wanted = {.rlim_cur = now.rlim_cur, .rlim_max = CORE_LIMIT};
    if (setrlimit(RLIMIT_CORE, &wanted) < 0)
        return error_set(err, errno,
                         "the hard limit on core files is 0 and can't be raised to 1, which keeps "
                         "the kernel from starting a core handler: start the jailer with a higher "
                         "limit (ulimit -H -c) or with CAP_SYS_RESOURCE");
    return 0;
}
