/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "node-agent/cli/cli_limits.h"
#include "node-agent/cli/options.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <stddef.h>

/* What was found, the jailer's checks and then the trials; and its three forms. Pure. */
struct doctor_report {
    struct proto_check checks[MAX_DOCTOR_CHECKS];
    size_t count;
};

/* Adds a check of our own; beyond the maximum it is dropped. figure becomes plain text. */
void doctor_report_add(struct doctor_report *report, const char *name, enum proto_outcome outcome,
                       const char *figure, const char *advice);

/* Something was found, and every required check succeeded. */
bool doctor_report_is_ok(const struct doctor_report *report);

/* With ticks and crosses, or without what only UTF-8 has. */
int doctor_report_print_text(const struct doctor_report *report, bool utf8, struct buf *text);

/* OUTPUT_JSON or OUTPUT_YAML. */
int doctor_report_print_object(const struct doctor_report *report, enum output_format format,
                               struct buf *text);
