/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/cgroup.h"
#include "node-agent/jailer/deadline.h"
#include "node-agent/jailer/events.h"
#include "node-agent/jailer/family.h"
#include "node-agent/jailer/jail_spec.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * The jailer's end of a zygote: an interpreter of one runtime that sandboxes are forked from
 * (node-agent/zygote/module.c).
 *
 *   DOWN --zygote_start()--> STARTING --FORK_READY--> READY --so many forks, or so long--> RETIRING
 *     ^                         |                       |                                     |
 *     `-- what has failed, is tried again after a while-'    (started anew at once) <---------'
 *
 * Its children share the secret of string hashes and the layout of memory: so it is replaced. One
 * that has died or refuses is a reason to do without, never to wait.
 */
enum zygote_state {
    ZYGOTE_NONE, /* this host, or who runs the jailer, wants none */
    ZYGOTE_DOWN,
    ZYGOTE_STARTING,
    ZYGOTE_READY,
    ZYGOTE_RETIRING,
};

struct jailer;
struct zygote_options;

struct zygote {
    struct jailer *jailer;
    const struct runtime *runtime;
    const struct zygote_options *options;
    unsigned int number; /* of the runtime, and in the name of its cgroup */
    void (*changed)(void *arg);
    void *arg;
    enum zygote_state state;
    struct family family;
    uid_t uid; /* 0: none is taken */
    bool has_cgroup;
    struct cgroup cgroup;
    pid_t pid;
    struct event_source pidfd; /* -1: there is no process */
    struct event_source socket;
    int output_fd;            /* what it says on its standard streams, which is nothing */
    struct deadline deadline; /* of its start, its age, or its next try */
    struct deadline strays;   /* see zygote_lost() */
    pid_t strays_group;
    uint32_t forks;    /* asked of this one */
    uint32_t pending;  /* those without an answer */
    uint32_t failures; /* in a row */
};

/* What all zygotes of a jailer have in common. */
struct zygote_options {
    const char *modules;
    uint32_t max_forks;
    gid_t gid;
    uint64_t memory_bytes; /* each may use */
};

/* Before anything else: no zygote. */
void zygote_init(struct zygote *zygote);

/* Makes the family of the number-th runtime; -errno where this host has none, and there is no
 * zygote for good then. changed is called when a zygote has become ready, or can't be waited for
 * any more. Only before the loop runs. */
int zygote_prepare(struct zygote *zygote, struct jailer *jailer, unsigned int number,
                   const struct zygote_options *options, void (*changed)(void *arg), void *arg,
                   struct error *err);

/* From here on it is started anew by itself whenever it ends. */
void zygote_start(struct zygote *zygote);

/* Makes nothing any more. */
void zygote_stop(struct zygote *zygote);

/* Can be asked now; or will be soon, so that waiting is better than doing without. */
bool zygote_is_ready(const struct zygote *zygote);
bool zygote_is_coming(const struct zygote *zygote);

/* Asks for a jail in the family's namespaces and in this cgroup, whose entrance clone_fd or spec
 * has; all descriptors stay the caller's. The answer comes on the status socket: when it has, the
 * caller says so by zygote_answered(). */
int zygote_ask(struct zygote *zygote, const struct cgroup *cgroup, const struct jail_spec *spec,
               int clone_fd, struct error *err);
void zygote_answered(struct zygote *zygote);

/* A jail's status socket has ended without a word, so that there may be a child of which nobody
 * will hear: it is reaped when it has died, which it does soon, for its other sockets end too. */
void zygote_lost(struct zygote *zygote);

/* It has not done what was asked: it is ended, and tried again after a while. */
void zygote_fail(struct zygote *zygote, const char *why);

/* A jail that was forked works. */
void zygote_succeeded(struct zygote *zygote);

/* Waits for its death after zygote_stop(), and frees what it had. */
void zygote_done(struct zygote *zygote);
