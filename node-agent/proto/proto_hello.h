/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What a jailer says of itself. */
#define PROTO_MAX_RUNTIMES 16
#define PROTO_RUNTIME_SIZE 64
#define PROTO_VERSION_SIZE 40

/* PROTO_HELLO: what it can do. */
struct proto_hello {
    uint32_t version;
    uint32_t cgroup_version; /* 1 or 2; 0: neither can be used */
    uint32_t profiles;       /* bit 1 << enum profile; those that can run here now */
    uint32_t max_runs;
    uint64_t memory_bytes; /* for all runs together */
    uint64_t cpu_milli;
    uint32_t runtime_count;
    struct {
        char name[PROTO_RUNTIME_SIZE];
        char version[PROTO_VERSION_SIZE];
    } runtimes[PROTO_MAX_RUNTIMES];
    char kernel[72];
    uint32_t landlock_abi; /* of the kernel, as far as it is used; 0: Landlock is no lock here */
};

/* PROTO_NOTICE: how it fares. */
enum proto_notice_kind {
    /* Before its hello: another jailer has the node's spool, and the sandboxes of that come first.
     */
    PROTO_NOTICE_WAITING = 1,
    /* After it: what runs goes on, nothing more is made; the agent is to end its runs and leave. */
    PROTO_NOTICE_STOPPING = 2,
};

struct proto_notice {
    uint32_t kind;
};
