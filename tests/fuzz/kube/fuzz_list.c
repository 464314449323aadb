/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list splitter: the first byte says how long the pieces are in which the rest comes. Whatever
 * they are, the same items, metadata and verdict must come out as from the text in one piece; and
 * what the JSON reader accepts as a list must be cut as it reads it.
 */
#include "common/json.h"
#include "common/kube/splitter.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEM 64

struct record {
    uint64_t hash;
    unsigned int items;
    int result;
};

static void add(struct record *record, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        record->hash = record->hash * 31 + (unsigned char)bytes[i];
}

static int on_item(const char *item, size_t len, bool oversized, void *arg)
{
    struct record *record = arg;
    struct scan_identity identity;

    if (len == 0 || len > MAX_ITEM || (oversized && len != MAX_ITEM))
        abort();
    scan_identity(item, len, false, &identity);
    record->items++;
    add(record, oversized ? "!" : "<", 1);
    add(record, item, len);
    return 0;
}

static struct record feed(const char *bytes, size_t len, size_t piece)
{
    const struct buf *metadata;
    struct record record = {0};
    struct splitter splitter;

    splitter_init(&splitter, MAX_ITEM, on_item, &record);
    for (size_t i = 0; i < len && record.result == 0; i += piece)
        record.result =
            splitter_feed(&splitter, bytes + i, len - i < piece ? len - i : piece, NULL);
    if (record.result == 0)
        record.result = splitter_end(&splitter, &metadata, NULL);
    if (record.result == 0)
        add(&record, metadata->data, metadata->len);
    splitter_done(&splitter);
    return record;
}

static void compare_with_reader(const char *bytes, size_t len, const struct record *record)
{
    cleanup_json cJSON *tree = NULL;
    const cJSON *items;

    /* Keys count as they are written: the server escapes none of those that matter. */
    if (memmem(bytes, len, "\\", 1) || json_parse(bytes, len, &tree, NULL) < 0 ||
        !cJSON_IsObject(tree))
        return;
    items = json_get(tree, "items");
    if (cJSON_IsArray(items) && cJSON_GetObjectItemCaseSensitive(tree, "metadata")) {
        if (record->result != 0 || (int)record->items != cJSON_GetArraySize(items))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2)
        return 0;
    const char *text = (const char *)bytes + 1;
    struct record whole = feed(text, len - 1, len - 1);
    struct record pieces = feed(text, len - 1, 1 + bytes[0] % 16);
    if (whole.hash != pieces.hash || whole.items != pieces.items || whole.result != pieces.result)
        abort();
    compare_with_reader(text, len - 1, &whole);
    return 0;
}
