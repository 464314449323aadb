/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxrun.h"

/* Exit codes of our own, in the manner of timeout(1) and env(1); --help lists them. */
#define EXIT_CODE_USAGE    2
#define EXIT_CODE_DEADLINE 124
#define EXIT_CODE_REFUSED  125

/* What the command line exits with for a finished run: the program's own code where the program
 * ended itself (128 + n by signal n), 124 for the deadline, 137 for the memory limit, 125 for
 * every other end by the platform. */
int exit_code_of(const struct run_status *status);
