/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/loop.h"

/*
 * Runs a libmicrohttpd daemon that has no thread of its own (MHD_USE_EPOLL) on the loop: through
 * its epoll descriptor and its next time-out.
 */
struct MHD_Daemon;
struct http_driver;

/* 0 or -errno. The daemon stays the caller's and outlives the driver. */
int http_driver_new(struct loop *loop, struct MHD_Daemon *daemon, struct http_driver **ret_driver);
void http_driver_free(struct http_driver *driver);

/* Has the daemon run in the next turn of the loop: it is not woken by MHD_resume_connection(), and
 * must not be run from within its own callbacks. */
void http_driver_wake(struct http_driver *driver);
