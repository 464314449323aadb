/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/json.h"

#include <stddef.h>

/*
 * YAML 1.1 documents as cJSON trees, for kubeconfig and local files only (libyaml's event API).
 * Scalars are typed as Kubernetes' reader (sigs.k8s.io/yaml) does: quoted and block scalars are
 * strings; plain ones null (nothing, ~, null), bool (true, false), numbers (decimal, 0x, 0o, 0b,
 * octal with a leading 0, underscores between digits), else strings. One difference, to the safe
 * side: yes, no, on, off, y and n stay strings. Null, true and false also as Null and NULL.
 * Refused with line and column: anchors and aliases, tags, merge keys, duplicate, null or
 * non-scalar keys, depth beyond 32, NUL, bytes that are not UTF-8, .inf and .nan. A document
 * that is a JSON object is read as JSON.
 */
#define MAX_YAML_DEPTH     32
#define MAX_YAML_DOCUMENTS 256
#define MAX_YAML_BYTES     (4u << 20)

struct yaml_documents {
    cJSON **trees; /* count of them, empty documents left out */
    size_t count;
};

/* All documents of a text. -EINVAL with line and column; -EFBIG beyond MAX_YAML_BYTES; -ENOMEM.
 * The caller frees with yaml_documents_done(). */
int yaml_parse(const char *bytes, size_t len, struct yaml_documents *ret_documents,
               struct error *err);
/* NULL is fine. */
void yaml_documents_done(struct yaml_documents *documents);

/* Appends tree as block-style YAML that yaml_parse() and Kubernetes' readers read back as the same
 * tree; multi-line strings as literal blocks where that is exact. On failure (-EINVAL for NaN and
 * infinities, -EMSGSIZE, -ENOMEM) buf is as before. */
int yaml_print(const cJSON *tree, struct buf *buf);

#define cleanup_yaml_documents __attribute__((cleanup(yaml_documents_done)))
