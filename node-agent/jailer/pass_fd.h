/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Sends record, of len bytes, with one descriptor over a Unix socket of packets (unix(7)); a full
 * buffer is waited for. 0 or -errno. Async-signal-safe. */
int pass_fd_send(int sock, const void *record, size_t len, int fd);

/* Receives one packet without waiting. Its length, 0 at the end, -errno; longer ones are cut. At
 * most one descriptor is ever installed: *ret_fd, the caller's, -1 if none came or on failure. */
int pass_fd_receive(int sock, void *record, size_t size, int *ret_fd);
