/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

/* Listens (TCP, close-on-exec, non-blocking) on "1.2.3.4:PORT", "[::1]:PORT" or ":PORT" (all
 * addresses of both families); names are not looked up. The descriptor, or -errno with err. */
int http_listen(const char *text, int backlog, struct error *err);

/* The port of a listening socket; 0 if it has none. */
unsigned int http_listen_port(int fd);
