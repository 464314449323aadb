/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/output_audience.h"

#include "common/buf.h"
#include "common/json.h"
#include "common/kube/base64.h"
#include "node-agent/agent/agent_limits.h"

#include <errno.h>
#include <string.h>

#define MAX_CLAIMS_DEPTH 8u

/* The middle one of three parts, from the base64url alphabet without padding (RFC 7515) to the
 * other one with it. */
static int decode_claims(const char *token, struct buf *claims)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_OUTPUT_TOKEN + 4);
    const char *begin = strchr(token, '.');
    const char *end = begin ? strchr(begin + 1, '.') : NULL;
    int r = 0;

    if (!end || strchr(end + 1, '.'))
        return -EINVAL;
    for (const char *c = begin + 1; r == 0 && c < end; c++)
        r = buf_append_char(&text, *c == '-' ? '+' : *c == '_' ? '/' : *c);
    while (r == 0 && text.len % 4 != 0)
        r = buf_append_char(&text, '=');
    if (r == 0)
        r = base64_decode(buf_str(&text), text.len, claims);
    if (text.data)
        explicit_bzero(text.data, text.len);
    return r;
}

enum output_audience output_audience(const char *token)
{
    cleanup_buf struct buf claims = BUF_INIT(MAX_OUTPUT_TOKEN);
    cleanup_json cJSON *tree = NULL;
    const cJSON *item;
    unsigned int ours = 0;
    unsigned int others = 0;

    if (decode_claims(token, &claims) < 0 ||
        json_parse_depth(buf_str(&claims), claims.len, MAX_CLAIMS_DEPTH, &tree, NULL) < 0)
        return OUTPUT_AUDIENCE_UNKNOWN;
    const cJSON *audience = json_get(tree, "aud");
    if (cJSON_IsString(audience))
        return strcmp(audience->valuestring, OUTPUT_AUDIENCE) == 0 ? OUTPUT_AUDIENCE_OURS
                                                                   : OUTPUT_AUDIENCE_OTHER;
    if (!cJSON_IsArray(audience))
        return OUTPUT_AUDIENCE_UNKNOWN;
    cJSON_ArrayForEach (item, audience) {
        if (cJSON_IsString(item) && strcmp(item->valuestring, OUTPUT_AUDIENCE) == 0)
            ours++;
        else
            others++;
    }
    if (ours == 0)
        return OUTPUT_AUDIENCE_OTHER;
    return others == 0 ? OUTPUT_AUDIENCE_OURS : OUTPUT_AUDIENCE_SHARED;
}
