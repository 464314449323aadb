/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* CLOCK_BOOTTIME and CLOCK_MONOTONIC in nanoseconds; CLOCK_REALTIME in microseconds since 1970. */
uint64_t clock_boottime_ns(void);
uint64_t clock_monotonic_ns(void);
int64_t clock_realtime_us(void);

/* Has a timerfd(2) of CLOCK_BOOTTIME expire at that time, in nanoseconds; 0: never. -errno. */
int clock_set_timer(int timer_fd, uint64_t boottime_ns);

#define CLOCK_TEXT_SIZE 32

/* Kubernetes MicroTime, "2026-11-29T22:17:14.123456Z" (RFC 3339, UTC). */
void clock_format_micro(int64_t unix_us, char ret_text[static CLOCK_TEXT_SIZE]);

/* RFC 3339 with any fraction and zone; -EINVAL otherwise. */
int clock_parse(const char *text, int64_t *ret_unix_us);
