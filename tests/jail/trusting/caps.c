/* SPDX-License-Identifier: Apache-2.0 */

/*
 * In place of node-agent/jailer/caps.c: believes that it has what it needs, and keeps what it has.
 * So the jailer meets a missing capability where the kernel asks for it, and a test can tell the
 * capabilities that are needed from those that are only listed.
 */
#include "node-agent/jailer/caps.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"

#include <stdint.h>

int caps_last(int proc_fd, unsigned int *ret_last, struct error *err)
{
    char text[16];
    uint64_t value = 0;
    int r = fd_read_attr(proc_fd, "sys/kernel/cap_last_cap", text, sizeof(text));
    if (r >= 0)
        r = parse_u64(text, 0, 63, &value);
    if (r < 0)
        return error_set_errno(err, -r, "read /proc/sys/kernel/cap_last_cap");
    *ret_last = (unsigned int)value;
    return 0;
}

const struct capability *caps_needed(size_t index, bool at_root)
{
    (void)index;
    (void)at_root;
    return NULL;
}

bool caps_has(const struct capability *capability)
{
    (void)capability;
    return true;
}

int caps_check(bool at_root, struct error *err)
{
    (void)at_root;
    (void)err;
    return 0;
}

int caps_restrict(unsigned int last, bool at_root, struct error *err)
{
    (void)last;
    (void)at_root;
    (void)err;
    return 0;
}

bool caps_has_number(unsigned int number)
{
    (void)number;
    return true;
}
