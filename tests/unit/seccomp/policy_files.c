/* SPDX-License-Identifier: Apache-2.0 */
#include "policy_files.h"

#include "common/fd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>

struct policy *policy_file_read(const char *name)
{
    cleanup_buf struct buf bytes = BUF_INIT(MAX_POLICY_BYTES);
    struct policy *policy = NULL;
    struct error err = {0};
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/../../../seccomp/%s.json", TEST_SOURCE_DIR, name);
    assert_int_equal(fd_read_file(AT_FDCWD, path, false, &bytes), 0);
    if (policy_parse(buf_str(&bytes), bytes.len, &policy, &err) < 0)
        fail_msg("%s: %s", path, err.text);
    return policy;
}
