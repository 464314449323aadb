/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"
#include "node-agent/cli/documents.h"
#include "node-agent/cli/options.h"

/* Appends a SandboxRun made of a Python program and the command line's options, checked as one
 * from a file; messages name the option. stdin_text is NULL without --stdin. */
int program_add(struct document_list *list, const char *source, const struct buf *code,
                const struct buf *stdin_text, const struct program_options *options,
                struct error *err);
