/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* PROTO_CHECK: what a jailer has found of one precondition of its node. */
#define PROTO_MAX_CHECKS  96
#define PROTO_CHECK_SIZE  80
#define PROTO_FIGURE_SIZE 256
#define PROTO_ADVICE_SIZE 512

/* What a check is about, from what no run can do without to what is only good to know. */
enum proto_level { PROTO_REQUIRED = 1, PROTO_RECOMMENDED = 2, PROTO_INFORMATION = 3 };

enum proto_outcome {
    PROTO_OUTCOME_OK = 1,
    PROTO_OUTCOME_FAILED = 2,
    PROTO_OUTCOME_SKIPPED = 3, /* can't be told while another check fails; figure says which */
};

/* One precondition of the node. */
struct proto_check {
    uint32_t level;                 /* enum proto_level */
    uint32_t outcome;               /* enum proto_outcome */
    char name[PROTO_CHECK_SIZE];    /* "cgroup.memory" */
    char figure[PROTO_FIGURE_SIZE]; /* what was found */
    char advice[PROTO_ADVICE_SIZE]; /* what to do; empty if there is nothing to do */
};
