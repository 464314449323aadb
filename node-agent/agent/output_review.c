/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/output_review.h"

#include "common/json.h"
#include "node-agent/agent/output_audience.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_REVIEW_HEAD                                                                          \
    "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\",\"spec\":{"             \
    "\"audiences\":[\"" OUTPUT_AUDIENCE "\"]"
#define ACCESS_REVIEW_HEAD                                                                         \
    "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\",\"spec\":{"      \
    "\"resourceAttributes\":{\"verb\":\"get\",\"group\":\"sandboxrun.dev\","                       \
    "\"version\":\"v1alpha1\",\"resource\":\"sandboxruns\",\"subresource\":\"log\""

int output_review_token(const char *token, struct buf *json)
{
    int r = buf_append_str(json, TOKEN_REVIEW_HEAD);

    if (r == 0)
        r = json_append_member(json, "token", token);
    return r == 0 ? buf_append_str(json, "}}") : r;
}

static bool names_our_audience(const cJSON *tree)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, json_get_path(tree, "status.audiences")) {
        if (cJSON_IsString(item) && strcmp(item->valuestring, OUTPUT_AUDIENCE) == 0)
            return true;
    }
    return false;
}

/* A member of the user as the other review calls it; absent where it is absent. */
static int append_member(struct buf *json, const cJSON *user, const char *from, const char *to)
{
    const cJSON *value = json_get(user, from);

    if (!value)
        return 0;
    int r = buf_printf(json, ",\"%s\":", to);
    return r == 0 ? json_print(value, false, json) : r;
}

static int append_access(struct buf *json, const cJSON *user, const struct output_target *target)
{
    int r = buf_append_str(json, ACCESS_REVIEW_HEAD);

    if (r == 0)
        r = json_append_member(json, "namespace", target->name_space);
    if (r == 0)
        r = json_append_member(json, "name", target->name);
    if (r == 0)
        r = buf_append_char(json, '}');
    if (r == 0)
        r = append_member(json, user, "username", "user");
    if (r == 0)
        r = append_member(json, user, "uid", "uid");
    if (r == 0)
        r = append_member(json, user, "groups", "groups");
    if (r == 0)
        r = append_member(json, user, "extra", "extra");
    return r == 0 ? buf_append_str(json, "}}") : r;
}

int output_review_access(const char *body, size_t len, const struct output_target *target,
                         struct buf *access, char ret_user[static MAX_OUTPUT_USER])
{
    cleanup_json cJSON *tree = NULL;
    bool authenticated = false;

    if (json_parse(body, len, &tree, NULL) < 0 || !json_get(tree, "status"))
        return -EBADMSG;
    (void)json_get_bool(tree, "status.authenticated", &authenticated);
    /* An API server that doesn't know of audiences leaves the list out: then the token was only
     * found to be valid for itself. */
    if (!authenticated || !names_our_audience(tree))
        return -EACCES;
    const char *name = json_get_string(tree, "status.user.username");
    if (!name || !name[0])
        return -EBADMSG;
    int r = append_access(access, json_get_path(tree, "status.user"), target);
    if (r < 0)
        return r;
    (void)snprintf(ret_user, MAX_OUTPUT_USER, "%s", name);
    return 0;
}

int output_review_verdict(const char *body, size_t len)
{
    cleanup_json cJSON *tree = NULL;
    bool allowed = false;
    bool denied = false;

    if (json_parse(body, len, &tree, NULL) < 0 ||
        json_get_bool(tree, "status.allowed", &allowed) < 0)
        return -EBADMSG;
    (void)json_get_bool(tree, "status.denied", &denied);
    return allowed && !denied ? 0 : -EACCES;
}
