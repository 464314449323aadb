/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"

#include <stdint.h>

/*
 * Counters, gauges and histograms as static tables, printed as Prometheus text 0.0.4. Labels are
 * one bounded enumeration per metric, fixed at compile time; no label ever comes from a user.
 */
enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

#define MAX_METRIC_LABELS  24
#define MAX_METRIC_BUCKETS 20

struct metric {
    const char *name; /* sandboxrun_..., base units */
    const char *help;
    enum metric_type type;
    const char *label;               /* label name, NULL for none */
    const char *const *label_values; /* values, NULL-terminated, at most MAX_METRIC_LABELS */
    const double *buckets;           /* upper bounds in ascending order; without +Inf */
    unsigned int bucket_count;
    double values[MAX_METRIC_LABELS]; /* counter or gauge; sum for a histogram */
    uint64_t counts[MAX_METRIC_LABELS][MAX_METRIC_BUCKETS + 1];
};

/* label is the index into label_values; 0 where there is no label. Out of range counts nowhere, nor
 * does NaN, an infinity, a counter's negative delta, or a call for another type of metric. */
void metric_add(struct metric *metric, unsigned int label, double delta);
void metric_set(struct metric *metric, unsigned int label, double value);
void metric_observe(struct metric *metric, unsigned int label, double value);

/* Appends the exposition of count metrics to buf; on failure buf is as before. */
int metrics_print(struct metric *const *metrics, unsigned int count, struct buf *buf);
