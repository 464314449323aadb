/* SPDX-License-Identifier: Apache-2.0 */
#include "spoiled.h"

#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

void spoiled_check(const struct spoiled *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct proto_message in = cases[i].make(), out = {.type = 99};
        uint8_t bytes[PROTO_MAX_MESSAGE];
        struct error err = {0};
        int len = proto_encode(&in, bytes);
        assert_true(len > 0);
        memcpy(bytes + cases[i].at, cases[i].bytes, cases[i].len);
        int r = proto_decode(bytes, (size_t)len, &out, &err);
        if (r != -EPROTO || !strstr(err.text, cases[i].names))
            fail_msg("case %zu (%s): %d \"%s\"", i, cases[i].names, r, err.text);
        assert_int_equal(out.type, 99);
    }
}
