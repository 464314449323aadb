/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/options.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The preconditions of the node, each with what was found and what to do. What only a trial can
 * tell is tried, in a child process or in a cgroup of its own, and nothing of it is left. Takes
 * tens of milliseconds: for `--check` and for a start that may wait, never for one of a single
 * run.
 */
struct checks {
    size_t count;
    struct proto_check results[PROTO_MAX_CHECKS];
};

/* proc_fd is /proc. Before anything else opens the cgroups. */
void checks_run(int proc_fd, const struct options *options, struct checks *ret_checks);

/* No required check failed, or could not be made. */
bool checks_are_met(const struct checks *checks);

/* -ENOTSUP, and in err the first required one that failed, with what to do; 0 if all are met. */
int checks_require(const struct checks *checks, struct error *err);

/* Names of the required ones that failed, separated by ", " and cut at size; "" if none. */
void checks_name_failed(const struct checks *checks, char *ret_text, size_t size);

/* A required check that failed because the start itself did; for what no other check foresaw. */
void checks_add_start(struct checks *checks, const struct error *cause);

/* Logs each that failed, as an error if it is required, as a warning if it is recommended. */
void checks_log(const struct checks *checks);

/* Sends them all, and waits where the peer is slow. */
int checks_send(const struct checks *checks, int sock, struct error *err);
