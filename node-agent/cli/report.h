/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/agent/run.h"
#include "node-agent/cli/documents.h"
#include "node-agent/cli/options.h"

#include <stddef.h>

/*
 * What the caller gets to see. Programs' bytes go to stdout and stderr: as they come when one run
 * is on at a time, else each run's together at its end. With -o yaml|json only the objects are
 * printed, on stdout, in the order given.
 *
 * Lines of ours go to stderr: what the platform did (a deadline, a refusal) always, headers
 * between several runs too, progress and summaries only to a terminal. --quiet leaves the
 * refusals alone.
 */
struct report;

/* documents and options outlive it. interrupt_fd ends waits for a slow reader (writer.h). */
int report_new(const struct document_list *documents, const struct run_options *options,
               int interrupt_fd, struct report **ret_report, struct error *err);
void report_free(struct report *report);

/* The events of a batch. Those that return a value fail only if our own stdout or stderr does;
 * err names it. */
void report_started(struct report *report, size_t index);
void report_running(struct report *report, size_t index);
int report_output(struct report *report, enum run_stream stream, const char *bytes, size_t len,
                  struct error *err);
int report_finished(struct report *report, size_t index, const struct run_status *status,
                    struct error *err);

/* After all: the objects, the summary. */
int report_end(struct report *report, struct error *err);

/* 0 if every run succeeded, else the exit code of the first, in the order given, that did not. */
int report_exit_code(const struct report *report);
