/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube/fake_client.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loop *kube_client_loop(struct kube_client *client)
{
    return client->loop;
}

int kube_client_send(struct kube_client *client, const struct kube_request *request,
                     kube_response_fn fn, void *arg, struct kube_call **ret_call, struct error *err)
{
    assert_true(client->count < MAX_FAKE_CALLS);
    if (client->send_error)
        return error_set(err, client->send_error, "not sent");
    struct kube_call *call = &client->calls[client->count++];
    (void)snprintf(call->method, sizeof(call->method), "%s", request->method);
    (void)snprintf(call->path, sizeof(call->path), "%s", request->path);
    call->body = strndup(request->body ? request->body : "", request->body_len);
    call->not_after_ns = request->not_after_ns;
    call->fn = fn;
    call->arg = arg;
    if (ret_call)
        *ret_call = call;
    return 0;
}

void kube_call_cancel(struct kube_call *call)
{
    if (!call)
        return;
    assert_non_null(call->fn);
    call->fn = NULL;
}

struct kube_call *fake_client_last(struct kube_client *client)
{
    assert_true(client->count > 0);
    return &client->calls[client->count - 1];
}

void fake_client_done(struct kube_client *client)
{
    for (unsigned int i = 0; i < client->count; i++) {
        assert_null(client->calls[i].fn);
        free(client->calls[i].body);
    }
}

void answer_with(struct kube_call *call, int status, const char *body)
{
    struct kube_response response = {.status = status, .body = body, .body_len = strlen(body)};
    if (status < 200 || status > 299)
        (void)error_set(&response.error, EIO, "the answer was %d", status);
    kube_response_fn fn = call->fn;
    call->fn = NULL;
    if (fn)
        fn(&response, call->arg);
    else
        fail_msg("%s %s was answered before", call->method, call->path);
}

void answer(struct kube_call *call, int status)
{
    answer_with(call, status, "{}");
}
