/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Names of system calls by number, for the architecture that was built for; made at build time by
 * sandboxrun-seccomp, so that who uses it links no libseccomp. A number without a name has NULL.
 */
extern const char *const syscall_names[];
extern const size_t syscall_names_count;
