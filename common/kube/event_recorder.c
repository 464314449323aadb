/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/event_recorder.h"

#include "common/clock.h"
#include "common/kube/limits.h"
#include "common/log.h"

#include <errno.h>

static void on_answer(const struct kube_response *response, void *arg)
{
    (void)arg;
    if (response->status < 200 || response->status > 299)
        log_event(LOG_LEVEL_WARN, "an event was not taken", LOG_NUMBER("status", response->status),
                  LOG_TEXT("error", response->error.text));
}

int event_recorder_tell(struct event_recorder *recorder, const struct event *event,
                        struct error *err)
{
    cleanup_buf struct buf path = BUF_INIT(MAX_EVENT_PATH);
    cleanup_buf struct buf body = BUF_INIT(MAX_EVENT_BODY);
    if (!token_bucket_take(&recorder->bucket, clock_monotonic_ns(), EVENT_BURST, EVENT_SPACE_NS))
        return error_set(err, EBUSY, "more than %u events a second", 1000000000u / EVENT_SPACE_NS);
    int r = event_encode(event, &recorder->reporter, clock_realtime_us(), &path, &body, err);
    if (r < 0)
        return r;
    const struct kube_request request = {
        .method = "POST", .path = buf_str(&path), .body = body.data, .body_len = body.len};
    return kube_client_send(recorder->client, &request, on_answer, NULL, NULL, err);
}
