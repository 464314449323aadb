/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What cmocka.h needs before it, in its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
