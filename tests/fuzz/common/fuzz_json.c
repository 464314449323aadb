/* SPDX-License-Identifier: Apache-2.0 */
/* What json_parse() takes, json_print() writes so that it parses to the same text again; what it
 * refuses has a message. */
#include "common/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void print(const cJSON *tree, bool pretty, struct buf *buf)
{
    check(json_print(tree, pretty, buf) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct error err = {0};
    cleanup_json cJSON *tree = NULL, *again = NULL;
    cleanup_buf struct buf first = BUF_INIT(SIZE_MAX), second = BUF_INIT(SIZE_MAX),
                           pretty = BUF_INIT(SIZE_MAX);
    if (json_parse((const char *)bytes, len, &tree, &err) < 0) {
        check(!tree && err.code > 0 && err.text[0] != '\0');
        return 0;
    }
    print(tree, true, &pretty);
    print(tree, false, &first);
    check(json_parse(pretty.data, pretty.len, &again, &err) == 0);
    print(again, false, &second);
    check(strcmp(first.data, second.data) == 0);

    const char *text = cJSON_GetStringValue(tree);
    check(!text || first.len == json_string_size(text, strlen(text)) + 2);
    return 0;
}
