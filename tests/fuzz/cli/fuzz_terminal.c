/* SPDX-License-Identifier: Apache-2.0 */
/* A program's bytes on their way to a terminal, in two chunks: what comes out is UTF-8 without a
 * control character but newline, tab and return, however the bytes were cut. */
#include "node-agent/cli/terminal.h"

#include "common/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void filter(const char *bytes, size_t len, size_t cut, struct buf *out)
{
    struct terminal_filter filter = {0};
    check(terminal_filter_append(&filter, bytes, cut, out) == 0);
    check(terminal_filter_append(&filter, bytes + cut, len - cut, out) == 0);
    check(terminal_filter_finish(&filter, out) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    cleanup_buf struct buf whole = BUF_INIT(TERMINAL_FILTER_MAX(len));
    cleanup_buf struct buf parts = BUF_INIT(TERMINAL_FILTER_MAX(len));
    filter((const char *)bytes, len, 0, &whole);
    filter((const char *)bytes, len, len > 0 ? bytes[0] % (len + 1) : 0, &parts);
    check(whole.len == parts.len && strcmp(buf_str(&whole), buf_str(&parts)) == 0);
    for (size_t at = 0; at < whole.len;) {
        uint32_t code_point;
        size_t step = utf8_decode(whole.data + at, whole.len - at, &code_point);
        check(step > 0);
        check(code_point >= 0xa0 || (code_point >= 0x20 && code_point < 0x7f) ||
              code_point == '\n' || code_point == '\t' || code_point == '\r');
        at += step;
    }
    return 0;
}
