/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/reflector_internal.h"

#include "common/cleanup.h"
#include "common/kube/limits.h"
#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* A metadata-only GET for an object that is too large, or that our JSON reader refuses. */
struct lookup {
    struct lookup *prev;
    struct lookup *next;
    struct reflector *reflector;
    struct kube_call *call;
    char name_space[254];
    char name[254];
};

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

static void free_lookup(struct lookup *lookup)
{
    DL_DELETE(lookup->reflector->lookups, lookup);
    lookup->reflector->lookup_count--;
    free(lookup);
}

/* A word about the object that is newer than the GET makes its answer worthless. */
static void drop_lookup(struct reflector *reflector, const char *name_space, const char *name)
{
    struct lookup *lookup;
    struct lookup *next;

    DL_FOREACH_SAFE (reflector->lookups, lookup, next) {
        if (strcmp(lookup->name, name) == 0 && strcmp(lookup->name_space, name_space) == 0) {
            kube_call_cancel(lookup->call);
            free_lookup(lookup);
        }
    }
}

void reflector_drop_lookups(struct reflector *reflector)
{
    struct lookup *lookup;
    struct lookup *next;

    DL_FOREACH_SAFE (reflector->lookups, lookup, next) {
        kube_call_cancel(lookup->call);
        free_lookup(lookup);
    }
}

static int stop_if_dying(const struct reflector *reflector)
{
    return reflector->dying ? -ECANCELED : 0;
}

/* 0; -EBADMSG if it can't be taken in; -ECANCELED. */
static int upsert(struct reflector *reflector, const cJSON *object)
{
    char old_uid[KUBE_UID_SIZE];
    const char *name = json_get_string(object, "metadata.name");
    const char *name_space = text_or_empty(json_get_string(object, "metadata.namespace"));
    const char *uid = text_or_empty(json_get_string(object, "metadata.uid"));
    const char *version = text_or_empty(json_get_string(object, "metadata.resourceVersion"));

    if (!name)
        return -EBADMSG;
    drop_lookup(reflector, name_space, name);
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
    reflector->handlers.upsert(object, reflector->arg);
    return stop_if_dying(reflector);
}

static int forget(struct reflector *reflector, const char *name_space, const char *name)
{
    char uid[KUBE_UID_SIZE];

    drop_lookup(reflector, name_space, name);
    if (kube_cache_remove(reflector->cache, name_space, name, uid))
        reflector->handlers.remove(name_space, name, uid, reflector->arg);
    return stop_if_dying(reflector);
}

static void on_lookup(const struct kube_response *response, void *arg)
{
    struct lookup *lookup = arg;
    struct reflector *reflector = lookup->reflector;
    cleanup_json cJSON *tree = NULL;
    struct lookup done = *lookup;

    free_lookup(lookup);
    reflector_enter(reflector);
    if (response->status == 404)
        (void)forget(reflector, done.name_space, done.name);
    else if (response->status == 200 &&
             json_parse(response->body, response->body_len, &tree, NULL) == 0)
        (void)upsert(reflector, tree);
    else
        log_event(LOG_LEVEL_ERROR, "can't read the metadata of an object that is too large",
                  LOG_TEXT("watch", reflector->name), LOG_TEXT("namespace", done.name_space),
                  LOG_TEXT("name", done.name),
                  LOG_TEXT("error", response->status == 200 ? "the answer is no JSON object"
                                                            : response->error.text));
    reflector_leave(reflector);
}

/* The collection's path with the object's namespace and name. */
static int append_object_path(struct buf *path, const char *collection, const char *name_space,
                              const char *name)
{
    const char *resource = strrchr(collection, '/');
    int r = 0;

    if (!resource)
        return -EINVAL;
    if (name_space[0] && !strstr(collection, "/namespaces/")) {
        r = buf_append(path, collection, (size_t)(resource - collection));
        if (r == 0)
            r = buf_append_str(path, "/namespaces/");
        if (r == 0)
            r = kube_append_escaped(path, name_space);
        if (r == 0)
            r = buf_append_str(path, resource);
    } else {
        r = buf_append_str(path, collection);
    }
    if (r == 0)
        r = buf_append_char(path, '/');
    return r == 0 ? kube_append_escaped(path, name) : r;
}

static int look_up(struct reflector *reflector, const struct scan_identity *identity)
{
    cleanup_buf struct buf path = BUF_INIT(MAX_KUBE_URL);

    drop_lookup(reflector, identity->name_space, identity->name);
    if (reflector->lookup_count >= MAX_KUBE_LOOKUPS)
        return -EBUSY;
    int r = append_object_path(&path, reflector->path, identity->name_space, identity->name);
    struct lookup *lookup = r == 0 ? calloc(1, sizeof(*lookup)) : NULL;
    if (!lookup)
        return -ENOMEM;
    lookup->reflector = reflector;
    memcpy(lookup->name, identity->name, sizeof(lookup->name));
    memcpy(lookup->name_space, identity->name_space, sizeof(lookup->name_space));
    const struct kube_request request = {
        .method = "GET",
        .path = buf_str(&path),
        .accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        .retry_for_ms = UINT64_MAX,
    };
    r = kube_client_send(reflector->client, &request, on_lookup, lookup, &lookup->call, NULL);
    if (r < 0) {
        free(lookup);
        return r;
    }
    DL_APPEND(reflector->lookups, lookup);
    reflector->lookup_count++;
    return 0;
}

/* An object whose text is no use, but whose name may be in its first bytes. */
static int take_unreadable(struct reflector *reflector, const char *bytes, size_t len, bool event)
{
    struct scan_identity identity;

    scan_identity(bytes, len, event, &identity);
    if (!identity.name[0])
        return -EBADMSG;
    if (event && strcmp(identity.type, "DELETED") == 0)
        return forget(reflector, identity.name_space, identity.name);
    if (event && strcmp(identity.type, "ADDED") != 0 && strcmp(identity.type, "MODIFIED") != 0)
        return -EBADMSG;
    (void)kube_cache_touch(reflector->cache, identity.name_space, identity.name);
    if (look_up(reflector, &identity) < 0)
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

    if (!oversized && json_parse(item, len, &object, NULL) == 0) {
        r = upsert(reflector, object);
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

static int take_event(struct reflector *reflector, const char *type, const cJSON *object)
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
        r = forget(reflector, text_or_empty(json_get_string(object, "metadata.namespace")), name);
    } else if (strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0) {
        reflector->stats.events++;
        r = upsert(reflector, object);
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

    if (!oversized && json_parse(line, len, &event, NULL) == 0) {
        const char *type = json_get_string(event, "type");
        const cJSON *object = json_get(event, "object");
        return type && object ? take_event(reflector, type, object) : lost(reflector);
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
        drop_lookup(reflector, name_space, name);
        reflector->handlers.remove(name_space, name, uid, reflector->arg);
    }
}
