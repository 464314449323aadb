/* SPDX-License-Identifier: Apache-2.0 */

/* What an API server answers to a TokenReview and a SubjectAccessReview. */
#include "common/json.h"
#include "node-agent/agent/output_review.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const struct output_target target = {.name_space = "team", .name = "a"};
    cleanup_buf struct buf access = BUF_INIT(MAX_OUTPUT_REVIEW);
    cleanup_json cJSON *tree = NULL;
    char user[MAX_OUTPUT_USER] = "";
    const char *body = (const char *)bytes;

    (void)output_review_verdict(body, len);
    if (output_review_access(body, len, &target, &access, user) < 0)
        return 0;
    /* What is asked next is about our run and about him whom the API server has named. */
    if (!user[0] || json_parse(access.data, access.len, &tree, NULL) < 0)
        abort();
    const char *name = json_get_string(tree, "spec.resourceAttributes.name");
    const char *asked = json_get_string(tree, "spec.user");
    if (!name || strcmp(name, "a") != 0 || !asked || strncmp(asked, user, strlen(user)) != 0)
        abort();
    return 0;
}
