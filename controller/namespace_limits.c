/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/namespace_limits.h"

#include "common/api/quantity.h"

#include <inttypes.h>
#include <stdio.h>

static bool exceeds(uint64_t used, uint64_t asked, uint64_t limit)
{
    return limit > 0 && (asked > limit || used > limit - asked);
}

enum limit_verdict limits_check(const struct namespace_limits *limits,
                                const struct node_resources *used,
                                const struct run_request *request)
{
    const struct node_resources *most = &limits->used;
    if (exceeds(0, request->memory_bytes, most->memory_bytes) ||
        exceeds(0, request->cpu_milli, most->cpu_milli))
        return LIMIT_TOO_LARGE;
    if (exceeds(used->runs, 1, most->runs))
        return LIMIT_RUNS;
    if (exceeds(used->memory_bytes, request->memory_bytes, most->memory_bytes))
        return LIMIT_MEMORY;
    if (exceeds(used->cpu_milli, request->cpu_milli, most->cpu_milli))
        return LIMIT_CPU;
    return LIMIT_NONE;
}

/* what is said to people, and stands in the flag. */
static void explain_sum(const char *what, void (*format)(uint64_t value, char *ret_text),
                        uint64_t used, uint64_t limit, uint64_t asked, char *text, size_t size)
{
    char have[QUANTITY_TEXT_SIZE], most[QUANTITY_TEXT_SIZE], more[QUANTITY_TEXT_SIZE];
    format(used, have);
    format(limit, most);
    format(asked, more);
    (void)snprintf(text, size,
                   "the namespace's runs have %s %s of at most %s (--max-%s-per-namespace), and "
                   "this one asks for %s",
                   what, have, most, what, more);
}

void limits_explain(const struct namespace_limits *limits, const struct node_resources *used,
                    const struct run_request *request, char *text, size_t size)
{
    const struct node_resources *most = &limits->used;
    enum limit_verdict verdict = limits_check(limits, used, request);
    if (verdict == LIMIT_RUNS)
        (void)snprintf(text, size,
                       "%" PRIu32 " of at most %" PRIu32 " runs of the namespace are scheduled or "
                       "running (--max-runs-per-namespace)",
                       used->runs, most->runs);
    else if (verdict == LIMIT_MEMORY || exceeds(0, request->memory_bytes, most->memory_bytes))
        explain_sum("memory", quantity_format_bytes, used->memory_bytes, most->memory_bytes,
                    request->memory_bytes, text, size);
    else
        explain_sum("cpu", quantity_format_milli, used->cpu_milli, most->cpu_milli,
                    request->cpu_milli, text, size);
}

void limits_explain_queue(const struct namespace_limits *limits, unsigned int queued, char *text,
                          size_t size)
{
    (void)snprintf(text, size,
                   "%u runs of the namespace wait, and at most %u may "
                   "(--max-queued-per-namespace): create it again when fewer wait",
                   queued, limits->queued);
}
