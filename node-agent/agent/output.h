/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What is kept of one stream: its first and its last bytes, whatever its length. The size is
 * fixed, so the supervisor's memory doesn't depend on the program.
 */
struct output {
    uint64_t total; /* bytes the program wrote */
    char head[MAX_STATUS_STREAM_HEAD];
    char tail[MAX_STATUS_STREAM_TAIL]; /* a ring: byte n of the rest is at n % its size */
};

void output_append(struct output *output, const char *bytes, size_t len);

bool output_truncated(const struct output *output);

/* Head and tail joined, NUL-terminated, the caller's to free. Between them, where bytes are
 * missing, a line says how many; characters of UTF-8 are not cut in two there. -ENOMEM. */
int output_join(const struct output *output, char **ret_text, size_t *ret_len);
