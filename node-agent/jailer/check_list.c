/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/log.h"
#include "node-agent/jailer/check.h"
#include "node-agent/jailer/limits.h"

#include <poll.h>
#include <stdarg.h>
#include <string.h>

/* Figures quote what stands in files of the host. */
static void make_plain(char *text)
{
    for (char *c = text; *c; c++) {
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
    }
}

void check_add(struct checks *checks, const struct check_kind *kind, enum proto_outcome outcome,
               const char *fmt, ...)
{
    if (checks->count == PROTO_MAX_CHECKS)
        return;
    struct proto_check *check = &checks->results[checks->count++];
    *check = (struct proto_check){.level = kind->level, .outcome = outcome};
    (void)snprintf(check->name, sizeof(check->name), "%s", kind->name);
    if (outcome == PROTO_OUTCOME_FAILED)
        (void)snprintf(check->advice, sizeof(check->advice), "%s", kind->advice);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(check->figure, sizeof(check->figure), fmt, args);
    va_end(args);
    make_plain(check->figure);
    make_plain(check->advice);
}

void check_add_result(struct checks *checks, const struct check_kind *kind, int r,
                      const struct error *err, const char *figure)
{
    if (r < 0)
        check_add(checks, kind, PROTO_OUTCOME_FAILED, "%s", err->text);
    else
        check_add(checks, kind, PROTO_OUTCOME_OK, "%s", figure);
}

void check_add_skipped(struct checks *checks, const struct check_kind *kind, const char *obstacle)
{
    check_add(checks, kind, PROTO_OUTCOME_SKIPPED, "not tried: %s comes first", obstacle);
}

static bool is_unmet(const struct proto_check *check)
{
    return check->level == PROTO_REQUIRED && check->outcome != PROTO_OUTCOME_OK;
}

bool checks_are_met(const struct checks *checks)
{
    for (size_t i = 0; i < checks->count; i++) {
        if (is_unmet(&checks->results[i]))
            return false;
    }
    return true;
}

int checks_require(const struct checks *checks, struct error *err)
{
    for (size_t i = 0; i < checks->count; i++) {
        const struct proto_check *check = &checks->results[i];
        if (is_unmet(check))
            return error_set(err, ENOTSUP, "%s: %s; %s", check->name, check->figure, check->advice);
    }
    return 0;
}

void checks_name_failed(const struct checks *checks, char *ret_text, size_t size)
{
    size_t len = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; i < checks->count; i++) {
        const struct proto_check *check = &checks->results[i];
        if (!is_unmet(check) || check->outcome != PROTO_OUTCOME_FAILED)
            continue;
        int n = snprintf(ret_text + len, size - len, "%s%s", len > 0 ? ", " : "", check->name);
        if (n < 0 || (size_t)n >= size - len)
            return;
        len += (size_t)n;
    }
}

void checks_add_start(struct checks *checks, const struct error *cause)
{
    static const struct check_kind start = {
        "start", PROTO_REQUIRED, "no other check explains this: look at the jailer's log"};
    check_add(checks, &start, PROTO_OUTCOME_FAILED, "%s", cause->text);
}

void checks_log(const struct checks *checks)
{
    for (size_t i = 0; i < checks->count; i++) {
        const struct proto_check *check = &checks->results[i];
        if (check->outcome == PROTO_OUTCOME_FAILED && check->level != PROTO_INFORMATION)
            log_event(check->level == PROTO_REQUIRED ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN,
                      "a precondition of the node is missing", LOG_TEXT("check", check->name),
                      LOG_TEXT("found", check->figure), LOG_TEXT("advice", check->advice));
    }
}

int checks_send(const struct checks *checks, int sock, struct error *err)
{
    for (size_t i = 0; i < checks->count; i++) {
        const struct proto_message message = {.type = PROTO_CHECK, .check = checks->results[i]};
        int r = 0;
        while ((r = proto_send(sock, &message, NULL, 0)) == -EAGAIN) {
            struct pollfd writable = {.fd = sock, .events = POLLOUT};
            if (poll(&writable, 1, CHECKS_SEND_WITHIN_MS) == 0)
                return error_set(err, ETIMEDOUT, "nobody reads the checks");
        }
        if (r < 0)
            return error_set_errno(err, -r, "send check %s", checks->results[i].name);
    }
    return 0;
}
