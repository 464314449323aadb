/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/request.h"

#include "common/api/limits.h"
#include "common/cleanup.h"
#include "node-agent/agent/agent_limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of append_limits(). */
#define LIMIT_VARIABLES 5u

static const char request_magic[4] = {'S', 'B', 'R', 'Q'};

static int append_string(struct buf *request, const char *text)
{
    size_t len = strlen(text);
    if (len > UINT32_MAX)
        return -EMSGSIZE;
    int r = buf_append_u32le(request, (uint32_t)len);
    if (r < 0)
        return r;
    return buf_append(request, text, len);
}

/* A program that sizes itself from the host would start a thread for each of its processors and
 * throttle itself. Before the run's own variables, which may say otherwise. */
static const char *const thread_variables[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                               "MKL_NUM_THREADS"};

static int append_number(const char *name, uint64_t value, struct buf *request)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    int r = append_string(request, name);
    return r < 0 ? r : append_string(request, text);
}

static int append_limits(const struct run_spec *spec, struct buf *request)
{
    uint32_t threads = spec->cpu_milli / 1000 + (spec->cpu_milli % 1000 != 0 ? 1 : 0);
    int r = 0;
    for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(thread_variables); i++)
        r = append_number(thread_variables[i], threads, request);
    if (r >= 0)
        r = append_number("SANDBOXRUN_MEMORY_BYTES", spec->memory_bytes, request);
    if (r >= 0)
        r = append_number("SANDBOXRUN_CPU_MILLI", spec->cpu_milli, request);
    return r;
}

static int append_head(const struct run_spec *spec, size_t code_len, size_t stdin_len,
                       struct buf *request)
{
    const uint32_t words[] = {
        REQUEST_VERSION,           spec->stdin_text ? REQUEST_FLAG_HAS_STDIN : 0,
        (uint32_t)spec->arg_count, (uint32_t)spec->env_count + LIMIT_VARIABLES,
        (uint32_t)code_len,        (uint32_t)stdin_len,
    };
    int r = buf_append(request, request_magic, sizeof(request_magic));
    for (size_t i = 0; r >= 0 && i < sizeof(words) / sizeof(words[0]); i++)
        r = buf_append_u32le(request, words[i]);
    return r;
}

static int append_all(const struct run_spec *spec, size_t code_len, size_t stdin_len,
                      struct buf *request)
{
    int r = append_head(spec, code_len, stdin_len, request);
    if (r >= 0)
        r = buf_append(request, spec->code, code_len);
    if (r >= 0 && spec->stdin_text)
        r = buf_append(request, spec->stdin_text, stdin_len);
    for (size_t i = 0; r >= 0 && i < spec->arg_count; i++)
        r = append_string(request, spec->args[i]);
    if (r >= 0)
        r = append_limits(spec, request);
    for (size_t i = 0; r >= 0 && i < spec->env_count; i++) {
        r = append_string(request, spec->env[i].name);
        if (r >= 0)
            r = append_string(request, spec->env[i].value ? spec->env[i].value : "");
    }
    return r;
}

int request_encode(const struct run_spec *spec, struct buf *request, struct error *err)
{
    size_t code_len = strlen(spec->code);
    size_t stdin_len = spec->stdin_text ? strlen(spec->stdin_text) : 0;
    if (code_len > MAX_REQUEST_BYTES || stdin_len > MAX_REQUEST_BYTES ||
        spec->arg_count > MAX_ARGS || spec->env_count > MAX_ENV)
        return error_set(err, EMSGSIZE, "spec: code, stdin, args or env beyond the API's bounds");

    buf_init(request, MAX_REQUEST_BYTES + MAX_REQUEST_FRAMING_BYTES);
    int r = append_all(spec, code_len, stdin_len, request);
    if (r == -EMSGSIZE)
        return error_set(err, EMSGSIZE,
                         "spec: code, stdin, args and env together are more than %u bytes",
                         MAX_REQUEST_BYTES);
    if (r < 0)
        return error_set_errno(err, -r, "encode the request");
    return 0;
}
