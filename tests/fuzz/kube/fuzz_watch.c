/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch framer: the first byte says how long the pieces are in which the rest comes. Whatever
 * they are, the same lines must come out as from the text in one piece.
 */
#include "common/kube/framer.h"
#include "common/kube/scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 64

struct record {
    uint64_t hash;
    unsigned int lines;
};

static int on_line(const char *line, size_t len, bool oversized, void *arg)
{
    struct record *record = arg;
    struct scan_identity identity;

    if (len == 0 || len > MAX_LINE || (oversized && len != MAX_LINE))
        abort();
    scan_identity(line, len, true, &identity);
    if (strlen(identity.name) >= sizeof(identity.name))
        abort();
    record->lines++;
    record->hash = record->hash * 31 + oversized;
    for (size_t i = 0; i < len; i++)
        record->hash = record->hash * 31 + (unsigned char)line[i];
    return 0;
}

static struct record feed(const char *bytes, size_t len, size_t piece)
{
    struct record record = {0};
    struct framer framer;

    framer_init(&framer, MAX_LINE, on_line, &record);
    for (size_t i = 0; i < len; i += piece) {
        if (framer_feed(&framer, bytes + i, len - i < piece ? len - i : piece) != 0)
            abort();
    }
    framer_done(&framer);
    return record;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2)
        return 0;
    const char *text = (const char *)bytes + 1;
    struct record whole = feed(text, len - 1, len - 1);
    struct record pieces = feed(text, len - 1, 1 + bytes[0] % 16);
    if (whole.hash != pieces.hash || whole.lines != pieces.lines)
        abort();
    return 0;
}
