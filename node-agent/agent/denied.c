/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/denied.h"

#include "seccomp/syscall_names.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

static_assert((unsigned int)PROTO_MAX_DENIED <= MAX_STATUS_DENIED,
              "a status has room for all that a jailer tells");

void denied_call_name(int32_t number, char ret_name[static MAX_DENIED_TARGET + 1])
{
    const char *name = NULL;
    if (number >= 0 && (size_t)number < syscall_names_count)
        name = syscall_names[number];
    if (name)
        (void)snprintf(ret_name, MAX_DENIED_TARGET + 1, "%s", name);
    else
        (void)snprintf(ret_name, MAX_DENIED_TARGET + 1, "system call %" PRId32, number);
}

void denied_fill(const struct proto_finished *finished, struct run_status *status)
{
    status->denied_count = 0;
    for (uint32_t i = 0; i < finished->denied_count && i < PROTO_MAX_DENIED; i++) {
        struct run_denied *denied = &status->denied[status->denied_count++];
        *denied =
            (struct run_denied){.kind = RUN_DENIED_SYSCALL, .count = finished->denied[i].count};
        denied_call_name(finished->denied[i].number, denied->target);
    }
}
