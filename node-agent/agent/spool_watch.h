/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/loop.h"
#include "node-agent/agent/spool.h"

/*
 * Whether the spool can be written to: told when a write has failed, it tries again and again, and
 * says when the disk takes something.
 */
struct spool_watch;

/* It can't be written to any more, or can again: spool_failure(). */
typedef void (*spool_watch_fn)(void *arg);

int spool_watch_new(struct loop *loop, struct spool *spool, spool_watch_fn changed, void *arg,
                    struct spool_watch **ret_watch, struct error *err);
void spool_watch_free(struct spool_watch *watch);

/* To be called after writes. */
void spool_watch_look(struct spool_watch *watch);
