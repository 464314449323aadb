/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "seccomp/policy.h"

/* Appends a table for people: name, action, condition and reason of every call that a policy names,
 * in the order of the file, then the default. A name that arch lacks is marked. 0 or buf's error.
 */
int explain_policy(const struct policy *policy, enum arch arch, struct buf *buf);
