/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <assert.h>
#include <linux/limits.h>
#include <stdint.h>

/*
 * What a jail in the making says to the jailer, as fixed-size records over a socket and a pipe.
 * Only our own code ever holds these ends: nothing of it comes from the program that runs inside.
 *
 * Status socket: of a jail that is forked, one REPORT_BORN with the pidfd of process 1, which the
 * jailer has not cloned itself; of a jail that is to wait for its run, a REPORT_PLACE with a
 * descriptor for each of its private file systems; one REPORT_LISTENER with a descriptor (the
 * program's filter is on, and this is its listener), one REPORT_SEALED (process 1 stands behind all
 * its locks), or at most one REPORT_FAILED in place of what is missing; then its end, when process
 * 1 has closed it and the program has been executed. Exit pipe: one REPORT_EXITED with the main
 * process's wait status.
 *
 * Kinds have values that stray bytes don't.
 */
enum report_kind {
    REPORT_FAILED = 0x5b520001,
    REPORT_SEALED = 0x5b520002,
    REPORT_EXITED = 0x5b520003,
    REPORT_LISTENER = 0x5b520004,
    REPORT_PLACE = 0x5b520005,
    REPORT_BORN = 0x5b520006,
};

/* The locks in the order in which they are set. */
enum jail_lock {
    JAIL_LOCK_DESCRIPTORS,
    JAIL_LOCK_CGROUP,
    JAIL_LOCK_NAMESPACES,
    JAIL_LOCK_MOUNTS,
    JAIL_LOCK_RLIMITS,
    JAIL_LOCK_USER_NAMESPACE,
    JAIL_LOCK_CAPABILITIES,
    JAIL_LOCK_PARENT_DEATH,
    JAIL_LOCK_NO_NEW_PRIVS,
    JAIL_LOCK_LANDLOCK,
    JAIL_LOCK_SECCOMP,
    JAIL_LOCK_EXEC,
    JAIL_LOCK_COUNT,
};

struct report {
    uint32_t kind;
    uint32_t lock;       /* enum jail_lock, of REPORT_FAILED */
    int32_t wait_status; /* of REPORT_EXITED */
    uint32_t place;      /* enum mounts_tmpfs, of REPORT_PLACE */
    struct error error;  /* of REPORT_FAILED: what failed, without the errno's own text */
};

static_assert(sizeof(struct report) <= PIPE_BUF, "a pipe takes a record whole or not at all");

/* The name of a lock as PROTO_REFUSED bears it. */
const char *report_lock_name(uint32_t lock);
