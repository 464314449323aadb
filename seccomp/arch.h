/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* The architectures that sandboxes run on. */
enum arch {
    ARCH_X86_64,
    ARCH_AARCH64,
    ARCH_COUNT,
};

/* What `uname -m` calls it. */
const char *arch_name(enum arch arch);

/* libseccomp's token, which is the kernel's AUDIT_ARCH_ number. */
uint32_t arch_token(enum arch arch);

/* From the name above, or the name that a policy has for it ("SCMP_ARCH_X86_64"); -ENOENT. */
int arch_from_name(const char *name, enum arch *ret_arch);
int arch_from_policy_name(const char *name, enum arch *ret_arch);

/* From the name that a rule's "includes" has for it, which is Go's ("amd64"); -ENOENT. */
int arch_from_include(const char *name, enum arch *ret_arch);

/* The architecture that this program was built for. */
enum arch arch_native(void);

/* Number of a system call. -ENOENT: other architectures have it, this one has not. -EINVAL: no
 * architecture has it, so the name is wrong. Knows calls that are newer than libseccomp. */
int arch_syscall_number(enum arch arch, const char *name, int *ret_number);

/* Name of the call that has this number. -ENOENT: none; -ENAMETOOLONG. */
#define MAX_SYSCALL_NAME 40
int arch_syscall_name(enum arch arch, int number, char ret_name[static MAX_SYSCALL_NAME]);
