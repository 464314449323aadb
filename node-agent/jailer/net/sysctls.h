/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What the jailer's network namespace needs set, and what it was before. /proc/sys of a container
 * is read-only, so the files are those of a procfs of our own that is attached nowhere.
 */
#define SYSCTLS_MAX        7
#define SYSCTLS_VALUE_SIZE 256

/* Upper bound of what sysctls_print() prints. */
#define SYSCTLS_MAX_TEXT (SYSCTLS_MAX * (SYSCTLS_VALUE_SIZE + 64u))

struct sysctls {
    int proc_fd; /* -1: not open */
    bool ipv6;   /* IPv6 is forwarded */
    struct {
        bool known; /* to be put back */
        char value[SYSCTLS_VALUE_SIZE];
    } before[SYSCTLS_MAX]; /* in the order in which they are set */
};

#define SYSCTLS_INIT ((struct sysctls){.proc_fd = -1})

/* Needs CAP_SYS_ADMIN. */
int sysctls_open(struct sysctls *ret_sysctls, struct error *err);

/* Whether interfaces that are made in the caller's namespace can have IPv6 addresses; proc_fd is
 * any procfs. */
bool sysctls_has_ipv6(int proc_fd);

/* Sets what is to be set and reads it back. with_ipv6: try IPv6, too; that there is none is no
 * failure. On failure what was changed is put back. */
int sysctls_apply(struct sysctls *sysctls, bool with_ipv6, struct error *err);

/* What sysctls_restore() would put back, a line each; and such lines of somebody who was here
 * first: they take the place of what sysctls_apply() found. */
int sysctls_print(const struct sysctls *sysctls, struct buf *text);
void sysctls_remember(struct sysctls *sysctls, const char *text);

/* How many connections the kernel tracks at most; 0 if it doesn't tell. */
uint32_t sysctls_tracked(const struct sysctls *sysctls);

/* Puts back what was changed, in the reverse order, except what somebody has changed since. */
void sysctls_restore(struct sysctls *sysctls);

void sysctls_close(struct sysctls *sysctls);

/* For the namespace of the caller, a slot's: nobody's advertisement sets an address or a route, and
 * no connection outlives its program for long. */
int sysctls_seal_slot(int proc_fd, bool ipv6, struct error *err);
