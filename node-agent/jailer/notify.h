/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/denials.h"
#include "node-agent/jailer/events.h"

struct seccomp_policy;

/* The program made a call that ends it. It waits for an answer that must not come. */
typedef void (*notify_forbidden_fn)(int32_t number, void *arg);

/*
 * The jailer's end of a program's filter (seccomp_unotify(2)). A refused call stands still in the
 * kernel until it is answered here: it is counted, and answered with the errno that its policy
 * states, never with leave to go on. What the call's arguments point to is not looked at. After
 * MAX_NOTICES the listener is closed, and the kernel answers ENOSYS to all further ones by itself,
 * as it does to those that wait when the jailer dies.
 */
struct notify {
    struct event_source source;
    struct events *events;
    const struct seccomp_policy *policy;
    struct denials denials;
    notify_forbidden_fn forbidden;
    void *arg;
};

/* At start: -EOVERFLOW if the kernel's messages are larger than there is room for here. */
int notify_check(struct error *err);

/* Takes fd over, on failure too. -EINVAL if it is no listener of a filter. */
int notify_open(struct notify *notify, struct events *events, int fd,
                const struct seccomp_policy *policy, notify_forbidden_fn forbidden, void *arg,
                struct error *err);

/* The counts stay. */
void notify_close(struct notify *notify);
