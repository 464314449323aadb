/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* An empty directory below /tmp for one test, removed with all that is in it. */
struct scratch_dir {
    char path[64];
    int fd;
};

/* cmocka set-up and tear-down: *state is the struct scratch_dir. */
int scratch_dir_setup(void **state);
int scratch_dir_teardown(void **state);
