/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Lets count allocations of the linked code pass, and fails all that follow. Negative: none fails
 * (as at the start). Needs the linker's --wrap for malloc, calloc and realloc. */
void failing_malloc_after(int count);

/* How many allocations were made since the last call of failing_malloc_after(). */
int failing_malloc_count(void);

/* For libraries that take hooks. */
void *failing_malloc(size_t size) __asm__("__wrap_malloc");
