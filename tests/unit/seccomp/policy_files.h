/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "seccomp/policy.h"

/* Reads seccomp/NAME.json of the source tree; fails the test if it can't. */
struct policy *policy_file_read(const char *name);
