/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/proto.h"

#include <stddef.h>

/* A good message that is overwritten in one place; the decoder must refuse it, say what is wrong,
 * and leave what it was given untouched. */
struct spoiled {
    struct proto_message (*make)(void);
    size_t at;
    const char *bytes;
    size_t len;
    const char *names; /* is in the error's text */
};

#define BYTES(text) (text), sizeof(text) - 1
#define U32_MAX     "\xff\xff\xff\xff"

void spoiled_check(const struct spoiled *cases, size_t count);
