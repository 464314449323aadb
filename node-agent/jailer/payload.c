/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/payload.h"

#include "common/cleanup.h"
#include "node-agent/jailer/mounts.h"

/* execve(2) takes char pointers and does not write through them. */
static char *literal(const char *text)
{
    union {
        const char *in;
        char *out;
    } cast = {.in = text};
    return cast.out;
}

/* -I: no user site, no PYTHON* variables, no script directory in sys.path. -u: output survives a
 * kill. -B: the root is read-only anyway. */
static const char *const arguments[] = {PAYLOAD_PROGRAM, "-I", "-u", "-B", PAYLOAD_RUNNER};

/* What depends on the limits comes with the request. */
static const char *const fixed_env[] = {
    "PATH=/usr/local/bin:/usr/bin:/bin",
    ("HOME=" JAIL_HOME),
    "TMPDIR=/tmp",
    "LANG=C.UTF-8",
    "USER=sandbox",
    "LOGNAME=sandbox",
    /* For interpreters that the program itself starts. */
    "PYTHONDONTWRITEBYTECODE=1",
    "PYTHONUNBUFFERED=1",
    "MPLCONFIGDIR=/tmp/matplotlib",
    "MPLBACKEND=Agg",
};

void payload_plan(struct payload *payload, bool waits)
{
    *payload = (struct payload){0};
    for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
        payload->argv[i] = literal(arguments[i]);
    if (waits)
        payload->argv[ARRAY_SIZE(arguments)] = literal(PAYLOAD_WAITS);
    for (size_t i = 0; i < ARRAY_SIZE(fixed_env); i++)
        payload->env[i] = literal(fixed_env[i]);
}
