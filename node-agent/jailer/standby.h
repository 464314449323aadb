/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/options.h"
#include "node-agent/jailer/server.h"

/*
 * One jailer at a time works for a node's spool: the one that has the lock on SPOOL.lock, a file of
 * root's beside it. A jailer that finds it taken, as in a new Pod whose predecessor still lets its
 * runs end, touches nothing of the node and tells each agent that it waits. The kernel lets go of
 * the lock when its owner has ended, however that ended.
 *
 * 0 with *ret_lock, which the caller keeps open for as long as it works, or -1 in it if it was told
 * to stop meanwhile; -errno if the lock can't be had at all.
 */
int standby_wait(struct server *server, const struct options *options, int *ret_lock,
                 struct error *err);
