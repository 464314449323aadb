/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "seccomp/compile.h"

/* Puts a filter on this process for good, with no_new_privs (seccomp(2)). */
int load_filter(const struct compiled *compiled, struct error *err);
