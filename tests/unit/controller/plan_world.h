/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "controller/plan.h"

/* What a controller knows (objects.h), and the plans that tests have made of it. */
struct world {
    struct nodes nodes;
    struct runs runs;
    struct plan plan; /* the last one */
    struct plan_input input;
    char text[4096]; /* of the test's: the plan in words */
};

/* cmocka fixtures: a world without nodes and runs, a second after CREATED_US, without limits. */
int setup(void **state);
int teardown(void **state);

/* Takes over a run, seen now (put_run()). */
struct run_digest *put(struct world *world, const char *name_space, const char *name,
                       const char *version, const char *spec, const char *status);

/* Both clocks go on; where beats is given, its agent has just been heard of. */
void pass(struct world *world, int64_t seconds, struct node *beats);

/* Every write of the last plan ends so; the watch has not told yet. */
void end_writes(struct world *world, enum write_result result);
