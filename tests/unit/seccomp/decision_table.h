/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "seccomp/arch.h"

#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#define ALLOW    SECCOMP_RET_ALLOW
#define KILL     SECCOMP_RET_KILL_PROCESS
#define ERRNO(e) (SECCOMP_RET_ERRNO | (e))
#define HIGH     (UINT64_C(1) << 32)

enum profile { SNIPPET, TOOL_CALL, REAPER, N_PROFILES };

/* What the three must answer, in this order. */
struct decision {
    const char *name;
    uint64_t args[6];
    uint32_t expected[N_PROFILES];
};

/* On every architecture. */
extern const struct decision decisions[];
extern const size_t n_decisions;

/* On each by its own numbers for the flags of open(). */
#define N_FLAG_DECISIONS 12
extern const struct decision flag_decisions[ARCH_COUNT][N_FLAG_DECISIONS];
