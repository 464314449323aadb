/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/proto_check.h"
#include "node-agent/proto/proto_denied.h"
#include "node-agent/proto/proto_hello.h"
#include "node-agent/proto/proto_pool.h"

#include <stdint.h>

/*
 * The one codec that agent and jailer share: fixed-size little-endian messages over a
 * SOCK_SEQPACKET socket, one message a datagram. Requests of the agent are even, words of the
 * jailer odd. Descriptors travel only from jailer to agent, with PROTO_CREATED.
 *
 *   jailer                    agent
 *   PROTO_CHECK    ----------->    none or up to PROTO_MAX_CHECKS: what it found of the node
 *   PROTO_NOTICE   ----------->    if that comes later: once an earlier jailer has ended
 *   PROTO_HELLO    ----------->    once, at connect
 *   PROTO_POOL     ----------->    for each pool, after that and when it has changed
 *                  <-----------    PROTO_CREATE: a jail, sealed to its last lock
 *   PROTO_CREATED  ----------->    with the four descriptors; or PROTO_REFUSED, the last word
 *                                  the agent sets the timer, the fourth of them, to the deadline
 *                                  and PROTO_BACKSTOP_MS
 *                  <-----------    PROTO_START: arms the deadline; then the agent writes the
 *                                  request into its pipe and closes it
 *                  <-----------    PROTO_KILL: any time after PROTO_CREATE
 *   PROTO_FINISHED ----------->    the last word: processes, cgroup and files are gone
 *   PROTO_NOTICE   ----------->    once at most: it was told to stop, and waits for the agent to go
 *
 * The agent's timer only ever ends a sandbox early: the deadline of the jailer is another one.
 *
 * A jail that is created and not started within PROTO_START_WITHIN_MS ends as a deadline. One
 * that is killed, or whose jailer shuts down, before it is created ends with PROTO_FINISHED and
 * no PROTO_CREATED. PROTO_START with a timeout above the ceiling, or read after its instant
 * (ESTALE), ends the jail with PROTO_REFUSED. PROTO_START and PROTO_KILL of a sandbox that has just
 * ended are ignored; any other message out of turn ends the connection with all its sandboxes.
 *
 * A jailer that lacks what it requires says so by its checks, offers nothing, refuses every CREATE.
 */
#define PROTO_VERSION         8u
#define PROTO_MAX_MESSAGE     4096
#define PROTO_ID_SIZE         40 /* UUID text, NUL-padded */
#define PROTO_LOCK_SIZE       32
#define PROTO_TEXT_SIZE       512
#define PROTO_CREATED_FDS     4
#define PROTO_START_WITHIN_MS 10000u

/* So long after the deadline process 1 ends by itself, by the timer that both have: the jailer was
 * stopped, perhaps before it has read PROTO_START. Less than LEASE_END_MS. */
#define PROTO_BACKSTOP_MS 3000u

enum proto_type {
    PROTO_HELLO = 1,
    PROTO_CREATE = 2,
    PROTO_CREATED = 3,
    PROTO_START = 4,
    PROTO_REFUSED = 5,
    PROTO_KILL = 6,
    PROTO_FINISHED = 7,
    PROTO_CHECK = 9,
    PROTO_NOTICE = 11,
    PROTO_POOL = 13,
};

/* Order of the descriptors that come with PROTO_CREATED. */
enum proto_fd { PROTO_FD_REQUEST, PROTO_FD_STDOUT, PROTO_FD_STDERR, PROTO_FD_BACKSTOP };

/* Who ended the run: said by the jailer, which did it or saw it. */
enum proto_end {
    PROTO_END_EXITED = 1,    /* the main process ended by itself: wait_status */
    PROTO_END_DEADLINE = 2,  /* the jailer's timer */
    PROTO_END_OOM = 3,       /* the memory limit */
    PROTO_END_KILLED = 4,    /* PROTO_KILL */
    PROTO_END_REAPER = 5,    /* process 1 of the jail died without a report */
    PROTO_END_SHUTDOWN = 6,  /* the jailer is going away */
    PROTO_END_FORBIDDEN = 7, /* the program made a system call that ends it: forbidden_call */
};

struct proto_create {
    char id[PROTO_ID_SIZE];
    uint32_t profile; /* 0 Snippet, 1 ToolCall */
    char runtime[PROTO_RUNTIME_SIZE];
    uint32_t cpu_milli;
    uint64_t memory_bytes;
    struct proto_egress egress; /* of ToolCall alone */
};

struct proto_created {
    char id[PROTO_ID_SIZE];
    uint32_t warm; /* enum proto_warm */
};

/* Counted from the moment the jailer reads it. Once, after PROTO_CREATED. */
struct proto_start {
    char id[PROTO_ID_SIZE];
    uint32_t timeout_ms;
    uint64_t not_after_boottime_ns; /* CLOCK_BOOTTIME: read later it is refused; 0: whenever */
};

/* lock names the step that failed ("cgroup", "mounts", "seccomp", ...), "request" for a message
 * that the jailer does not grant (ceiling, unknown runtime, no room). */
struct proto_refused {
    char id[PROTO_ID_SIZE];
    uint32_t errnum;
    char lock[PROTO_LOCK_SIZE];
    char text[PROTO_TEXT_SIZE];
};

struct proto_kill {
    char id[PROTO_ID_SIZE];
};

struct proto_finished {
    char id[PROTO_ID_SIZE];
    uint32_t end;        /* enum proto_end */
    int32_t wait_status; /* of the main process, for WIFEXITED() and the like; 0 if unknown */
    uint32_t has_status; /* 1: wait_status is known */
    uint32_t oom_kills;
    uint64_t wall_us; /* since PROTO_START, or since PROTO_CREATE if never started */
    uint64_t cpu_us;
    uint64_t peak_memory_bytes; /* 0: the kernel doesn't tell */
    uint32_t timeout_ms;        /* the deadline that held */
    int32_t forbidden_call;     /* of PROTO_END_FORBIDDEN, else 0 */
    uint32_t denied_more;       /* 1: there were more refusals than denied has */
    uint32_t denied_count;      /* each call once, in the order of their first refusals */
    struct proto_denied denied[PROTO_MAX_DENIED];
    uint32_t denied_network_count; /* each target once, in the order of their first refusals */
    struct proto_denied_network denied_network[PROTO_MAX_DENIED_NETWORK];
    uint32_t denied_name_count; /* each name once */
    struct proto_denied_name denied_names[PROTO_MAX_DENIED_NAMES];
    uint32_t denied_network_more; /* 1: there were more targets or names than these */
};

struct proto_message {
    enum proto_type type;
    union {
        struct proto_hello hello;
        struct proto_create create;
        struct proto_created created;
        struct proto_start start;
        struct proto_refused refused;
        struct proto_kill kill;
        struct proto_finished finished;
        struct proto_check check;
        struct proto_notice notice;
        struct proto_pool pool;
    };
};
