/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cmocka.h needs these before it, in this order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
