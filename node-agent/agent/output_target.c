/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/output_target.h"

#include "common/api/sandboxrun.h"
#include "common/cleanup.h"
#include "common/parse.h"
#include "node-agent/agent/agent_limits.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define NAMESPACES "/apis/" SANDBOXRUN_GROUP_VERSION "/namespaces/"
#define RUNS       "/sandboxruns/"
#define LOG        "/log"
#define BEARER     "Bearer "

/* Skips text; false if it isn't there. */
static bool skip(const char **at, const char *text)
{
    size_t len = strlen(text);

    if (strncmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

/* One segment of the path. */
static bool take_segment(const char **at, char *ret_segment, size_t size)
{
    size_t len = strcspn(*at, "/?");

    if (len >= size)
        return false;
    memcpy(ret_segment, *at, len);
    ret_segment[len] = '\0';
    *at += len;
    return true;
}

static int parse_query(const char *query, enum run_stream *ret_stream, struct error *err)
{
    static const struct {
        const char *query;
        enum run_stream stream;
    } known[] = {
        {"", RUN_STDOUT},
        {"?", RUN_STDOUT},
        {"?stream=stdout", RUN_STDOUT},
        {"?stream=stderr", RUN_STDERR},
    };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        if (strcmp(query, known[i].query) == 0) {
            *ret_stream = known[i].stream;
            return 0;
        }
    }
    return error_set(err, EINVAL, "the query can be stream=stdout (the default) or stream=stderr");
}

int output_target_parse(const char *target, struct output_target *ret_target, struct error *err)
{
    struct output_target found = {0};
    const char *at = target;
    bool valid = skip(&at, NAMESPACES) &&
                 take_segment(&at, found.name_space, sizeof(found.name_space)) && skip(&at, RUNS) &&
                 take_segment(&at, found.name, sizeof(found.name)) && skip(&at, LOG) &&
                 (*at == '\0' || *at == '?') && parse_is_dns_label(found.name_space) &&
                 parse_is_dns_subdomain(found.name);

    if (!valid)
        return error_set(err, ENOENT,
                         "there is nothing but " NAMESPACES "NAMESPACE" RUNS "NAME" LOG);
    int r = parse_query(at, &found.stream, err);
    if (r == 0)
        *ret_target = found;
    return r;
}

/* token68 of RFC 9110 and what tokens of Kubernetes are made of. */
static bool is_token(const char *text)
{
    size_t len = strnlen(text, MAX_OUTPUT_TOKEN + 1);

    if (len == 0 || len > MAX_OUTPUT_TOKEN)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)text[i]) && !strchr("-._~+/=:", text[i]))
            return false;
    }
    return true;
}

int output_bearer_parse(const char *value, const char **ret_token)
{
    if (strncasecmp(value, BEARER, strlen(BEARER)) != 0)
        return -EINVAL;
    const char *token = value + strlen(BEARER);
    token += strspn(token, " ");
    if (!is_token(token))
        return -EINVAL;
    *ret_token = token;
    return 0;
}
