/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxrun.h"
#include "common/error.h"
#include "common/json.h"
#include "node-agent/cli/cli_limits.h"

#include <stddef.h>

/* What the command line was given, as valid SandboxRun objects: bytes in, objects out, no I/O. */
struct document {
    cJSON *tree; /* as it was read; a missing name was filled in */
    struct sandboxrun run;
};

struct document_list {
    struct document *items;
    size_t count;
};

/* Appends the SandboxRuns of a YAML or JSON text: documents, and Lists of them. source is the
 * file's name, for messages and for runs without a name. Strict: what is not known is an error.
 * -EINVAL names source, document and field; then list may hold some of the documents. */
int documents_add(struct document_list *list, const char *source, const char *bytes, size_t len,
                  struct error *err);

/* Appends one object that is no text: tree is taken in any case. label goes before messages (NULL:
 * none); err must not be NULL. */
int documents_add_tree(struct document_list *list, const char *label, const char *name_hint,
                       cJSON *tree, struct error *err);

void documents_done(struct document_list *list);

/* A Kubernetes name made of a file's name: "/x/My Job.yaml" gives "my-job". Of several documents
 * in a file, number > 0 is added behind. */
void documents_make_name(const char *source, unsigned int number,
                         char ret_name[static MAX_RUN_NAME + 1]);
