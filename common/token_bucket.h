/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A bound on how often something is done. Zeroed it is full. The caller's clock, in whatever unit,
 * monotonic. */
struct token_bucket {
    uint64_t at;   /* when it was last looked at */
    uint64_t debt; /* the time from then on until it has all of its tokens again */
};

/* Takes one of burst tokens, of which one comes back every space; false if there is none. */
bool token_bucket_take(struct token_bucket *bucket, uint64_t now, uint32_t burst, uint64_t space);
