/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/landlock_abi.h"

#include <stdbool.h>

/* Below it there is no lock: ABI 1 (Linux before 5.19) forbids to move a file from one directory
 * to another, which programs do. Above the second nothing is used. */
#define LANDLOCK_MIN_ABI 2u
#define LANDLOCK_MAX_ABI 6u

/* Rights by what they are for. Writing makes no device nodes. */
#define LANDLOCK_READ (LANDLOCK_EXECUTE | LANDLOCK_READ_FILE | LANDLOCK_READ_DIR)
#define LANDLOCK_WRITE                                                                             \
    (LANDLOCK_WRITE_FILE | LANDLOCK_REMOVE_DIR | LANDLOCK_REMOVE_FILE | LANDLOCK_MAKE_DIR |        \
     LANDLOCK_MAKE_REG | LANDLOCK_MAKE_SOCK | LANDLOCK_MAKE_FIFO | LANDLOCK_MAKE_SYM |             \
     LANDLOCK_REFER | LANDLOCK_TRUNCATE)
#define LANDLOCK_ALL                                                                               \
    (LANDLOCK_READ | LANDLOCK_WRITE | LANDLOCK_MAKE_CHAR | LANDLOCK_MAKE_BLOCK | LANDLOCK_IOCTL_DEV)

/* What a program may do beyond reading and executing, by the kernel's ABI. */
struct landlock_plan {
    bool enabled;
    struct landlock_ruleset ruleset;
};

/* The ABI that is used here, LANDLOCK_MIN_ABI to LANDLOCK_MAX_ABI; 0 if this kernel has no
 * Landlock, or too old a one. -errno if it won't say. */
int landlock_look_up(unsigned int *ret_abi, struct error *err);

/* abi as found above. network: the program may use TCP. Pure. */
void landlock_plan(struct landlock_plan *ret_plan, unsigned int abi, bool network);

/*
 * In process 2, behind no_new_privs (landlock(7)): files are read and executed everywhere, and
 * written only in the private file systems and in those devices that keep nothing. From ABI 4 on
 * no TCP without network, from ABI 6 on no signal to and no abstract socket of a process outside:
 * process 1 stays outside, its filter leaves it no call that Landlock knows. Async-signal-safe.
 */
int landlock_enter(const struct landlock_plan *plan, struct error *err);
