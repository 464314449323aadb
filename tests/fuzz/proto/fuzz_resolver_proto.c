/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/proto/resolver_proto.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Each message has one encoding: what decodes must encode to the bytes that it came from. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct resolver_message message;
    struct error err = {0};
    uint8_t again[RESOLVER_MAX_MESSAGE];
    if (resolver_proto_decode(bytes, len, &message, &err) < 0) {
        if (err.code == 0 || err.text[0] == '\0')
            abort();
        return 0;
    }
    int again_len = resolver_proto_encode(&message, again);
    if (again_len < 0 || (size_t)again_len != len || memcmp(bytes, again, len) != 0)
        abort();
    return 0;
}
