/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#define MAX_PAYLOAD_ENV      16
#define PAYLOAD_STORAGE_SIZE 256

#define PAYLOAD_PROGRAM "/usr/bin/python3"
#define PAYLOAD_RUNNER  "/usr/lib/sandboxrun/runner.pyc"

/* Descriptor of the request inside; 0 is /dev/null, 1 and 2 are the streams. */
#define PAYLOAD_REQUEST_FD 3

/* The program's arguments and its whole environment: a fixed list, nothing of the jailer's own.
 * The pointers lead into the struct itself or to literals: it can't be copied. */
struct payload {
    char *argv[8];
    char *env[MAX_PAYLOAD_ENV];
    char storage[PAYLOAD_STORAGE_SIZE];
};

void payload_plan(struct payload *payload, uint64_t memory_bytes, uint32_t cpu_milli);
