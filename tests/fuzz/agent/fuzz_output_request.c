/* SPDX-License-Identifier: Apache-2.0 */

/* What a client of the output server sends: a path with its query, and behind the first line break
 * the value of an Authorization field. */
#include "common/parse.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/output_audience.h"
#include "node-agent/agent/output_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_target(const char *text)
{
    struct output_target target = {0};
    struct error err = {0};
    char again[1024];

    if (output_target_parse(text, &target, &err) < 0) {
        if (!err.text[0] || target.name[0])
            abort();
        return;
    }
    if (!parse_is_dns_label(target.name_space) || !parse_is_dns_subdomain(target.name))
        abort();
    /* It was asked for by no other path than this one. */
    int path = snprintf(again, sizeof(again),
                        "/apis/sandboxrun.dev/v1alpha1/namespaces/%s/sandboxruns/%s/log",
                        target.name_space, target.name);
    if (strncmp(again, text, (size_t)path) != 0 || (text[path] != '\0' && text[path] != '?'))
        abort();
}

static void check_authorization(const char *value)
{
    const char *token = NULL;

    if (output_bearer_parse(value, &token) < 0)
        return;
    if (token < value || token + strlen(token) != value + strlen(value) || !token[0] ||
        strlen(token) > MAX_OUTPUT_TOKEN || strpbrk(token, " \t\r\n\"\\"))
        abort();
    (void)output_audience(token);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len + 1);

    if (!text)
        return 0;
    memcpy(text, bytes, len);
    text[len] = '\0';
    char *rest = strchr(text, '\n');
    if (rest)
        *rest++ = '\0';
    check_target(text);
    if (rest)
        check_authorization(rest);
    free(text);
    return 0;
}
