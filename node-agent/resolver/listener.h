/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/resolver/upstreams.h"

/* A TCP socket that listens at the port (0: any) on all addresses of a family, close-on-exec and
 * nonblocking. -EAFNOSUPPORT where the machine doesn't have the family. */
int listener_open_tcp(int family, unsigned int port, struct error *err);

/* A UDP socket at an address, which need not be there yet. */
int listener_open_udp(const union socket_address *address, struct error *err);

/* The port that it has. */
int listener_port(int sock, unsigned int *ret_port, struct error *err);
