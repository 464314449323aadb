/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stddef.h>

#define MAX_KEPT_DESCRIPTORS 24

/* Closes every descriptor from `lowest` upwards that is not among keep[0..count), of which negative
 * ones are passed over.
 * Async-signal-safe. */
int descriptors_keep(int lowest, const int *keep, size_t count, struct error *err);

/* Makes descriptor i of from[i], for all of them together, whatever their numbers are. The first
 * `inherited` stay open at execve(), the rest do not. Async-signal-safe. */
int descriptors_place(const int *from, size_t count, size_t inherited, struct error *err);

/* In the child, last before its filter: descriptors 0 (/dev/null), 1, 2 and
 * PAYLOAD_REQUEST_FD become what they are to be, *status_fd moves behind them and stays
 * close-on-exec, all others are closed. Async-signal-safe. */
int descriptors_arrange(int request_fd, int stdout_fd, int stderr_fd, int *status_fd,
                        struct error *err);
