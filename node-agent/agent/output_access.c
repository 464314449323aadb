/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/output_access.h"

#include "common/buf.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/output_review.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define TOKEN_REVIEWS  "/apis/authentication.k8s.io/v1/tokenreviews"
#define ACCESS_REVIEWS "/apis/authorization.k8s.io/v1/subjectaccessreviews"

struct output_check {
    struct output_check *prev;
    struct output_check *next;
    struct output_access *access;
    struct output_target target;
    char user[MAX_OUTPUT_USER];
    output_verdict_fn fn;
    void *arg;
    struct kube_call *call;
};

struct output_access {
    struct kube_client *client;
    struct output_check *checks;
    unsigned int count;
};

static void check_free(struct output_check *check)
{
    kube_call_cancel(check->call);
    DL_DELETE(check->access->checks, check);
    check->access->count--;
    free(check);
}

static void conclude(struct output_check *check, enum output_verdict verdict,
                     const struct error *err)
{
    output_verdict_fn fn = check->fn;
    void *arg = check->arg;
    char user[MAX_OUTPUT_USER];

    memcpy(user, check->user, sizeof(user));
    check_free(check);
    fn(verdict, user, err, arg);
}

static int ask(struct output_check *check, const char *path, const struct buf *body,
               kube_response_fn fn, struct error *err)
{
    const struct kube_request request = {
        .method = "POST",
        .path = path,
        .body = body->data,
        .body_len = body->len,
        .timeout_ms = OUTPUT_REVIEW_MS,
    };

    return kube_client_send(check->access->client, &request, fn, check, &check->call, err);
}

static bool is_answer(const struct kube_response *response)
{
    return response->status >= 200 && response->status <= 299 &&
           response->body_len <= MAX_OUTPUT_REVIEW;
}

static void conclude_unknown(struct output_check *check, const struct kube_response *response)
{
    struct error err = response->error;

    if (response->status >= 200 && response->status <= 299)
        (void)error_set(&err, EBADMSG, "its answer makes no sense");
    conclude(check, OUTPUT_UNKNOWN, &err);
}

static void on_access_review(const struct kube_response *response, void *arg)
{
    struct output_check *check = arg;
    int r =
        is_answer(response) ? output_review_verdict(response->body, response->body_len) : -EBADMSG;

    check->call = NULL;
    if (r == 0)
        conclude(check, OUTPUT_ALLOWED, NULL);
    else if (r == -EACCES)
        conclude(check, OUTPUT_FORBIDDEN, NULL);
    else
        conclude_unknown(check, response);
}

static void on_token_review(const struct kube_response *response, void *arg)
{
    struct output_check *check = arg;
    cleanup_buf struct buf access = BUF_INIT(MAX_OUTPUT_REVIEW);
    struct error err = {0};
    int r = is_answer(response) ? output_review_access(response->body, response->body_len,
                                                       &check->target, &access, check->user)
                                : -EBADMSG;

    check->call = NULL;
    if (r == -EACCES) {
        conclude(check, OUTPUT_UNAUTHENTICATED, NULL);
    } else if (r < 0) {
        conclude_unknown(check, response);
    } else if (ask(check, ACCESS_REVIEWS, &access, on_access_review, &err) < 0) {
        conclude(check, OUTPUT_UNKNOWN, &err);
    }
}

int output_access_check(struct output_access *access, const char *token,
                        const struct output_target *target, output_verdict_fn fn, void *arg,
                        struct error *err)
{
    cleanup_buf struct buf review = BUF_INIT(MAX_OUTPUT_REVIEW);

    if (access->count >= MAX_OUTPUT_REVIEWS)
        return error_set(err, EAGAIN, "too many requests at a time");
    int r = output_review_token(token, &review);
    struct output_check *check = r == 0 ? calloc(1, sizeof(*check)) : NULL;
    if (!check)
        return error_set_errno(err, r < 0 ? -r : ENOMEM, "can't review the token");
    check->access = access;
    check->target = *target;
    check->fn = fn;
    check->arg = arg;
    DL_APPEND(access->checks, check);
    access->count++;
    r = ask(check, TOKEN_REVIEWS, &review, on_token_review, err);
    explicit_bzero(review.data, review.len);
    if (r < 0)
        check_free(check);
    return r;
}

int output_access_new(struct kube_client *client, struct output_access **ret_access,
                      struct error *err)
{
    struct output_access *access = calloc(1, sizeof(*access));

    if (!access)
        return error_set_errno(err, ENOMEM, "can't review tokens");
    access->client = client;
    *ret_access = access;
    return 0;
}

void output_access_free(struct output_access *access)
{
    if (!access)
        return;
    while (access->checks)
        check_free(access->checks);
    free(access);
}
