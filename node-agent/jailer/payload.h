/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#define MAX_PAYLOAD_ENV 16

#define PAYLOAD_PROGRAM "/usr/bin/python3"
#define PAYLOAD_RUNNER  "/usr/lib/sandboxrun/runner.pyc"

/* Of a program that waits for its request: the byte on its standard output by which it says that it
 * does (runner.py). */
#define PAYLOAD_WAITS "waits"
#define PAYLOAD_HELLO '\n'

/* One that finds a socket in place of the request loads this and becomes a zygote. */
#define PAYLOAD_ZYGOTE_MODULE "/tmp/sandboxrun_zygote.so"

/* And process 1 of its children executes this. */
#define PAYLOAD_ZYGOTE_REAPER "/tmp/reaper"

/* Descriptor of the request inside; 0 is /dev/null, 1 and 2 are the streams. */
#define PAYLOAD_REQUEST_FD 3

/* The program's arguments and its whole environment: a fixed list, nothing of the jailer's own. */
struct payload {
    char *argv[8];
    char *env[MAX_PAYLOAD_ENV];
};

/* With waits it says so once it has started, and takes the request whenever that comes. */
void payload_plan(struct payload *payload, bool waits);
