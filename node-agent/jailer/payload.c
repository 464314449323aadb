/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/payload.h"

#include "common/cleanup.h"
#include "node-agent/jailer/mounts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

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

struct env_writer {
    struct payload *payload;
    size_t env_count;
    size_t used;
};

static void env_printf(struct env_writer *writer, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void env_printf(struct env_writer *writer, const char *fmt, ...)
{
    struct payload *payload = writer->payload;
    char *at = payload->storage + writer->used;
    size_t room = sizeof(payload->storage) - writer->used;
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(at, room, fmt, args);
    va_end(args);
    if (len < 0 || (size_t)len >= room || writer->env_count + 1 >= MAX_PAYLOAD_ENV)
        return;
    writer->used += (size_t)len + 1;
    payload->env[writer->env_count++] = at;
}

void payload_plan(struct payload *payload, uint64_t memory_bytes, uint32_t cpu_milli)
{
    *payload = (struct payload){0};
    for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
        payload->argv[i] = literal(arguments[i]);
    for (size_t i = 0; i < ARRAY_SIZE(fixed_env); i++)
        payload->env[i] = literal(fixed_env[i]);

    /* A program that sizes itself from the host would start a thread for each of its processors
     * and throttle itself. */
    uint32_t threads = cpu_milli / 1000 + (cpu_milli % 1000 != 0 ? 1 : 0);
    struct env_writer writer = {.payload = payload, .env_count = ARRAY_SIZE(fixed_env)};
    env_printf(&writer, "OMP_NUM_THREADS=%" PRIu32, threads);
    env_printf(&writer, "OPENBLAS_NUM_THREADS=%" PRIu32, threads);
    env_printf(&writer, "MKL_NUM_THREADS=%" PRIu32, threads);
    env_printf(&writer, "SANDBOXRUN_MEMORY_BYTES=%" PRIu64, memory_bytes);
    env_printf(&writer, "SANDBOXRUN_CPU_MILLI=%" PRIu32, cpu_milli);
}
