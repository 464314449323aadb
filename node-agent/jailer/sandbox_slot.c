/* SPDX-License-Identifier: Apache-2.0 */

/* A sandbox with a network waits for its slot before anything of it is made (network.h). */
#include "common/cleanup.h"
#include "common/clock.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/sandbox_internal.h"

#include <stdlib.h>

#define NS_PER_MS UINT64_C(1000000)

static void on_released(void *arg)
{
    struct sandbox *sandbox = arg;
    sandbox->released = true;
    sandbox->released_ns = clock_boottime_ns();
    if (sandbox->state == SANDBOX_READING)
        sandbox_conclude(sandbox);
}

static void on_slot_late(void *arg)
{
    struct sandbox *sandbox = arg;
    struct error err;
    (void)error_set(&err, ETIMEDOUT, "no network slot was free within %u ms%s", SLOT_WITHIN_MS,
                    sandbox->jailer->network.resolver.ready ? "" : ": the resolver is not running");
    sandbox_refuse(sandbox, SANDBOX_LOCK_NETWORK, &err);
}

/* Its rules are in force: now it can be made. */
static void on_taken(const struct error *cause, void *arg)
{
    struct sandbox *sandbox = arg;
    const char *lock = SANDBOX_LOCK_NETWORK;
    struct error err;
    if (sandbox->state != SANDBOX_WAITING)
        return;
    if (cause) {
        sandbox_refuse(sandbox, lock, cause);
        return;
    }
    sandbox->taken_ns = clock_boottime_ns();
    if (sandbox_make(sandbox, sandbox->create, &lock, &err) < 0)
        sandbox_refuse(sandbox, lock, &err);
    else
        sandbox->state = SANDBOX_CREATING;
}

int sandbox_wait_for_slot(struct sandbox *sandbox, const struct proto_create *create,
                          struct error *err)
{
    struct jailer *jailer = sandbox->jailer;
    sandbox->create = malloc(sizeof(*create));
    if (!sandbox->create)
        return error_set_errno(err, ENOMEM, "make a sandbox");
    *sandbox->create = *create;
    sandbox->state = SANDBOX_WAITING;
    int r = network_take(&jailer->network, create, on_taken, on_released, sandbox, &sandbox->lease,
                         err);
    if (r < 0) {
        free(sandbox->create);
        return r;
    }
    deadline_arm(&jailer->deadlines, &sandbox->deadline,
                 sandbox->created_ns + SLOT_WITHIN_MS * NS_PER_MS, on_slot_late, sandbox);
    return 0;
}
