/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/cgroup.h"
#include "node-agent/jailer/deadline.h"
#include "node-agent/jailer/end.h"
#include "node-agent/jailer/events.h"
#include "node-agent/jailer/jailer.h"
#include "node-agent/jailer/mounts.h"
#include "node-agent/jailer/notify.h"
#include "node-agent/jailer/report.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * The life of one jail, single use:
 *
 *   WAITING --has its network slot--> CREATING      (the first of one with a network)
 *
 *   CREATING --sealed and executed--> READY --PROTO_START--> RUNNING
 *       |  |                            | ^                     |
 *       |  `-> WARMING --hello--> WARM ---'                     |   (of one made ahead: WARM is
 * where |         |                |    |                       |   it waits for its PROTO_CREATE;
 *       |         |                |    |                       |   what is forked for a run is
 *       |         |                |    |                       |   READY at once)
 *       `---------+-- its end comes or is decided --------------'
 *                                       v
 *        process 1 reaped --> SWEEPING --cgroup gone--> GONE, last word sent
 *                                 `--> READING, until what it was refused is known --^
 *
 * An end can be decided (deadline, out of memory, a forbidden call, kill, shutdown, a lock that
 * could not be set) in any of these but the last three: process 1 is killed, and with it everything
 * inside. The last word is said only when nothing is left.
 */
enum sandbox_state {
    SANDBOX_WAITING,
    SANDBOX_CREATING,
    SANDBOX_WARMING,
    SANDBOX_WARM,
    SANDBOX_READY,
    SANDBOX_RUNNING,
    SANDBOX_SWEEPING,
    SANDBOX_READING,
    SANDBOX_GONE,
};

/* Where the words about a sandbox go. */
struct sandbox_listener {
    /* PROTO_CREATED with PROTO_CREATED_FDS descriptors (still the sandbox's), PROTO_REFUSED or
     * PROTO_FINISHED (no descriptors). */
    void (*say)(const struct proto_message *message, const int *fds, void *arg);
    void *arg;
};

struct sandbox {
    struct jailer *jailer;
    struct sandbox *next;
    struct sandbox_listener listener; /* say is NULL once the agent is gone */
    enum sandbox_state state;
    char id[PROTO_ID_SIZE];
    uint32_t profile;
    uint64_t memory_bytes;
    uint32_t cpu_milli;
    uid_t outer_id;
    struct network_lease *lease; /* NULL: it has no network */
    bool released;               /* the lease, and what it knows is known */
    struct proto_create *create; /* of one that waits for its slot, or is forked for its run */
    struct pool *pool;           /* that it was made ahead for, until a run takes it */
    bool warm;                   /* it was made ahead */
    struct sandbox *pool_next;   /* a younger one that waits too */
    struct cgroup cgroup;
    bool alive;            /* process 1 is there, and not reaped */
    struct zygote *zygote; /* that process 1 is to be born of, until it is */
    bool forked;           /* it was */
    bool again;            /* a run's: is made without a zygote, should that one fail */
    struct event_source pidfd;
    struct event_source status;
    struct event_source oom;
    struct event_source hello; /* of one made ahead: on its standard output, before a run's */
    struct event_source exit;  /* of exit_fd, where there is something to do before the death */
    struct notify notify;      /* the listener of the program's filter */
    const struct seccomp_policy *policy;
    int exit_fd;     /* read end of the exit pipe */
    int lifeline_fd; /* write end: closed by whatever ends the jailer */
    int backstop_fd; /* the timer at which process 1 ends without us */
    int agent_fds[PROTO_CREATED_FDS];
    int place_fds[MOUNTS_TMPFS_COUNT]; /* of one made ahead: its private file systems */
    struct deadline deadline;
    uint64_t created_ns, taken_ns, ready_ns, started_ns, ended_ns;
    uint64_t released_ns; /* all by clock_boottime_ns(); 0: not yet */
    uint64_t sweep_retry_ms;
    uint32_t timeout_ms;
    bool sealed;
    bool listened; /* the listener has come */
    bool sweep_warned;
    bool refused;
    struct proto_refused refusal;
    struct end_facts facts;
    int32_t forbidden_call; /* that ended it */
    struct cgroup_usage usage;
    uint64_t cpu_before_us; /* of one made ahead: what it took to start */
};

/* Starts to make a jail. On failure nothing is left, and ret_refusal is what the agent is to be
 * told. The message has been checked against the ceilings and the capacity. */
int sandbox_create(struct jailer *jailer, const struct proto_create *create,
                   const struct sandbox_listener *listener, struct sandbox **ret_sandbox,
                   struct proto_refused *ret_refusal);

/* Starts to make one for a run that isn't there yet, with all that the profile of create allows but
 * no more memory than it needs to wait; as a fork of zygote, or afresh where that is NULL. It tells
 * pool when it waits (pool_on_warm) and when it is gone (pool_on_gone). */
int sandbox_create_ahead(struct pool *pool, struct zygote *zygote,
                         const struct proto_create *create, struct error *err);

/* Makes one in SANDBOX_WARM the run's that create tells: its limits are in force when PROTO_CREATED
 * is said. On failure it ends, nothing is said, and the run needs another one. */
int sandbox_adopt(struct sandbox *sandbox, const struct proto_create *create,
                  const struct sandbox_listener *listener, struct error *err);

/* Arms the deadline, and the backstop behind it that process 1 keeps. In SANDBOX_READY only. */
void sandbox_start(struct sandbox *sandbox, uint32_t timeout_ms);

/* Ends it for that reason, unless its end has come or been decided already. */
void sandbox_end(struct sandbox *sandbox, enum proto_end end);

/* Ends it with PROTO_REFUSED as the last word. errnum and text as in proto_refused. */
void sandbox_refuse(struct sandbox *sandbox, const char *lock, const struct error *err);

/* The agent is gone: nobody is told any more. */
void sandbox_forget_listener(struct sandbox *sandbox);

/* Frees those that are SANDBOX_GONE; at the end of a turn of the loop. */
void sandbox_collect(struct jailer *jailer);

struct sandbox *sandbox_find(struct jailer *jailer, const char *id);
