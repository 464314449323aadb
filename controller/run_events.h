/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/kube/event.h"
#include "controller/plan.h"

/*
 * What a run's namespace is told by an Event: that it waits, and that the platform could not run
 * it; not how its program ended, nor what its own object was refused for. Pure.
 */

/* Fills type, reason and action of what an accepted write is told by; false if by nothing. */
bool run_event_of(enum action_kind kind, enum run_reason reason, enum wait_reason waits_for,
                  struct event *event);
