/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/run_status.h"

#include <stdbool.h>

/* What follows from the API server's answer to a status update, decided from facts alone. */

enum status_write {
    STATUS_WRITE_RUNNING,   /* Scheduled -> Running */
    STATUS_WRITE_RESULT,    /* -> Succeeded or Failed */
    STATUS_WRITE_GIVE_BACK, /* Scheduled -> Pending */
    STATUS_WRITE_COUNT
};

/* How much of a result is written: each is less than the one before. */
enum status_amount {
    STATUS_WHOLE,
    STATUS_SMALL, /* streams of 4 KiB */
    STATUS_NO_STREAMS,
    STATUS_BARE, /* phase, reason, exit code and a message of our own */
};

enum status_step {
    STATUS_STEP_WRITTEN,
    STATUS_STEP_GONE,     /* deleted, or another object by now */
    STATUS_STEP_TOO_LATE, /* somebody else has ended it, or given it to another */
    STATUS_STEP_READ,     /* read the object and decide again */
    STATUS_STEP_PATCH,    /* with what was read */
    STATUS_STEP_SHRINK,   /* write less */
    STATUS_STEP_RETRY,    /* later */
    STATUS_STEP_COUNT
};

/* status is the HTTP status (0: no answer), message the server's. read_first: this attempt was
 * made with a version that was just read. */
enum status_step status_after_patch(enum status_write write, int status, const char *message,
                                    enum status_amount amount, bool read_first);

/* What the object says now. */
struct status_view {
    int http_status;
    bool readable; /* the fields below are known */
    bool same_uid;
    bool same_sandbox;
    enum run_phase phase;
};
enum status_step status_after_read(enum status_write write, const struct status_view *view);
