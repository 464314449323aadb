/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/exit_code.h"

int exit_code_of(const struct run_status *status)
{
    /* -1 says that the platform ended the run, whatever the reason is called. */
    bool own = status->has_exit_code && status->exit_code >= 0 && status->exit_code <= 255;
    if (status->reason == RUN_REASON_DEADLINE_EXCEEDED)
        return EXIT_CODE_DEADLINE;
    if (!own || status->reason == RUN_REASON_NONE)
        return EXIT_CODE_REFUSED;
    if (status->exit_code == 0 && status->phase != RUN_PHASE_SUCCEEDED)
        return EXIT_CODE_REFUSED;
    return (int)status->exit_code;
}
