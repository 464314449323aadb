/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "seccomp/compile.h"

/* Appends a C file that defines `const struct seccomp_policy SYMBOL` (seccomp_policies.h) with that
 * name and filter. 0 or buf's error. */
int emit_c(const struct compiled *compiled, const char *name, const char *symbol, struct buf *buf);

/* Appends the instructions as the kernel reads them on this machine, struct sock_filter each. */
int emit_raw(const struct compiled *compiled, struct buf *buf);
