/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/node_loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/cleanup.h"

#define S 1000000ll

static const struct lease_times times = {.duration_ms = 40000, .renew_ms = 10000};

/* Times in seconds, of a clock that was at 1000 when the Lease last changed. */
struct loss_case {
    int64_t now, asked, since, orphaned;
    bool has_agent;
    uint32_t timeout;
    enum loss_verdict verdict;
    int64_t again; /* 0: never */
};

static const struct loss_case cases[] = {
    /* Alive: looked at again when it would be overdue, or lost if that is earlier. */
    {1000, 0, 1000, 0, true, 20, LOSS_NONE, 1040},
    {1005, 0, 1000, 0, true, 60, LOSS_NONE, 1080},
    {1001, 0, 960, 0, true, 20, LOSS_NONE, 1010},
    /* Overdue on a node that is alive. */
    {1009, 0, 960, 0, true, 20, LOSS_NONE, 1010},
    {1010, 0, 960, 0, true, 20, LOSS_OVERDUE, 0},
    {1039, 0, 959, 0, true, 20, LOSS_OVERDUE, 0},
    /* Not so on one that is silent: the Lease decides. */
    {1040, 0, 900, 0, true, 60, LOSS_NONE, 1080},
    {1079, 0, 900, 0, true, 60, LOSS_NONE, 1080},
    /* 40 s for short runs, 20 s more than the timeout for others. */
    {1039, 0, 1039, 0, true, 1, LOSS_NONE, 1040},
    {1040, 0, 1039, 0, true, 1, LOSS_ASK, 1041},
    {1040, 1039, 1039, 0, true, 1, LOSS_ASK, 1041},
    {1040, 1040, 1039, 0, true, 1, LOSS_NODE_LOST, 0},
    {1040, 1040, 1039, 0, true, 20, LOSS_NODE_LOST, 0},
    {1040, 1040, 1039, 0, true, 21, LOSS_NONE, 1041},
    {1139, 1139, 1139, 0, true, 120, LOSS_NONE, 1140},
    {1140, 1139, 1139, 0, true, 120, LOSS_ASK, 1141},
    {1140, 1140, 1139, 0, true, 120, LOSS_NODE_LOST, 0},
    /* Asked before the bound of this run, for another one's. */
    {1080, 1040, 1000, 0, true, 60, LOSS_ASK, 1081},
    /* Of another agent, or none. */
    {1010, 0, 900, 1000, true, 20, LOSS_NONE, 1040},
    {1039, 0, 900, 999, true, 20, LOSS_AGENT_RESTARTED, 0},
    {1039, 0, 900, 999, false, 20, LOSS_NO_AGENT, 0},
    {1010, 0, 900, 1000, true, 60, LOSS_NONE, 1080},
    {1045, 0, 900, 900, true, 60, LOSS_NONE, 1080},
    {1080, 1080, 900, 900, false, 60, LOSS_NODE_LOST, 0},
};

static void test_decide(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct loss_case *c = &cases[i];
        const struct loss_facts facts = {
            .now_us = c->now * S,
            .seen_us = 1000 * S,
            .asked_us = c->asked * S,
            .since_us = c->since * S,
            .orphaned_us = c->orphaned * S,
            .has_agent = c->has_agent,
            .timeout_seconds = c->timeout,
        };
        int64_t again_us = 0;
        enum loss_verdict verdict = loss_decide(&facts, &times, &again_us);
        if (verdict != c->verdict || again_us != (c->again ? c->again * S : INT64_MAX))
            fail_msg("case %zu: %d, again at %lld", i, (int)verdict, (long long)again_us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
