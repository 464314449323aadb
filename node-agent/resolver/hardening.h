/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

/* For good, before a byte of anybody's is read: as root it becomes uid and gid 65533 without
 * groups; no capability in any set, no_new_privs, no core file, no further process, no more
 * descriptors than the caps of resolver_limits.h need, the root directory, not dumpable. Read
 * back; -errno if anything of it does not hold. */
int hardening_apply(struct error *err);
