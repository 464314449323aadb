/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_malloc.h"

#include <stdbool.h>

/* The linker's names begin with underscores; ours stay out of the reserved name space. */
void *real_malloc(size_t size) __asm__("__real_malloc");
void *real_calloc(size_t count, size_t size) __asm__("__real_calloc");
void *real_realloc(void *old, size_t size) __asm__("__real_realloc");
void *failing_calloc(size_t count, size_t size) __asm__("__wrap_calloc");
void *failing_realloc(void *old, size_t size) __asm__("__wrap_realloc");

static int allowed = -1;
static int made;

void failing_malloc_after(int count)
{
    allowed = count;
    made = 0;
}

int failing_malloc_count(void)
{
    return made;
}

static bool fails(void)
{
    made++;
    return allowed >= 0 && made > allowed;
}

void *failing_malloc(size_t size)
{
    return fails() ? NULL : real_malloc(size);
}

void *failing_calloc(size_t count, size_t size)
{
    return fails() ? NULL : real_calloc(count, size);
}

void *failing_realloc(void *old, size_t size)
{
    return fails() ? NULL : real_realloc(old, size);
}
