/* SPDX-License-Identifier: Apache-2.0 */
#include "common/metrics.h"

#include "common/number.h"

#include <math.h>
#include <stdbool.h>

static unsigned int metric_series_count(const struct metric *metric)
{
    if (!metric->label)
        return 1;
    unsigned int count = 0;
    while (count < MAX_METRIC_LABELS && metric->label_values[count])
        count++;
    return count;
}

static unsigned int metric_bucket_count(const struct metric *metric)
{
    return metric->bucket_count < MAX_METRIC_BUCKETS ? metric->bucket_count : MAX_METRIC_BUCKETS;
}

void metric_add(struct metric *metric, unsigned int label, double delta)
{
    bool allowed = metric->type == METRIC_GAUGE || (metric->type == METRIC_COUNTER && delta >= 0);
    if (allowed && isfinite(delta) && label < metric_series_count(metric))
        metric->values[label] += delta;
}

void metric_set(struct metric *metric, unsigned int label, double value)
{
    if (metric->type == METRIC_GAUGE && isfinite(value) && label < metric_series_count(metric))
        metric->values[label] = value;
}

void metric_observe(struct metric *metric, unsigned int label, double value)
{
    if (metric->type != METRIC_HISTOGRAM || !isfinite(value) ||
        label >= metric_series_count(metric))
        return;
    unsigned int bucket = 0, count = metric_bucket_count(metric);
    while (bucket < count && value > metric->buckets[bucket])
        bucket++;
    metric->counts[label][bucket]++;
    metric->values[label] += value;
}

/* name_suffix{label="value",le="bound"} with either label left out where it is NULL. */
static int metric_print_name(const struct metric *metric, unsigned int label, const char *suffix,
                             const char *le, struct buf *buf)
{
    int r = buf_printf(buf, "%s%s", metric->name, suffix);
    if (r == 0 && (metric->label || le))
        r = buf_append_char(buf, '{');
    if (r == 0 && metric->label)
        r = buf_printf(buf, "%s=\"%s\"%s", metric->label, metric->label_values[label],
                       le ? "," : "");
    if (r == 0 && le)
        r = buf_printf(buf, "le=\"%s\"", le);
    if (r == 0 && (metric->label || le))
        r = buf_append_char(buf, '}');
    return r == 0 ? buf_append_char(buf, ' ') : r;
}

static int metric_print_value(const struct metric *metric, unsigned int label, const char *suffix,
                              struct buf *buf)
{
    char text[NUMBER_TEXT_SIZE];
    int r = number_format(metric->values[label], text);
    if (r == 0)
        r = metric_print_name(metric, label, suffix, NULL, buf);
    return r == 0 ? buf_printf(buf, "%s\n", text) : r;
}

static int metric_print_histogram(const struct metric *metric, unsigned int label, struct buf *buf)
{
    uint64_t total = 0;
    unsigned int count = metric_bucket_count(metric);
    for (unsigned int i = 0; i <= count; i++) {
        char bound[NUMBER_TEXT_SIZE] = "+Inf";
        total += metric->counts[label][i];
        int r = i < count ? number_format(metric->buckets[i], bound) : 0;
        if (r == 0)
            r = metric_print_name(metric, label, "_bucket", bound, buf);
        if (r == 0)
            r = buf_printf(buf, "%llu\n", (unsigned long long)total);
        if (r < 0)
            return r;
    }
    int r = metric_print_value(metric, label, "_sum", buf);
    if (r == 0)
        r = metric_print_name(metric, label, "_count", NULL, buf);
    return r == 0 ? buf_printf(buf, "%llu\n", (unsigned long long)total) : r;
}

static int metric_print(const struct metric *metric, struct buf *buf)
{
    static const char *const type_names[] = {
        [METRIC_COUNTER] = "counter",
        [METRIC_GAUGE] = "gauge",
        [METRIC_HISTOGRAM] = "histogram",
    };
    int r = buf_printf(buf, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help,
                       metric->name, type_names[metric->type]);
    unsigned int count = metric_series_count(metric);
    for (unsigned int i = 0; r == 0 && i < count; i++) {
        r = metric->type == METRIC_HISTOGRAM ? metric_print_histogram(metric, i, buf)
                                             : metric_print_value(metric, i, "", buf);
    }
    return r;
}

int metrics_print(struct metric *const *metrics, unsigned int count, struct buf *buf)
{
    size_t before = buf->len;
    for (unsigned int i = 0; i < count; i++) {
        int r = metric_print(metrics[i], buf);
        if (r < 0) {
            buf_truncate(buf, before);
            return r;
        }
    }
    return 0;
}
