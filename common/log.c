/* SPDX-License-Identifier: Apache-2.0 */
#include "common/log.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/json_string.h"
#include "common/utf8.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* What a pipe takes whole or not at all (pipe(7)), so that lines of processes that share stderr
 * don't mix, and a pipe that poll(2) calls writable has room for. */
enum { MAX_LOG_LINE = PIPE_BUF };

/* Kept free in each line for what ends it. */
#define LOG_TAIL           "}\n"
#define LOG_TAIL_TRUNCATED ",\"truncated\":true}\n"

static const char *log_component = "sandboxrun";
static enum log_level log_lowest = LOG_LEVEL_INFO;
static enum log_format log_form = LOG_FORMAT_JSON;

static const char *const log_level_names[] = {
    [LOG_LEVEL_DEBUG] = "debug",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_ERROR] = "error",
};

void log_init(const char *component, enum log_level level, enum log_format format)
{
    log_component = component;
    log_lowest = level;
    log_form = format;
}

int log_level_parse(const char *text, enum log_level *ret_level)
{
    for (unsigned int i = LOG_LEVEL_DEBUG; i <= LOG_LEVEL_ERROR; i++) {
        if (strcmp(text, log_level_names[i]) == 0) {
            *ret_level = (enum log_level)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* Appends ,"key":"text", cut to what the line still holds. False if it was cut or left out. */
static bool log_append_json_text(struct buf *line, const char *key, const char *text)
{
    size_t before = line->len, len = strlen(text);
    if (buf_printf(line, "%s\"%s\":", before > 0 ? "," : "{", key) < 0)
        return false;
    size_t room = line->max - line->len;
    size_t fit = room >= 2 ? json_string_fit(text, len, room - 2) : 0;
    if ((fit == 0 && len > 0) || json_append_string(line, text, fit) < 0) {
        buf_truncate(line, before);
        return false;
    }
    return fit == len;
}

static bool log_append_json_field(struct buf *line, const struct log_field *field)
{
    if (field->is_number)
        return buf_printf(line, ",\"%s\":%lld", field->key, field->number) == 0;
    return !field->text || log_append_json_text(line, field->key, field->text);
}

static void log_format_json(struct buf *line, enum log_level level, const char *msg,
                            const struct log_field *fields)
{
    char now[CLOCK_TEXT_SIZE];
    clock_format_micro(clock_realtime_us(), now);
    line->max -= sizeof(LOG_TAIL_TRUNCATED) - 1;
    const struct log_field head[] = {
        LOG_TEXT("time", now),
        LOG_TEXT("level", log_level_names[level]),
        LOG_TEXT("component", log_component),
        LOG_TEXT("msg", msg),
    };
    bool complete = true;
    for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
        complete = log_append_json_field(line, &head[i]) && complete;
    for (size_t i = 0; i < MAX_LOG_FIELDS && fields[i].key; i++)
        complete = log_append_json_field(line, &fields[i]) && complete;
    line->max += sizeof(LOG_TAIL_TRUNCATED) - 1;
    (void)buf_append_str(line, complete ? LOG_TAIL : LOG_TAIL_TRUNCATED);
}

/* Text of others never reaches a terminal as control characters (C0, DEL, C1). */
static void log_append_printable(struct buf *line, const char *text)
{
    size_t len = strlen(text);
    while (len > 0) {
        uint32_t code_point = 0;
        size_t used = utf8_decode(text, len, &code_point);
        bool printable =
            used > 0 && code_point >= 0x20 && !(code_point >= 0x7F && code_point < 0xA0);
        int r = printable ? buf_append(line, text, used) : buf_append_char(line, '?');
        if (r < 0)
            return;
        used = used > 0 ? used : 1;
        text += used;
        len -= used;
    }
}

static void log_append_text_field(struct buf *line, const struct log_field *field)
{
    if (field->is_number) {
        (void)buf_printf(line, " %s=%lld", field->key, field->number);
        return;
    }
    if (!field->text)
        return;
    const char *quote = field->text[0] == '\0' || strchr(field->text, ' ') ? "\"" : "";
    (void)buf_printf(line, " %s=%s", field->key, quote);
    log_append_printable(line, field->text);
    (void)buf_append_str(line, quote);
}

static void log_format_text(struct buf *line, enum log_level level, const char *msg,
                            const struct log_field *fields)
{
    line->max -= 1;
    (void)buf_printf(line, "%s: ", log_level_names[level]);
    log_append_printable(line, msg);
    for (size_t i = 0; i < MAX_LOG_FIELDS && fields[i].key; i++)
        log_append_text_field(line, &fields[i]);
    line->max += 1;
    (void)buf_append_char(line, '\n');
}

/* A pipe whose reader stalls would stop whoever logs, and with it the deadlines that it keeps. */
static bool has_room(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    return poll(&poll_fd, 1, 0) != 0;
}

/* One write(2); what does not go out at once is lost, for a log must not stop its program. Nothing
 * is allocated. */
void log_write(enum log_level level, const char *msg, const struct log_field *fields)
{
    if (level < log_lowest)
        return;
    int saved = errno;
    char storage[MAX_LOG_LINE + 1] = "";
    struct buf line = BUF_FIXED(storage);
    if (log_form == LOG_FORMAT_JSON)
        log_format_json(&line, level, msg, fields);
    else
        log_format_text(&line, level, msg, fields);
    ssize_t n = 0;
    do {
        n = has_room(STDERR_FILENO) ? write(STDERR_FILENO, line.data, line.len) : 0;
    } while (n < 0 && errno == EINTR);
    errno = saved;
}
