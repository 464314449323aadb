/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/rlimits.h"

#include "common/cleanup.h"

#include <stdio.h>
#include <string.h>

/* The same for every run. Soft and hard, in the units of setrlimit(2). */
static const struct rlimits_setting fixed_settings[] = {
    {RLIMIT_CORE, "RLIMIT_CORE", {RLIMITS_CORE, RLIMITS_CORE}},
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
    struct rlimits_setting *setting = &plan->settings[plan->count++];
    *setting = (struct rlimits_setting){.resource = resource, .value = {value, value}};
    (void)snprintf(setting->name, sizeof(setting->name), "%s", name);
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
