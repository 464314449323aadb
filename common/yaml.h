/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/json.h"

#include <stddef.h>

/*
 * YAML 1.1 documents as cJSON trees, for kubeconfig and local files only (libyaml's event API).
 * Scalars are typed as Kubernetes' YAML readers do (plain: null, bool, int, float, else string;
 * quoted: string). Refused with line and column: anchors and aliases, tags, duplicate or
 * non-scalar keys, depth beyond 32, NUL. JSON is YAML, so this reads both.
 */
#define MAX_YAML_DEPTH     32
#define MAX_YAML_DOCUMENTS 256
#define MAX_YAML_BYTES     (4u << 20)

struct yaml_documents {
    cJSON **trees; /* count of them, empty documents left out */
    size_t count;
};

int yaml_parse(const char *bytes, size_t len, struct yaml_documents *ret_documents,
               struct error *err);
void yaml_documents_done(struct yaml_documents *documents);

/* Appends tree as block-style YAML; multi-line strings as literal blocks where that is exact. */
int yaml_print(const cJSON *tree, struct buf *buf);
