/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/cli/doctor_report.h"

/* Runs a small program in a sandbox of each runtime that the jailer at the other end of sock
 * offers, from its request to its result, and adds a check `trial.RUNTIME` for each. sock is taken
 * over. A failure of the jailer itself is a failed check too; -errno is for our own. */
int trial_run(int sock, struct doctor_report *report, struct error *err);

/* The name of the trial where no runtime is known. */
#define TRIAL_NAME "trial"
