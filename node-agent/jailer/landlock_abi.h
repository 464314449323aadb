/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * Landlock as the kernel's interface defines it (include/uapi/linux/landlock.h), complete up to
 * ABI 6: the headers of the oldest distributions that this is built on end earlier. Names differ
 * from the kernel's, so that the two never meet.
 */
#define LANDLOCK_VERSION (1u << 0) /* flag of landlock_create_ruleset(2): return the ABI */

/* Kind of rule for landlock_add_rule(2). */
#define LANDLOCK_PATH_BENEATH 1

/* Older kernels take the whole of it, as long as what they don't know is zero. */
struct landlock_ruleset {
    uint64_t handled_fs;
    uint64_t handled_net; /* ABI 4 */
    uint64_t scoped;      /* ABI 6 */
};

struct landlock_beneath {
    uint64_t allowed;
    int32_t parent_fd;
} __attribute__((packed));

#define LANDLOCK_EXECUTE     (UINT64_C(1) << 0)
#define LANDLOCK_WRITE_FILE  (UINT64_C(1) << 1)
#define LANDLOCK_READ_FILE   (UINT64_C(1) << 2)
#define LANDLOCK_READ_DIR    (UINT64_C(1) << 3)
#define LANDLOCK_REMOVE_DIR  (UINT64_C(1) << 4)
#define LANDLOCK_REMOVE_FILE (UINT64_C(1) << 5)
#define LANDLOCK_MAKE_CHAR   (UINT64_C(1) << 6)
#define LANDLOCK_MAKE_DIR    (UINT64_C(1) << 7)
#define LANDLOCK_MAKE_REG    (UINT64_C(1) << 8)
#define LANDLOCK_MAKE_SOCK   (UINT64_C(1) << 9)
#define LANDLOCK_MAKE_FIFO   (UINT64_C(1) << 10)
#define LANDLOCK_MAKE_BLOCK  (UINT64_C(1) << 11)
#define LANDLOCK_MAKE_SYM    (UINT64_C(1) << 12)
#define LANDLOCK_REFER       (UINT64_C(1) << 13) /* ABI 2 */
#define LANDLOCK_TRUNCATE    (UINT64_C(1) << 14) /* ABI 3 */
#define LANDLOCK_IOCTL_DEV   (UINT64_C(1) << 15) /* ABI 5 */

#define LANDLOCK_BIND_TCP    (UINT64_C(1) << 0)
#define LANDLOCK_CONNECT_TCP (UINT64_C(1) << 1)

#define LANDLOCK_ABSTRACT_UNIX (UINT64_C(1) << 0)
#define LANDLOCK_SIGNAL        (UINT64_C(1) << 1)
