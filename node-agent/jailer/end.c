/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/end.h"

enum proto_end end_decide(const struct end_facts *facts)
{
    if (facts->decided != 0)
        return facts->decided;
    /* The kernel's kill may be over before anyone hears of it, and what it hit may have been
     * another process than the main one: a run of which a part is missing has not just exited. */
    if (facts->oom_kills > 0)
        return PROTO_END_OOM;
    if (facts->has_status)
        return PROTO_END_EXITED;
    /* Process 1 has kept the deadline while the jailer could not. */
    return facts->overdue ? PROTO_END_DEADLINE : PROTO_END_REAPER;
}
