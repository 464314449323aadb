/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/run_status.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <stdint.h>

/* What the jailer knows as numbers, in the words of status.denied. No I/O. */

/* "io_uring_setup", or "system call 600" for a number that no call has. */
void denied_call_name(int32_t number, char ret_name[static MAX_DENIED_TARGET + 1]);

/* "203.0.113.5:22/TCP", "[2001:db8::1]:443/UDP", "10.0.0.1/ICMP". */
void denied_target(const struct proto_denied_network *denied,
                   char ret_target[static MAX_DENIED_TARGET + 1]);

/* Fills status.denied from what was refused: system calls, names, then addresses as far as there
 * is room. */
void denied_fill(const struct proto_finished *finished, struct run_status *status);

/* What the network refused, in a sentence for an Event; false if it refused nothing. */
bool denied_note(const struct run_status *status, char *ret_note, size_t size);

/* Whether more addresses or names were refused than status.denied can tell of. */
bool denied_network_is_cut(const struct proto_finished *finished);
