/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/reflector_internal.h"

#include "common/kube/limits.h"
#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

static int stop_if_over(const struct reflector *reflector)
{
    return reflector->dying || reflector->anew ? -ECANCELED : 0;
}

int reflector_upsert(struct reflector *reflector, const cJSON *object, size_t bytes)
{
    char old_uid[KUBE_UID_SIZE];
    const char *name = json_get_string(object, "metadata.name");
    const char *name_space = text_or_empty(json_get_string(object, "metadata.namespace"));
    const char *uid = text_or_empty(json_get_string(object, "metadata.uid"));
    const char *version = text_or_empty(json_get_string(object, "metadata.resourceVersion"));

    if (!name)
        return -EBADMSG;
    reflector_drop_lookup(reflector, name_space, name, "");
    int change = kube_cache_put(reflector->cache, name_space, name, uid, version, old_uid);
    if (change == -ENOSPC) {
        /* Said once: the count goes on in the statistics. */
        if (reflector->stats.left_out++ == 0)
            log_event(LOG_LEVEL_ERROR, "too many objects, leaving the further ones out",
                      LOG_TEXT("watch", reflector->name), LOG_NUMBER("limit", MAX_KUBE_OBJECTS));
        return 0;
    }
    if (change < 0)
        return -EBADMSG;
    if (change == KUBE_CACHE_SAME)
        return 0;
    if (change == KUBE_CACHE_REPLACED) {
        reflector->handlers.remove(name_space, name, old_uid, reflector->arg);
        if (reflector->dying)
            return -ECANCELED;
    }
    reflector->handlers.upsert(object, bytes, reflector->arg);
    return stop_if_over(reflector);
}

int reflector_forget(struct reflector *reflector, const char *name_space, const char *name,
                     const char *uid)
{
    char known_uid[KUBE_UID_SIZE];

    reflector_drop_lookup(reflector, name_space, name, uid);
    if (kube_cache_remove(reflector->cache, name_space, name, uid, known_uid))
        reflector->handlers.remove(name_space, name, known_uid, reflector->arg);
    return stop_if_over(reflector);
}

/* An object whose text is no use, but whose name may be in its first bytes. */
static int take_unreadable(struct reflector *reflector, const char *bytes, size_t len, bool event)
{
    struct scan_identity identity;

    scan_identity(bytes, len, event, &identity);
    if (!identity.name[0])
        return -EBADMSG;
    if (event && strcmp(identity.type, "DELETED") == 0)
        return reflector_forget(reflector, identity.name_space, identity.name, identity.uid);
    if (event && strcmp(identity.type, "ADDED") != 0 && strcmp(identity.type, "MODIFIED") != 0)
        return -EBADMSG;
    (void)kube_cache_touch(reflector->cache, identity.name_space, identity.name);
    if (reflector_look_up(reflector, &identity, len) < 0)
        return -EBADMSG;
    if (event)
        reflector_plan_event(&reflector->plan, identity.resource_version);
    return 0;
}

int reflector_take_item(const char *item, size_t len, bool oversized, void *arg)
{
    struct reflector *reflector = arg;
    cleanup_json cJSON *object = NULL;
    int r;

    reflector->told = true;
    if (!oversized && json_parse(item, len, &object, NULL) == 0) {
        r = reflector_upsert(reflector, object, len);
    } else {
        reflector->stats.oversized += oversized;
        reflector->stats.errors += !oversized;
        r = take_unreadable(reflector, item, len, false);
    }
    /* The rest of the list is still true, but doesn't tell what is missing from it. */
    if (r == -EBADMSG) {
        reflector->partial = true;
        return 0;
    }
    return r;
}

/* Something was said that we can't place: only a new list tells what is true. */
static int lost(struct reflector *reflector)
{
    reflector->stats.errors++;
    reflector->outcome.lost = true;
    return -ECANCELED;
}

static int take_error(struct reflector *reflector, const cJSON *status)
{
    const char *reason = text_or_empty(json_get_string(status, "reason"));
    int64_t code = 0;

    (void)json_get_i64(status, "code", &code);
    if (code == 410 || strcmp(reason, "Expired") == 0 || strcmp(reason, "Gone") == 0)
        reflector->outcome.gone = true;
    else
        reflector->outcome.error_event = true;
    log_event(LOG_LEVEL_INFO, "the watch was ended by an error event",
              LOG_TEXT("watch", reflector->name), LOG_NUMBER("code", code),
              LOG_TEXT("error", text_or_empty(json_get_string(status, "message"))));
    return -ECANCELED;
}

static int take_event(struct reflector *reflector, const char *type, const cJSON *object,
                      size_t bytes)
{
    const char *version = text_or_empty(json_get_string(object, "metadata.resourceVersion"));
    const char *name = json_get_string(object, "metadata.name");
    int r;

    if (strcmp(type, "ERROR") == 0)
        return take_error(reflector, object);
    if (strcmp(type, "BOOKMARK") == 0) {
        reflector->stats.bookmarks++;
        r = 0;
    } else if (strcmp(type, "DELETED") == 0 && name) {
        reflector->stats.events++;
        r = reflector_forget(reflector,
                             text_or_empty(json_get_string(object, "metadata.namespace")), name,
                             text_or_empty(json_get_string(object, "metadata.uid")));
    } else if (strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0) {
        reflector->stats.events++;
        r = reflector_upsert(reflector, object, bytes);
    } else {
        return lost(reflector);
    }
    if (r == -EBADMSG)
        return lost(reflector);
    /* Only now is this version behind us. */
    reflector_plan_event(&reflector->plan, version);
    reflector->outcome.events++;
    return r;
}

int reflector_take_line(const char *line, size_t len, bool oversized, void *arg)
{
    struct reflector *reflector = arg;
    cleanup_json cJSON *event = NULL;

    reflector->told = true;
    if (!oversized && json_parse(line, len, &event, NULL) == 0) {
        const char *type = json_get_string(event, "type");
        const cJSON *object = json_get(event, "object");
        return type && object ? take_event(reflector, type, object, len) : lost(reflector);
    }
    reflector->stats.oversized += oversized;
    int r = take_unreadable(reflector, line, len, true);
    if (r == -EBADMSG)
        return lost(reflector);
    reflector->stats.errors += !oversized;
    reflector->outcome.events++;
    return r;
}

void reflector_sweep(struct reflector *reflector)
{
    const char *name_space;
    const char *name;
    const char *uid;

    while (!reflector->dying &&
           kube_cache_take_unseen(reflector->cache, &name_space, &name, &uid)) {
        reflector_drop_lookup(reflector, name_space, name, "");
        reflector->handlers.remove(name_space, name, uid, reflector->arg);
    }
}
