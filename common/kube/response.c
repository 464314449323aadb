/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/response.h"

#include "common/json.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int errnum_of(int status)
{
    static const struct {
        int status;
        int errnum;
    } table[] = {
        {400, EINVAL}, {401, EACCES},   {403, EACCES}, {404, ENOENT}, {409, EBUSY},
        {410, ESTALE}, {413, EMSGSIZE}, {422, EINVAL}, {429, EAGAIN},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].status == status)
            return table[i].errnum;
    }
    return EIO;
}

/* Proxies answer in plain text or HTML: the first line is enough for a person. */
static void first_line(const struct kube_response *response, char *ret_text, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; i < response->body_len && len + 1 < size; i++) {
        unsigned char c = (unsigned char)response->body[i];
        if (c == '\n' && len > 0)
            break;
        if (c < 0x80 && isprint(c))
            ret_text[len++] = (char)c;
    }
    ret_text[len] = '\0';
}

void response_explain(struct kube_response *response)
{
    cleanup_json cJSON *tree = NULL;
    char line[200];
    const char *message = NULL;

    if (response->body_len > 0 &&
        json_parse(response->body, response->body_len, &tree, NULL) == 0) {
        const char *reason = json_get_string(tree, "reason");
        message = json_get_string(tree, "message");
        if (reason)
            (void)snprintf(response->reason, sizeof(response->reason), "%s", reason);
    }
    if (!message || !message[0]) {
        first_line(response, line, sizeof(line));
        message = line;
    }
    (void)error_set(&response->error, errnum_of(response->status), "the API server answers %d%s%s",
                    response->status, message[0] ? ": " : "", message);
}
