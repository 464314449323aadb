/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/resolver_metrics.h"

#include "common/cleanup.h"
#include "common/metrics.h"

static const char *const outcome_words[] = {
    [OUTCOME_ANSWERED] = "answered",
    [OUTCOME_EMPTY] = "empty",
    [OUTCOME_NXDOMAIN] = "nxdomain",
    [OUTCOME_NAME] = "name_refused",
    [OUTCOME_ADDRESS] = "address_refused",
    [OUTCOME_TYPE] = "type_refused",
    [OUTCOME_RATE] = "rate_limited",
    [OUTCOME_SPENT] = "budget_spent",
    [OUTCOME_BUSY] = "busy",
    [OUTCOME_MALFORMED] = "malformed",
    [OUTCOME_CLIENT] = "unknown_client",
    [OUTCOME_NO_JAILER] = "no_jailer",
    [OUTCOME_UPSTREAM] = "upstream_failed",
    [OUTCOME_NOT_OPENED] = "not_opened",
    [OUTCOME_TRUNCATED] = "truncated",
    [OUTCOME_GONE] = "gone",
    [OUTCOME_COUNT] = NULL,
};

static const char *const failure_words[] = {
    [UPSTREAM_TIMEOUT] = "timeout",     [UPSTREAM_UNREACHABLE] = "unreachable",
    [UPSTREAM_RCODE] = "rcode",         [UPSTREAM_MALFORMED] = "malformed",
    [UPSTREAM_STRAY] = "stray_answers", NULL,
};

static const char *const address_words[] = {
    [ADDRESS_TOLD] = "told",
    [ADDRESS_FORBIDDEN] = "forbidden",
    [ADDRESS_NOT_OPENED] = "not_opened",
    [ADDRESS_BEYOND] = "beyond",
    NULL,
};

static const double upstream_buckets[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                          0.1,   0.2,   0.5,   1,    2,    4};

#define COUNTER(metric_name, text)                                                                 \
    {                                                                                              \
        .name = "sandboxrun_resolver_" metric_name, .help = text, .type = METRIC_COUNTER           \
    }
#define GAUGE(metric_name, text)                                                                   \
    {                                                                                              \
        .name = "sandboxrun_resolver_" metric_name, .help = text, .type = METRIC_GAUGE             \
    }

static struct metric queries = {.name = "sandboxrun_resolver_queries_total",
                                .help = "Queries by what became of them.",
                                .type = METRIC_COUNTER,
                                .label = "outcome",
                                .label_values = outcome_words};
static struct metric cache_hits =
    COUNTER("cache_hits_total", "Queries answered from what the same sandbox had asked before.");
static struct metric upstream_failures = {.name = "sandboxrun_resolver_upstream_failures_total",
                                          .help = "Tries of an upstream that failed, by cause.",
                                          .type = METRIC_COUNTER,
                                          .label = "cause",
                                          .label_values = failure_words};
static struct metric upstream_seconds = {.name = "sandboxrun_resolver_upstream_seconds",
                                         .help = "From a question to the upstream's answer.",
                                         .type = METRIC_HISTOGRAM,
                                         .buckets = upstream_buckets,
                                         .bucket_count = ARRAY_SIZE(upstream_buckets)};
static struct metric addresses = {.name = "sandboxrun_resolver_addresses_total",
                                  .help = "Addresses in upstreams' answers by what became of them.",
                                  .type = METRIC_COUNTER,
                                  .label = "verdict",
                                  .label_values = address_words};
static struct metric lost_lines =
    COUNTER("lost_log_lines_total", "Decisions that were not logged for their rate.");
static struct metric lost_denials =
    COUNTER("lost_denials_total",
            "Refused names that the jailer was not told of, for their rate or its slowness.");
static struct metric jailer_connections =
    COUNTER("jailer_connections_total", "Connections to the jailer that came to its hello.");
static struct metric jailer_connected =
    GAUGE("jailer_connected", "1 while there is a connection to the jailer.");
static struct metric open_slots = GAUGE("open_slots", "Sandboxes that may ask.");
static struct metric lookups = GAUGE("lookups", "Lookups under way.");
static struct metric tcp_connections = GAUGE("tcp_connections", "TCP connections of sandboxes.");

static struct metric *const all[] = {
    &queries,          &cache_hits, &upstream_failures, &upstream_seconds,
    &addresses,        &lost_lines, &lost_denials,      &jailer_connections,
    &jailer_connected, &open_slots, &lookups,           &tcp_connections,
};

const char *outcome_word(enum outcome outcome)
{
    return outcome_words[outcome];
}

void metrics_count_query(enum outcome outcome)
{
    metric_add(&queries, outcome, 1);
}

void metrics_count_cache_hit(void)
{
    metric_add(&cache_hits, 0, 1);
}

void metrics_count_upstream_failure(enum upstream_failure failure)
{
    metric_add(&upstream_failures, failure, 1);
}

void metrics_observe_upstream(uint64_t taken_ms)
{
    metric_observe(&upstream_seconds, 0, (double)taken_ms / 1000);
}

void metrics_count_addresses(enum address_verdict verdict, unsigned int count)
{
    metric_add(&addresses, verdict, count);
}

void metrics_count_lost_log_line(void)
{
    metric_add(&lost_lines, 0, 1);
}

void metrics_count_lost_denial(void)
{
    metric_add(&lost_denials, 0, 1);
}

void metrics_count_jailer(void)
{
    metric_add(&jailer_connections, 0, 1);
}

void metrics_set_jailer(int connected)
{
    metric_set(&jailer_connected, 0, connected);
}

void metrics_set_load(unsigned int slots, unsigned int under_way, unsigned int connections)
{
    metric_set(&open_slots, 0, slots);
    metric_set(&lookups, 0, under_way);
    metric_set(&tcp_connections, 0, connections);
}

int resolver_metrics_print(struct buf *buf)
{
    return metrics_print(all, ARRAY_SIZE(all), buf);
}
