/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/profile.h"
#include "common/error.h"

#include <stdint.h>

/* The numbers of spec that have bounds. Shared by the decoder, which meets values that the struct
 * can't hold, and by the validator. */
enum run_number {
    RUN_NUMBER_TIMEOUT,       /* seconds */
    RUN_NUMBER_CPU,           /* thousandths */
    RUN_NUMBER_MEMORY,        /* bytes */
    RUN_NUMBER_QUEUE_TIMEOUT, /* seconds */
    RUN_NUMBER_TTL,           /* seconds */
    RUN_NUMBER_COUNT
};

/* The field's path, "spec.timeoutSeconds". */
const char *run_number_field(enum run_number number);

/* 0 within the bounds of profile; -EINVAL with field, figure, limit and profile in the message. */
int run_number_check(enum run_number number, enum profile profile, int64_t value,
                     struct error *err);
