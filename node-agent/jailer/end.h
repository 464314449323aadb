/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known about a jail once it is gone. */
struct end_facts {
    /* The jailer ended it for this reason, before a report had come; 0: it didn't. */
    enum proto_end decided;
    bool has_status; /* process 1 reported the main process's wait status */
    int32_t wait_status;
    uint32_t oom_kills;
    bool overdue; /* it had been started, and ended after its deadline */
};

/* Who ended the run: whoever was first. Pure. */
enum proto_end end_decide(const struct end_facts *facts);
