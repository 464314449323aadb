/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/kube/reflector.h"
#include "common/loop.h"
#include "controller/controller.h"
#include "tests/unit/kube/fake_client.h"

#include <stdbool.h>
#include <stdint.h>

/* The controller with a client and watches made here: what it sends is kept (fake_client.h), and
 * what it hears is said by the tests. */

/* Of the leases; as short as the tests want it; the options don't allow it. */
#define RENEW_MS    500
#define DURATION_MS 3000

/* For so long the node of watch_short_run() is silent when the run is given up: 750 ms of starts,
 * 5 s for their end, 1 s of timeout. */
#define LOST_MS 6750

struct reflector {
    struct reflector_handlers handlers;
    void *arg;
    bool healthy;
};

enum { RUNS, AGENTS, NODES, LEASES, COLLECTIONS };

extern struct reflector reflectors[COLLECTIONS];

struct world {
    struct kube_client client;
    struct controller *controller;
    struct loop_timer *stop_timer;
};

/* cmocka fixtures: the world with a controller that is alone, or that is to be elected. */
int setup(void **state);
int setup_election(void **state);
int teardown(void **state);

/* What tests add to the time that has really passed; and how far the wall clock here, but not that
 * of the API server, is ahead. */
extern uint64_t skipped_ns;
extern int64_t wall_ahead_us;

/* Runs the loop for so long, or until what is due has been done. */
void run_loop(struct world *world, uint64_t for_ms);
void turn(struct world *world);
/* Longer than the first pause after a write that failed. */
void outwait_backoff(struct world *world);
/* Lets time pass in steps that are none too long, with a plan at each. */
void pass(struct world *world, unsigned int ms);

/* What watches tell; object is freed. */
void upsert(unsigned int collection, cJSON *object);
void sync_all(void);
void watch_run(const char *name, const char *version, const char *spec, const char *status);
/* Version 7 of r, which is running on n for a second at most. */
void watch_short_run(void);
void watch_agent(const char *instance, unsigned int runs);

/* The call that was sent last. */
struct kube_call *last_call(struct world *world);

/* For controller_end(): sets the bool that arg is. */
void ended(void *arg);
