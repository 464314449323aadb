/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/retry.h"

#include "common/backoff.h"
#include "common/kube/limits.h"

#include <stddef.h>
#include <string.h>

uint64_t retry_delay_ms(unsigned int failures, uint64_t retry_after_ms, uint32_t random)
{
    uint64_t delay_ms = backoff_ms(failures, KUBE_BACKOFF_BASE_MS, KUBE_BACKOFF_MAX_MS, random);

    if (retry_after_ms > KUBE_RETRY_AFTER_MS)
        retry_after_ms = KUBE_RETRY_AFTER_MS;
    if (retry_after_ms <= delay_ms)
        return delay_ms;
    return retry_after_ms + retry_after_ms / 10 * random / UINT32_MAX;
}

bool retry_is_too_large(int status, const char *message)
{
    /* Of the API server, of etcd behind it, and of the gRPC client between the two. */
    static const char *const texts[] = {
        "request is too large",
        "trying to send message larger than max",
        "Request entity too large",
    };

    if (status == 413)
        return true;
    if (status < 400)
        return false;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strstr(message, texts[i]))
            return true;
    }
    return false;
}

bool retry_is_transient(int status, const char *message)
{
    if (status == 0 || status == 429)
        return true;
    return status >= 500 && status != 501 && status != 505 && !retry_is_too_large(status, message);
}
