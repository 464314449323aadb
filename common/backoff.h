/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Exponential from base_ms, doubling with every failure in a row (1 for the first), at most
 * max_ms, of which `random` takes away up to a half. 0 failures: 0. Pure. */
uint64_t backoff_ms(unsigned int failures, uint64_t base_ms, uint64_t max_ms, uint32_t random);
