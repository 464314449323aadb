/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* When a failed request is worth another try, and how long to wait before it. Pure functions. */

/* The wait before the next try: back-off, or the server's Retry-After if that is longer (capped),
 * with jitter on top so that many clients don't come back in one moment. */
uint64_t retry_delay_ms(unsigned int failures, uint64_t retry_after_ms, uint32_t random);

/* True for what another try may mend: no answer at all (status 0), 429, and 5xx, except answers
 * that will be the same for ever (not implemented; etcd's and gRPC's "too large", which come as
 * a 500). message is the server's own, or "". */
bool retry_is_transient(int status, const char *message);

/* True if the server says that the request body is too large, in whichever of its ways. */
bool retry_is_too_large(int status, const char *message);
