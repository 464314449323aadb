/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/run_status.h"

#include "common/api/quantity.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/json_string.h"
#include "common/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A stream as status can show it: the schema allows so many bytes, marker line included. */
#define MAX_SHOWN_STREAM (MAX_STATUS_STREAM + 1024)

/* The time of a condition that has never been anything else, as the schema's default has it. */
#define NEVER_CHANGED_US 0

enum { STDOUT, STDERR, STREAM_COUNT };

struct stream {
    const char *name;
    const char *text;
    size_t len;
    uint64_t total;
    bool truncated;
    bool shown;
    bool cut;
    size_t head_len; /* if cut */
    size_t tail_len;
};

/* Appends to an object or list; the first failure stays. */
struct writer {
    struct buf *json;
    bool comma;
    int r;
};

static void write_raw(struct writer *w, const char *text)
{
    if (w->r == 0)
        w->r = buf_append_str(w->json, text);
}

static void write_key(struct writer *w, const char *key)
{
    write_raw(w, w->comma ? ",\"" : "\"");
    write_raw(w, key);
    write_raw(w, "\":");
    w->comma = true;
}

static void write_open(struct writer *w, const char *key, const char *bracket)
{
    write_key(w, key);
    write_raw(w, bracket);
    w->comma = false;
}

static void write_close(struct writer *w, const char *bracket)
{
    write_raw(w, bracket);
    w->comma = true;
}

static void write_bytes(struct writer *w, const char *key, const char *bytes, size_t len)
{
    write_key(w, key);
    if (w->r == 0)
        w->r = json_append_string(w->json, bytes ? bytes : "", len);
}

static void write_text(struct writer *w, const char *key, const char *text)
{
    write_bytes(w, key, text, strlen(text));
}

static void write_text_if_set(struct writer *w, const char *key, const char *text)
{
    if (text[0])
        write_text(w, key, text);
}

static void write_number(struct writer *w, const char *key, int64_t value)
{
    write_key(w, key);
    if (w->r == 0)
        w->r = buf_printf(w->json, "%" PRId64, value);
}

static void write_bool(struct writer *w, const char *key, bool value)
{
    write_key(w, key);
    write_raw(w, value ? "true" : "false");
}

static void write_time(struct writer *w, const char *key, int64_t unix_us)
{
    char text[CLOCK_TEXT_SIZE];
    clock_format_micro(unix_us, text);
    write_text(w, key, text);
}

static void write_time_if_set(struct writer *w, const char *key, int64_t unix_us)
{
    if (unix_us > 0)
        write_time(w, key, unix_us);
}

void run_stream_marker(uint64_t left_out, char ret_text[static RUN_STREAM_MARKER_SIZE])
{
    (void)snprintf(ret_text, RUN_STREAM_MARKER_SIZE, "\n[... %" PRIu64 " bytes left out ...]\n",
                   left_out);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The longest suffix, from the start of a character, that encodes to at most size bytes. */
static size_t fit_tail(const char *text, size_t len, size_t size)
{
    /* No text is longer than its encoding, so the tail has at most size bytes. */
    size_t low = len - smaller(len, size);
    size_t high = len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (json_string_size(text + middle, len - middle) <= size)
            high = middle;
        else
            low = middle + 1;
    }
    while (low < len && ((unsigned char)text[low] & 0xc0) == 0x80)
        low++;
    return len - low;
}

static void stream_cut(struct stream *stream, size_t budget)
{
    stream->cut = true;
    stream->truncated = true;
    stream->head_len = 0;
    stream->tail_len = 0;
    /* Too little for head, marker and tail: better nothing than crumbs. */
    if (budget < 2 * (size_t)RUN_STREAM_MARKER_SIZE)
        return;
    /* Its newlines take two bytes each. */
    budget -= RUN_STREAM_MARKER_SIZE + 2;
    /* Text that was cut before has its marker between these two: it doesn't survive. */
    size_t head_max = smaller(stream->len, MAX_STATUS_STREAM_HEAD);
    stream->head_len = json_string_fit(stream->text, head_max, budget / 4 * 3);
    size_t tail_max = smaller(stream->len - stream->head_len, MAX_STATUS_STREAM_TAIL);
    stream->tail_len = fit_tail(stream->text + stream->len - tail_max, tail_max, budget / 4);
}

/* Shares what the rest of the status leaves: each gets half, and what the other doesn't need. */
static void streams_fit(struct stream streams[static STREAM_COUNT], size_t room)
{
    size_t sizes[STREAM_COUNT];
    size_t total = 0;
    for (unsigned int i = 0; i < STREAM_COUNT; i++) {
        sizes[i] = streams[i].shown ? json_string_size(streams[i].text, streams[i].len) : 0;
        total += sizes[i];
    }
    if (total <= room)
        return;
    for (unsigned int i = 0; i < STREAM_COUNT; i++) {
        size_t other = smaller(sizes[1 - i], room / 2);
        if (sizes[i] > room - other)
            stream_cut(&streams[i], room - other);
    }
}

/* NUL is valid UTF-8, and yet text that much software can't carry, the readers of our own objects
 * included: it is shown as U+FFFD, as bytes that are no UTF-8 are. */
static int append_shown(struct buf *text, const char *bytes, size_t len)
{
    int r = 0;
    while (r == 0) {
        const char *nul = memchr(bytes, '\0', len);
        size_t part = nul ? (size_t)(nul - bytes) : len;
        r = buf_append(text, bytes, part);
        if (!nul)
            break;
        if (r == 0)
            r = buf_append_str(text, UTF8_REPLACEMENT);
        bytes += part + 1;
        len -= part + 1;
    }
    return r;
}

static void write_stream_text(struct writer *w, const struct stream *stream)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_SHOWN_STREAM * strlen(UTF8_REPLACEMENT));
    int r = append_shown(&text, stream->text, stream->cut ? stream->head_len : stream->len);
    if (r == 0 && stream->cut) {
        char marker[RUN_STREAM_MARKER_SIZE] = "";
        uint64_t total = stream->total > stream->len ? stream->total : stream->len;
        if (stream->head_len + stream->tail_len > 0)
            run_stream_marker(total - stream->head_len - stream->tail_len, marker);
        r = buf_append_str(&text, marker);
        if (r == 0)
            r = append_shown(&text, stream->text + stream->len - stream->tail_len,
                             stream->tail_len);
    }
    if (w->r == 0)
        w->r = r;
    write_bytes(w, stream->name, buf_str(&text), text.len);
}

static void write_streams(struct writer *w, const struct stream streams[static STREAM_COUNT],
                          bool with_text)
{
    static const char *const bytes_keys[STREAM_COUNT] = {"stdoutBytes", "stderrBytes"};
    static const char *const truncated_keys[STREAM_COUNT] = {"stdoutTruncated", "stderrTruncated"};
    for (unsigned int i = 0; i < STREAM_COUNT; i++) {
        if (!streams[i].shown)
            continue;
        if (with_text)
            write_stream_text(w, &streams[i]);
        else
            write_text(w, streams[i].name, "");
        write_number(w, bytes_keys[i], (int64_t)streams[i].total);
        write_bool(w, truncated_keys[i], streams[i].truncated);
    }
}

static void write_usage(struct writer *w, const struct run_status *status)
{
    if (!status->has_usage)
        return;
    write_open(w, "usage", "{");
    write_number(w, "cpuMilliseconds", (int64_t)status->usage.cpu_ms);
    if (status->usage.peak_memory_bytes > 0)
        write_number(w, "peakMemoryBytes", (int64_t)status->usage.peak_memory_bytes);
    write_number(w, "wallMilliseconds", (int64_t)status->usage.wall_ms);
    write_close(w, "}");
}

static void write_effective(struct writer *w, const struct run_status *status)
{
    char text[QUANTITY_TEXT_SIZE];
    if (!status->has_effective)
        return;
    write_open(w, "effective", "{");
    write_number(w, "timeoutSeconds", status->effective_timeout_seconds);
    quantity_format_bytes(status->effective_memory_bytes, text);
    write_text(w, "memory", text);
    quantity_format_milli(status->effective_cpu_milli, text);
    write_text(w, "cpu", text);
    write_text_if_set(w, "runtimeVersion", status->effective_runtime_version);
    write_close(w, "}");
}

static void write_denied(struct writer *w, const struct run_status *status)
{
    if (status->denied_count == 0)
        return;
    write_open(w, "denied", "[");
    for (size_t i = 0; i < status->denied_count; i++) {
        const struct run_denied *denied = &status->denied[i];
        write_raw(w, w->comma ? ",{" : "{");
        w->comma = false;
        write_text(w, "kind", run_denied_kind_name(denied->kind));
        write_text(w, "target", denied->target);
        write_number(w, "count", (int64_t)denied->count);
        write_close(w, "}");
    }
    write_close(w, "]");
}

static void write_condition(struct writer *w, const char *type, bool is_true, const char *reason,
                            const char *message, int64_t since_us)
{
    write_raw(w, w->comma ? ",{" : "{");
    w->comma = false;
    write_text(w, "type", type);
    write_text(w, "status", is_true ? "True" : "False");
    write_text(w, "reason", reason);
    write_text(w, "message", message);
    write_time(w, "lastTransitionTime", since_us);
    write_close(w, "}");
}

static void write_conditions(struct writer *w, const struct run_status *status)
{
    bool terminal = run_phase_is_terminal(status->phase);
    const char *reason = run_reason_name(status->reason);
    if (!reason[0])
        reason = run_phase_name(status->phase);
    write_open(w, "conditions", "[");
    if (status->scheduled_us > 0) {
        char message[sizeof(status->node_name) + 32];
        (void)snprintf(message, sizeof(message), "Assigned to node %s.", status->node_name);
        write_condition(w, "Scheduled", true, "Assigned", message, status->scheduled_us);
    } else if (terminal) {
        write_condition(w, "Scheduled", false, reason, "The run ended without a node.",
                        status->completion_us);
    }
    if (terminal)
        write_condition(w, "Finished", true, reason, status->message, status->completion_us);
    else
        write_condition(w, "Finished", false, run_phase_name(status->phase),
                        "The run has not finished.", NEVER_CHANGED_US);
    write_close(w, "]");
}

/* Fields in the order of the schema. */
static int write_status(const struct run_status *status,
                        const struct stream streams[static STREAM_COUNT], bool with_text,
                        struct buf *json)
{
    struct writer w = {.json = json};
    write_raw(&w, "{");
    write_text(&w, "phase", run_phase_name(status->phase));
    write_text_if_set(&w, "reason", run_reason_name(status->reason));
    write_text_if_set(&w, "message", status->message);
    write_text_if_set(&w, "sandboxID", status->sandbox_id);
    write_text_if_set(&w, "nodeName", status->node_name);
    write_text_if_set(&w, "agentInstance", status->agent_instance);
    write_time_if_set(&w, "scheduledTime", status->scheduled_us);
    write_time_if_set(&w, "startTime", status->start_us);
    write_time_if_set(&w, "completionTime", status->completion_us);
    if (status->has_exit_code)
        write_number(&w, "exitCode", status->exit_code);
    write_streams(&w, streams, with_text);
    write_usage(&w, status);
    write_effective(&w, status);
    write_denied(&w, status);
    write_conditions(&w, status);
    if (status->observed_generation > 0)
        write_number(&w, "observedGeneration", status->observed_generation);
    write_close(&w, "}");
    return w.r;
}

static struct stream stream_make(const struct run_status *status, unsigned int index)
{
    bool first = index == STDOUT;
    struct stream stream = {
        .name = first ? "stdout" : "stderr",
        .text = first ? status->stdout_text : status->stderr_text,
        .len = first ? status->stdout_len : status->stderr_len,
        .total = first ? status->stdout_bytes : status->stderr_bytes,
        .truncated = first ? status->stdout_truncated : status->stderr_truncated,
    };
    /* A program that ran and wrote nothing has an empty output, one that never ran has none. */
    stream.shown = stream.text || stream.total > 0 ||
                   (run_phase_is_terminal(status->phase) && status->start_us > 0);
    if (!stream.text) {
        stream.text = "";
        stream.len = 0;
    }
    if (stream.len > MAX_SHOWN_STREAM)
        stream_cut(&stream, SIZE_MAX);
    return stream;
}

int run_status_encode(const struct run_status *status, size_t max_bytes, struct buf *json,
                      struct error *err)
{
    struct stream streams[STREAM_COUNT];
    for (unsigned int i = 0; i < STREAM_COUNT; i++)
        streams[i] = stream_make(status, i);

    int r = 0;
    if (max_bytes > 0) {
        cleanup_buf struct buf frame = BUF_INIT(MAX_OBJECT_BYTES);
        r = write_status(status, streams, false, &frame);
        if (r == 0)
            streams_fit(streams, max_bytes > frame.len ? max_bytes - frame.len : 0);
    }
    size_t before = json->len;
    if (r == 0)
        r = write_status(status, streams, true, json);
    if (r < 0) {
        buf_truncate(json, before);
        return error_set_errno(err, -r, "can't encode the status of a run");
    }
    return 0;
}
