/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#define MAX_PASSED_FDS 16

/* Sends record, of len bytes, with one descriptor over a Unix socket of packets (unix(7)); a full
 * buffer is waited for. 0 or -errno. Async-signal-safe. */
int pass_fd_send(int sock, const void *record, size_t len, int fd);

/* Receives one packet without waiting. Its length, 0 at the end, -errno; longer ones are cut. At
 * most one descriptor is ever installed: *ret_fd, the caller's, -1 if none came or on failure. */
int pass_fd_receive(int sock, void *record, size_t size, int *ret_fd);

/* The same with one to MAX_PASSED_FDS descriptors, and with flags as sendmsg(2) and recvmsg(2) have
 * them. At most max descriptors are ever installed. */
int pass_fds_send(int sock, const void *record, size_t len, const int *fds, size_t count,
                  int flags);
int pass_fds_receive(int sock, void *record, size_t size, int *ret_fds, size_t max,
                     size_t *ret_count, int flags);
