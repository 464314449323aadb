/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/preconditions.h"

#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>

struct text {
    char *at;
    size_t size;
    size_t len;
};

static void append(struct text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Cut at the end; a character of several bytes would be UTF-8 no more, and checks have none. */
static void append(struct text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text->at + text->len, text->size - text->len, fmt, args);
    va_end(args);
    if (n > 0)
        text->len = (size_t)n < text->size - text->len ? text->len + (size_t)n : text->size - 1;
}

static bool is_unmet(const struct proto_check *check)
{
    return check->level == PROTO_REQUIRED && check->outcome != PROTO_OUTCOME_OK;
}

static bool is_failed(const struct proto_check *check)
{
    return is_unmet(check) && check->outcome == PROTO_OUTCOME_FAILED;
}

bool preconditions_met(const struct proto_check *checks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_unmet(&checks[i]))
            return false;
    }
    return true;
}

void preconditions_message(const struct proto_check *checks, size_t count, char *ret_text,
                           size_t size)
{
    struct text text = {.at = ret_text, .size = size};
    const char *separator = "";
    ret_text[0] = '\0';
    if (preconditions_met(checks, count))
        return;
    append(&text, "The node lacks: ");
    for (size_t i = 0; i < count; i++) {
        if (!is_failed(&checks[i]))
            continue;
        append(&text, "%s%s", separator, checks[i].name);
        separator = ", ";
    }
    append(&text, ".");
    for (size_t i = 0; i < count; i++) {
        if (is_failed(&checks[i]))
            append(&text, " %s: %s; %s.", checks[i].name, checks[i].figure, checks[i].advice);
    }
}

void preconditions_log(const struct proto_check *checks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (checks[i].outcome == PROTO_OUTCOME_FAILED && checks[i].level != PROTO_INFORMATION)
            log_event(checks[i].level == PROTO_REQUIRED ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN,
                      "a precondition of the node is missing", LOG_TEXT("check", checks[i].name),
                      LOG_TEXT("found", checks[i].figure), LOG_TEXT("advice", checks[i].advice));
    }
}
