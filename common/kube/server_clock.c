/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/server_clock.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define NAME          "date:"
#define MAX_DATE      64
#define US_PER_SECOND INT64_C(1000000)
#define NS_PER_US     1000

/* Whole seconds, and what an answer takes. */
#define AGREEMENT_US INT64_C(2000000)

void server_clock_hear(struct server_clock *clock, const char *line, size_t len,
                       uint64_t monotonic_ns)
{
    const size_t name_len = strlen(NAME);
    char text[MAX_DATE];

    if (len <= name_len || len - name_len >= sizeof(text) || strncasecmp(line, NAME, name_len) != 0)
        return;
    memcpy(text, line + name_len, len - name_len);
    text[len - name_len] = '\0';
    time_t date = curl_getdate(text, NULL);
    if (date <= 0)
        return;
    clock->date_us = (int64_t)date * US_PER_SECOND;
    clock->heard_ns = monotonic_ns;
}

int64_t server_clock_date_us(int64_t server_us, int64_t wall_us)
{
    bool agrees = wall_us >= server_us - AGREEMENT_US && wall_us <= server_us + AGREEMENT_US;
    return agrees || server_us == 0 ? wall_us : server_us;
}

int64_t server_clock_now_us(const struct server_clock *clock, uint64_t monotonic_ns)
{
    if (clock->date_us == 0 || monotonic_ns < clock->heard_ns)
        return clock->date_us;
    return clock->date_us + (int64_t)((monotonic_ns - clock->heard_ns) / NS_PER_US);
}
