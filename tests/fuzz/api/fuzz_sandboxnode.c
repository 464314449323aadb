/* SPDX-License-Identifier: Apache-2.0 */

/* Whatever an agent writes: decode, encode, decode again, with nothing changed on the way. */
#include "common/api/sandboxnode.h"
#include "common/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    cleanup_json cJSON *tree = NULL;
    cleanup_json cJSON *again = NULL;
    struct sandboxnode node, back;
    struct error err = {0};
    if (json_parse((const char *)bytes, len, &tree, &err) < 0)
        return 0;
    if (sandboxnode_decode(tree, &node, &err) < 0) {
        if (err.code == 0 || !err.text[0])
            abort();
        return 0;
    }
    if (node.ready && !node.instance[0])
        abort();

    cleanup_buf struct buf json = BUF_INIT(1 << 20);
    cleanup_buf struct buf second = BUF_INIT(1 << 20);
    if (buf_printf(&json, "{\"metadata\":{\"name\":\"%s\"},\"status\":", node.name) < 0)
        abort();
    size_t start = json.len;
    if (sandboxnode_status_encode(&node, &json) < 0)
        abort();
    size_t end = json.len;
    if (buf_append_char(&json, '}') < 0 || json_parse(json.data, json.len, &again, &err) < 0 ||
        sandboxnode_decode(again, &back, &err) < 0 || sandboxnode_status_encode(&back, &second) < 0)
        abort();
    if (second.len != end - start || memcmp(second.data, json.data + start, second.len) != 0)
        abort();
    return 0;
}
