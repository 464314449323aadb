/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/doctor_report.h"

#include "common/cleanup.h"
#include "common/json.h"
#include "common/yaml.h"
#include "node-agent/cli/terminal.h"

#include <string.h>

/* On a terminal of UTF-8, and elsewhere. */
enum glyphs { GLYPHS_ASCII, GLYPHS_UTF8, GLYPHS_COUNT };

static const char *const ok_marks[GLYPHS_COUNT] = {"ok  ", "✓"};
static const char *const skipped_marks[GLYPHS_COUNT] = {"skip", "-"};
static const char *const advice_marks[GLYPHS_COUNT] = {"     ->", "  →"};
static const char *const failed_marks[][GLYPHS_COUNT] = {
    [PROTO_REQUIRED] = {"FAIL", "✗"},
    [PROTO_RECOMMENDED] = {"warn", "!"},
    [PROTO_INFORMATION] = {"info", "i"},
};

static const char *const level_names[] = {
    [PROTO_REQUIRED] = "required",
    [PROTO_RECOMMENDED] = "recommended",
    [PROTO_INFORMATION] = "information",
};

static const char *const outcome_names[] = {
    [PROTO_OUTCOME_OK] = "ok",
    [PROTO_OUTCOME_FAILED] = "failed",
    [PROTO_OUTCOME_SKIPPED] = "skipped",
};

static void set_text(char *ret_text, size_t size, const char *text)
{
    cleanup_buf struct buf plain = BUF_INIT(TERMINAL_FILTER_MAX(PROTO_ADVICE_SIZE));
    char cut[PROTO_ADVICE_SIZE];
    (void)snprintf(cut, sizeof(cut), "%s", text);
    (void)terminal_append_line(cut, &plain);
    (void)snprintf(ret_text, size, "%s", buf_str(&plain));
}

void doctor_report_add(struct doctor_report *report, const char *name, enum proto_outcome outcome,
                       const char *figure, const char *advice)
{
    if (report->count == MAX_DOCTOR_CHECKS)
        return;
    struct proto_check *check = &report->checks[report->count++];
    *check = (struct proto_check){.level = PROTO_REQUIRED, .outcome = outcome};
    set_text(check->name, sizeof(check->name), name);
    set_text(check->figure, sizeof(check->figure), figure);
    set_text(check->advice, sizeof(check->advice), advice);
}

static bool is_unmet(const struct proto_check *check)
{
    return check->level == PROTO_REQUIRED && check->outcome != PROTO_OUTCOME_OK;
}

bool doctor_report_is_ok(const struct doctor_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        if (is_unmet(&report->checks[i]))
            return false;
    }
    return report->count > 0;
}

static const char *mark_of(const struct proto_check *check, enum glyphs glyphs)
{
    if (check->outcome == PROTO_OUTCOME_OK)
        return ok_marks[glyphs];
    if (check->outcome == PROTO_OUTCOME_SKIPPED)
        return skipped_marks[glyphs];
    return failed_marks[check->level][glyphs];
}

static int print_check(const struct proto_check *check, int width, enum glyphs glyphs,
                       struct buf *text)
{
    int r = buf_printf(text, "%s %-*s  %s\n", mark_of(check, glyphs), width, check->name,
                       check->figure);
    if (r >= 0 && check->advice[0])
        r = buf_printf(text, "%s %s\n", advice_marks[glyphs], check->advice);
    return r;
}

static int print_verdict(const struct doctor_report *report, struct buf *text)
{
    size_t counts[PROTO_OUTCOME_SKIPPED + 1] = {0};
    for (size_t i = 0; i < report->count; i++)
        counts[report->checks[i].outcome]++;
    return buf_printf(text, "\n%zu checks: %zu ok, %zu failed, %zu skipped. %s\n", report->count,
                      counts[PROTO_OUTCOME_OK], counts[PROTO_OUTCOME_FAILED],
                      counts[PROTO_OUTCOME_SKIPPED],
                      doctor_report_is_ok(report) ? "This machine can make sandboxes."
                                                  : "This machine can't make sandboxes yet.");
}

int doctor_report_print_text(const struct doctor_report *report, bool utf8, struct buf *text)
{
    enum glyphs glyphs = utf8 ? GLYPHS_UTF8 : GLYPHS_ASCII;
    size_t width = 0;
    int r = 0;
    for (size_t i = 0; i < report->count; i++) {
        size_t len = strlen(report->checks[i].name);
        width = len > width ? len : width;
    }
    for (size_t i = 0; i < report->count && r >= 0; i++)
        r = print_check(&report->checks[i], (int)width, glyphs, text);
    return r < 0 ? r : print_verdict(report, text);
}

static int add_check(cJSON *list, const struct proto_check *check)
{
    cJSON *item = cJSON_CreateObject();
    if (!item || !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        return -ENOMEM;
    }
    if (!cJSON_AddStringToObject(item, "name", check->name) ||
        !cJSON_AddStringToObject(item, "level", level_names[check->level]) ||
        !cJSON_AddStringToObject(item, "outcome", outcome_names[check->outcome]) ||
        !cJSON_AddStringToObject(item, "figure", check->figure) ||
        (check->advice[0] && !cJSON_AddStringToObject(item, "advice", check->advice)))
        return -ENOMEM;
    return 0;
}

int doctor_report_print_object(const struct doctor_report *report, enum output_format format,
                               struct buf *text)
{
    cleanup_json cJSON *tree = cJSON_CreateObject();
    if (!tree || !cJSON_AddBoolToObject(tree, "ok", doctor_report_is_ok(report)))
        return -ENOMEM;
    cJSON *list = cJSON_AddArrayToObject(tree, "checks");
    int r = list ? 0 : -ENOMEM;
    for (size_t i = 0; i < report->count && r >= 0; i++)
        r = add_check(list, &report->checks[i]);
    if (r < 0)
        return r;
    r = format == OUTPUT_JSON ? json_print(tree, true, text) : yaml_print(tree, text);
    if (r >= 0 && text->len > 0 && text->data[text->len - 1] != '\n')
        r = buf_append_char(text, '\n');
    return r;
}
