/* SPDX-License-Identifier: Apache-2.0 */
/* Each document that yaml_parse() takes, yaml_print() writes so that it reads back as the same
 * tree; what it refuses has a message with line and column. */
#include "common/yaml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_round_trip(const cJSON *tree)
{
    cleanup_yaml_documents struct yaml_documents again = {0};
    cleanup_buf struct buf yaml = BUF_INIT(SIZE_MAX), first = BUF_INIT(SIZE_MAX),
                           second = BUF_INIT(SIZE_MAX);
    check(yaml_print(tree, &yaml) == 0);
    if (yaml.len > MAX_YAML_BYTES)
        return;
    check(yaml_parse(yaml.data, yaml.len, &again, NULL) == 0);
    check(again.count == 1);
    check(json_print(tree, false, &first) == 0);
    check(json_print(again.trees[0], false, &second) == 0);
    check(strcmp(first.data, second.data) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct error err = {0};
    cleanup_yaml_documents struct yaml_documents documents = {0};
    int r = yaml_parse((const char *)bytes, len, &documents, &err);
    if (r < 0) {
        check(documents.count == 0 && err.code == -r);
        check(len > MAX_YAML_BYTES || strncmp(err.text, "line ", 5) == 0);
    }
    for (size_t i = 0; i < documents.count; i++)
        check_round_trip(documents.trees[i]);
    return 0;
}
