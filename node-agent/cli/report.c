/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/report.h"

#include "common/cleanup.h"
#include "common/yaml.h"
#include "node-agent/cli/exit_code.h"
#include "node-agent/cli/terminal.h"
#include "node-agent/cli/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* Of an end: the message, a name, the usage, what was refused. */
#define MAX_LINE_BYTES  (2u * MAX_STATUS_MESSAGE)
#define MAX_DENIED_TEXT 512

/* Any number of objects at their longest, indented. */
#define MAX_OBJECTS_BYTES ((size_t)MAX_DOCUMENTS * 4 * MAX_OBJECT_BYTES)

struct result {
    bool succeeded;
    int exit_code;
    cJSON *object; /* with -o */
};

struct report {
    const struct document_list *documents;
    const struct run_options *options;
    bool live;      /* bytes are passed on as they come */
    bool to_person; /* somebody watches stderr, and wants to */
    struct writer writers[RUN_STREAM_COUNT];
    struct result *results;
};

static const char *const stream_names[RUN_STREAM_COUNT] = {"stdout", "stderr"};

int report_new(const struct document_list *documents, const struct run_options *options,
               int interrupt_fd, struct report **ret_report, struct error *err)
{
    struct report *report = calloc(1, sizeof(*report));
    if (report)
        report->results = calloc(documents->count + 1, sizeof(*report->results));
    if (!report || !report->results) {
        report_free(report);
        return error_set_errno(err, ENOMEM, "report");
    }
    report->documents = documents;
    report->options = options;
    report->live =
        options->format == OUTPUT_STREAMS && (documents->count == 1 || options->parallel == 1);
    report->to_person = !options->quiet && isatty(STDERR_FILENO) == 1;
    writer_init(&report->writers[RUN_STDOUT], STDOUT_FILENO, interrupt_fd, options->raw);
    writer_init(&report->writers[RUN_STDERR], STDERR_FILENO, interrupt_fd, options->raw);
    *ret_report = report;
    return 0;
}

void report_free(struct report *report)
{
    if (!report)
        return;
    for (size_t i = 0; report->results && i < report->documents->count; i++)
        json_free(report->results[i].object);
    free(report->results);
    free(report);
}

static const char *name_of(const struct report *report, size_t index)
{
    return report->documents->items[index].run.name;
}

static int write_stream(struct report *report, enum run_stream stream, const char *bytes,
                        size_t len, struct error *err)
{
    int r = writer_write(&report->writers[stream], bytes, len);
    if (r < 0)
        return error_set_errno(err, -r, "write to %s", stream_names[stream]);
    return 0;
}

static int end_streams(struct report *report, struct error *err)
{
    for (size_t i = 0; i < RUN_STREAM_COUNT; i++) {
        int r = writer_finish(&report->writers[i]);
        if (r < 0)
            return error_set_errno(err, -r, "write to %s", stream_names[i]);
    }
    return 0;
}

static void write_line(struct report *report, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A line of ours on stderr. If that fails there is nobody to tell. */
static void write_line(struct report *report, const char *fmt, ...)
{
    char text[MAX_LINE_BYTES];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    cleanup_buf struct buf line = BUF_INIT(TERMINAL_FILTER_MAX(sizeof(text)));
    (void)terminal_append_line(text, &line);
    (void)buf_append_char(&line, '\n');
    /* On the same terminal, what the program left on its last line must not run into ours. */
    if (report->to_person && isatty(STDOUT_FILENO) == 1)
        (void)writer_begin_line(&report->writers[RUN_STDOUT]);
    (void)writer_begin_line(&report->writers[RUN_STDERR]);
    (void)writer_write_own(&report->writers[RUN_STDERR], buf_str(&line), line.len);
}

void report_started(struct report *report, size_t index)
{
    if (report->live && report->documents->count > 1 && !report->options->quiet)
        write_line(report, "==> %s", name_of(report, index));
}

void report_running(struct report *report, size_t index)
{
    if (!report->live && report->to_person)
        write_line(report, "sandboxrun: %s: running", name_of(report, index));
}

int report_output(struct report *report, enum run_stream stream, const char *bytes, size_t len,
                  struct error *err)
{
    return report->live ? write_stream(report, stream, bytes, len, err) : 0;
}

/* What a person wants to know beside the message: "; 0.02 s, peak 11.2Mi". */
static void format_usage(const struct run_status *status, char *ret_text, size_t size)
{
    ret_text[0] = '\0';
    if (!status->has_usage)
        return;
    int len = snprintf(ret_text, size, "; %.2f s", (double)status->usage.wall_ms / 1000.0);
    if (status->usage.peak_memory_bytes > 0 && len > 0 && (size_t)len < size)
        (void)snprintf(ret_text + len, size - (size_t)len, ", peak %.1fMi",
                       (double)status->usage.peak_memory_bytes / (1024.0 * 1024.0));
}

/* And what the sandbox refused: "; refused: ptrace 3 times, io_uring_setup". Cut at the room. */
static void format_denied(const struct run_status *status, char *ret_text, size_t size)
{
    size_t len = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; i < status->denied_count && len < size; i++) {
        const struct run_denied *denied = &status->denied[i];
        int n = snprintf(ret_text + len, size - len, "%s%s", i == 0 ? "; refused: " : ", ",
                         denied->target);
        len += n > 0 ? (size_t)n : 0;
        if (denied->count > 1 && len < size) {
            n = snprintf(ret_text + len, size - len, " %" PRIu64 " times", denied->count);
            len += n > 0 ? (size_t)n : 0;
        }
    }
}

/* Whether an end needs a line even where nobody may be watching: the program's own end is told by
 * its exit code and its own words, a cancellation and the jailer's loss by whoever caused or saw
 * them; everything else that the platform does needs an explanation. */
static bool needs_line(const struct report *report, const struct run_status *status)
{
    bool by_itself = status->exit_code >= 0 &&
                     (status->reason == RUN_REASON_COMPLETED ||
                      status->reason == RUN_REASON_ERROR || status->reason == RUN_REASON_SIGNALED);
    bool told = by_itself || status->reason == RUN_REASON_CANCELLED ||
                status->reason == RUN_REASON_JAILER_LOST;
    if (told)
        return report->to_person;
    return !report->options->quiet || exit_code_of(status) == EXIT_CODE_REFUSED;
}

static void write_end(struct report *report, size_t index, const struct run_status *status)
{
    char usage[64] = "", denied[MAX_DENIED_TEXT] = "";
    if (report->to_person) {
        format_usage(status, usage, sizeof(usage));
        format_denied(status, denied, sizeof(denied));
    }
    write_line(report, "%s%s: %s: %s%s%s", report->live ? "sandboxrun: " : "==> ",
               name_of(report, index), run_reason_name(status->reason), status->message, usage,
               denied);
}

/* Several runs at once: each one's output in one piece, under a line that says whose it is. */
static int write_group(struct report *report, size_t index, const struct run_status *status,
                       struct error *err)
{
    if (!report->options->quiet || needs_line(report, status))
        write_end(report, index, status);
    int r = write_stream(report, RUN_STDOUT, status->stdout_text, status->stdout_len, err);
    if (r >= 0)
        r = write_stream(report, RUN_STDERR, status->stderr_text, status->stderr_len, err);
    return r < 0 ? r : end_streams(report, err);
}

int report_finished(struct report *report, size_t index, const struct run_status *status,
                    struct error *err)
{
    struct result *result = &report->results[index];
    result->succeeded = status->phase == RUN_PHASE_SUCCEEDED;
    result->exit_code = exit_code_of(status);
    if (report->options->format != OUTPUT_STREAMS)
        return sandboxrun_with_status(report->documents->items[index].tree, status, &result->object,
                                      err);
    if (!report->live)
        return write_group(report, index, status, err);
    int r = end_streams(report, err);
    if (needs_line(report, status))
        write_end(report, index, status);
    return r;
}

/* One object as it is, several as the List that kubectl prints. */
static int print_json(struct report *report, struct buf *text, struct error *err)
{
    size_t count = report->documents->count;
    if (count == 1 && report->results[0].object)
        return json_print(report->results[0].object, true, text);
    cleanup_json cJSON *list = cJSON_CreateObject();
    if (!list || !cJSON_AddStringToObject(list, "apiVersion", "v1") ||
        !cJSON_AddStringToObject(list, "kind", "List"))
        return error_set_errno(err, ENOMEM, "List");
    cJSON *items = cJSON_AddArrayToObject(list, "items");
    for (size_t i = 0; items && i < count; i++) {
        if (report->results[i].object &&
            !cJSON_AddItemToArray(items, TAKE_PTR(report->results[i].object)))
            return error_set_errno(err, ENOMEM, "List");
    }
    return items ? json_print(list, true, text) : error_set_errno(err, ENOMEM, "List");
}

static int print_yaml(struct report *report, struct buf *text)
{
    int r = 0;
    bool first = true;
    for (size_t i = 0; r >= 0 && i < report->documents->count; i++) {
        if (!report->results[i].object)
            continue;
        if (!first)
            r = buf_append_str(text, "---\n");
        if (r >= 0)
            r = yaml_print(report->results[i].object, text);
        first = false;
    }
    return r;
}

static int print_objects(struct report *report, struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_OBJECTS_BYTES);
    int r = report->options->format == OUTPUT_JSON ? print_json(report, &text, err)
                                                   : print_yaml(report, &text);
    if (r < 0)
        return error_set_errno(err, -r, "print the objects");
    if (text.len > 0 && text.data[text.len - 1] != '\n')
        (void)buf_append_char(&text, '\n');
    return write_stream(report, RUN_STDOUT, buf_str(&text), text.len, err);
}

int report_end(struct report *report, struct error *err)
{
    if (report->options->format != OUTPUT_STREAMS)
        return print_objects(report, err);
    size_t succeeded = 0;
    for (size_t i = 0; i < report->documents->count; i++)
        succeeded += report->results[i].succeeded;
    if (report->documents->count > 1 && report->to_person)
        write_line(report, "sandboxrun: %zu runs: %zu succeeded, %zu failed",
                   report->documents->count, succeeded, report->documents->count - succeeded);
    return 0;
}

int report_exit_code(const struct report *report)
{
    for (size_t i = 0; i < report->documents->count; i++) {
        if (!report->results[i].succeeded)
            return report->results[i].exit_code;
    }
    return 0;
}
