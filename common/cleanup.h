/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Ownership by scope: `cleanup_free char *s`, `cleanup_close int fd = -1`. It leaves a scope by
 * TAKE_PTR(s) or TAKE_FD(fd). A type with a destructor defines its own cleanup_x beside it.
 */
#define cleanup_with(fn) __attribute__((cleanup(fn)))

static inline void free_cleanup(void *p)
{
    free(*(void **)p);
}

/* Closes fd if it is not negative, keeps errno, returns -1 to assign back. */
static inline int fd_close(int fd)
{
    if (fd >= 0) {
        int saved = errno;
        (void)close(fd);
        errno = saved;
    }
    return -1;
}

static inline void fd_close_cleanup(int *fd)
{
    (void)fd_close(*fd);
}

static inline void file_close_cleanup(FILE **file)
{
    if (*file)
        (void)fclose(*file);
}

#define cleanup_free  cleanup_with(free_cleanup)
#define cleanup_close cleanup_with(fd_close_cleanup)
#define cleanup_file  cleanup_with(file_close_cleanup)

#define TAKE_PTR(p)                                                                                \
    __extension__({                                                                                \
        __typeof__(p) take_ptr_value = (p);                                                        \
        (p) = NULL;                                                                                \
        take_ptr_value;                                                                            \
    })

#define TAKE_FD(fd)                                                                                \
    __extension__({                                                                                \
        int take_fd_value = (fd);                                                                  \
        (fd) = -1;                                                                                 \
        take_fd_value;                                                                             \
    })

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
