/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Capabilities that this process has or could take up (permitted and ambient sets), as
 * /proc/self/status has them (proc_pid_status(5)). 0 or -errno. */
int capabilities_read(uint64_t *ret_mask);

/* From the text of such a file; -EINVAL. */
int capabilities_parse(const char *text, uint64_t *ret_mask);
