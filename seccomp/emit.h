/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "seccomp/arch.h"
#include "seccomp/compile.h"

/* Appends a C file that defines `const struct seccomp_policy SYMBOL` (seccomp_policies.h) with that
 * name, the filter that is loaded, and what it answers by itself if that is another one (else
 * NULL). 0 or buf's error. */
int emit_c(const struct compiled *filter, const struct compiled *answers, const char *name,
           const char *symbol, struct buf *buf);

/* Appends a C file that defines the table of names of an architecture (syscall_names.h). */
int emit_names(enum arch arch, struct buf *buf);

/* Appends the instructions as the kernel reads them on this machine, struct sock_filter each. */
int emit_raw(const struct compiled *compiled, struct buf *buf);
