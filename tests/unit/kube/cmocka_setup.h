/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cmocka.h needs these before it, in this order. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
