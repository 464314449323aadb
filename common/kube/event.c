/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/event.h"

#include "common/clock.h"
#include "common/json_string.h"
#include "common/kube/client.h"
#include "common/kube/limits.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define EVENT_STAMP_SIZE 18 /* '.' and 64 bits in hexadecimal digits */

/* The object's name and the time, as kubectl and its libraries name events. What is cut off must
 * leave a letter or digit before the dot. */
void event_make_name(const struct event *event, int64_t time_us,
                     char ret_name[static EVENT_NAME_SIZE])
{
    size_t len = strnlen(event->name, MAX_EVENT_NAME - EVENT_STAMP_SIZE);
    while (len > 0 && !isalnum((unsigned char)event->name[len - 1]))
        len--;
    (void)snprintf(ret_name, EVENT_NAME_SIZE, "%.*s.%" PRIx64, (int)len, event->name,
                   (uint64_t)time_us);
}

static int append_texts(struct buf *body, const char *const *members)
{
    for (size_t i = 0; members[i]; i += 2) {
        int r = json_append_member(body, members[i], members[i + 1]);
        if (r < 0)
            return r;
    }
    return 0;
}

/* At most the API's bound, and not in the middle of a character. */
static size_t note_len(const char *note)
{
    size_t len = strnlen(note, MAX_EVENT_NOTE);
    while (len > 0 && ((unsigned char)note[len] & 0xc0) == 0x80)
        len--;
    return len;
}

static int append_body(const struct event *event, const struct event_reporter *reporter,
                       int64_t time_us, struct buf *body)
{
    char name[EVENT_NAME_SIZE], time[CLOCK_TEXT_SIZE];
    event_make_name(event, time_us, name);
    clock_format_micro(time_us, time);
    const char *const head[] = {"apiVersion", "events.k8s.io/v1", "kind", "Event", NULL};
    const char *const metadata[] = {"name", name, "namespace", event->name_space, NULL};
    const char *const regarding[] = {"apiVersion", event->api_version, "kind", event->kind,
                                     "namespace",  event->name_space,  "name", event->name,
                                     "uid",        event->uid,         NULL};
    const char *const rest[] = {"eventTime",
                                time,
                                "type",
                                event->type == EVENT_WARNING ? "Warning" : "Normal",
                                "reason",
                                event->reason,
                                "action",
                                event->action,
                                "reportingController",
                                reporter->controller,
                                "reportingInstance",
                                reporter->instance,
                                NULL};
    int r = buf_append_char(body, '{');
    if (r == 0)
        r = append_texts(body, head);
    if (r == 0)
        r = buf_append_str(body, ",\"metadata\":{");
    if (r == 0)
        r = append_texts(body, metadata);
    if (r == 0)
        r = buf_append_str(body, "},\"regarding\":{");
    if (r == 0)
        r = append_texts(body, regarding);
    if (r == 0)
        r = buf_append_char(body, '}');
    if (r == 0)
        r = append_texts(body, rest);
    if (r == 0)
        r = buf_append_str(body, ",\"note\":");
    if (r == 0)
        r = json_append_string(body, event->note, note_len(event->note));
    return r < 0 ? r : buf_append_char(body, '}');
}

static int append_path(const char *name_space, const char *name, struct buf *path)
{
    int r = buf_append_str(path, "/apis/events.k8s.io/v1/namespaces/");
    if (r == 0)
        r = kube_append_escaped(path, name_space);
    if (r == 0)
        r = buf_append_str(path, name ? "/events/" : "/events");
    return r == 0 && name ? kube_append_escaped(path, name) : r;
}

int event_encode(const struct event *event, const struct event_reporter *reporter, int64_t time_us,
                 struct buf *path, struct buf *body, struct error *err)
{
    int r = append_path(event->name_space, NULL, path);
    if (r == 0)
        r = append_body(event, reporter, time_us, body);
    return r < 0 ? error_set_errno(err, -r, "can't write an event") : 0;
}

int event_encode_series(const char *name_space, const char *name, uint32_t count, int64_t time_us,
                        struct buf *path, struct buf *body, struct error *err)
{
    char time[CLOCK_TEXT_SIZE];
    clock_format_micro(time_us, time);
    int r = append_path(name_space, name, path);
    if (r == 0)
        r = buf_printf(body, "{\"series\":{\"count\":%" PRIu32 ",\"lastObservedTime\":\"%s\"}}",
                       count, time);
    return r < 0 ? error_set_errno(err, -r, "can't write the series of an event") : 0;
}
