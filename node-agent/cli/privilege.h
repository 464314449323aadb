/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <sys/types.h>

/* The user that whoever parses foreign bytes is reduced to. */
struct privilege_target {
    uid_t uid;
    gid_t gid;
};

/* -EPERM with what to do unless we are root. */
int privilege_check(struct error *err);

/* The caller behind sudo (its SUDO_UID and SUDO_GID), else 65532. Texts may be NULL or nonsense;
 * root is never the answer. */
struct privilege_target privilege_choose(const char *sudo_uid, const char *sudo_gid);

/* For good: the user's ids alone, no group beside, no capability in any set, no_new_privs. Read
 * back; -errno if anything of it does not hold. */
int privilege_drop(struct privilege_target target, struct error *err);
