/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata-only GETs for objects that are too large or that our JSON reader refuses. Whoever may
 * create objects may create many such at once, so few are asked for at a time and the others wait:
 * the places in flight are for heartbeats and results. A refused GET is tried again until
 * something newer has been heard of its object.
 */
#include "common/kube/reflector_internal.h"

#include "common/cleanup.h"
#include "common/hash.h"
#include "common/kube/limits.h"
#include "common/kube/retry.h"
#include "common/log.h"
#include "common/random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Padded with zeros: it is hashed whole. */
struct lookup_name {
    char name_space[254];
    char name[254];
};

struct lookup {
    UT_hash_handle hh;
    struct reflector *reflector;
    struct kube_call *call; /* NULL: it waits for its turn */
    struct lookup_name name;
    char uid[KUBE_UID_SIZE]; /* "" if that could not be read */
    size_t bytes;            /* of the whole object */
};

static void pump(struct reflector *reflector);

static struct lookup *find(const struct reflector *reflector, const char *name_space,
                           const char *name)
{
    struct lookup_name key = {0};
    struct lookup *lookup = NULL;
    size_t space_len = strlen(name_space);
    size_t len = strlen(name);

    if (!reflector->lookups || space_len >= sizeof(key.name_space) || len >= sizeof(key.name))
        return NULL;
    memcpy(key.name_space, name_space, space_len);
    memcpy(key.name, name, len);
    HASH_FIND(hh, reflector->lookups, &key, sizeof(key), lookup);
    return lookup;
}

static void end_call(struct lookup *lookup)
{
    if (lookup->call)
        lookup->reflector->lookups_active--;
    lookup->call = NULL;
}

static void free_lookup(struct lookup *lookup)
{
    end_call(lookup);
    HASH_DEL(lookup->reflector->lookups, lookup);
    free(lookup);
}

static void cancel(struct lookup *lookup)
{
    struct kube_call *call = lookup->call;

    free_lookup(lookup);
    kube_call_cancel(call);
}

void reflector_drop_lookup(struct reflector *reflector, const char *name_space, const char *name,
                           const char *uid)
{
    struct lookup *lookup = find(reflector, name_space, name);

    if (!lookup || (uid[0] && lookup->uid[0] && strcmp(uid, lookup->uid) != 0))
        return;
    cancel(lookup);
    pump(reflector);
}

void reflector_drop_lookups(struct reflector *reflector)
{
    loop_timer_disarm(reflector->lookup_timer);
    while (reflector->lookups)
        cancel(reflector->lookups);
}

/* An answer that can't be read either still says who the object is. */
static cJSON *name_only(const struct kube_response *response)
{
    struct scan_identity identity;
    cJSON *tree = cJSON_CreateObject();
    cJSON *metadata = tree ? cJSON_AddObjectToObject(tree, "metadata") : NULL;

    scan_identity(response->body, response->body_len, false, &identity);
    if (!metadata || !identity.name[0] ||
        !cJSON_AddStringToObject(metadata, "name", identity.name) ||
        !cJSON_AddStringToObject(metadata, "namespace", identity.name_space) ||
        !cJSON_AddStringToObject(metadata, "uid", identity.uid) ||
        !cJSON_AddStringToObject(metadata, "resourceVersion", identity.resource_version)) {
        json_free(tree);
        return NULL;
    }
    return tree;
}

/* Behind the others, which may fare better, and all of them after a wait. */
static void put_off(struct lookup *lookup, const struct error *err)
{
    struct reflector *reflector = lookup->reflector;
    unsigned int failures = ++reflector->lookup_failures;
    uint32_t random = 0;

    (void)random_bytes(&random, sizeof(random));
    uint64_t delay_ms = retry_delay_ms(failures, 0, random);
    /* The first of a row, then at every doubling. */
    if ((failures & (failures - 1)) == 0)
        log_event(LOG_LEVEL_WARN, "can't read the metadata of an object, trying again",
                  LOG_TEXT("watch", reflector->name),
                  LOG_TEXT("namespace", lookup->name.name_space),
                  LOG_TEXT("name", lookup->name.name), LOG_NUMBER("failures", failures),
                  LOG_NUMBER("delayMs", (long long)delay_ms), LOG_TEXT("error", err->text));
    HASH_DEL(reflector->lookups, lookup);
    HASH_ADD(hh, reflector->lookups, name, sizeof(lookup->name), lookup);
    if (!lookup->hh.tbl)
        free(lookup);
    reflector->lookups_wait = loop_timer_arm(reflector->lookup_timer, delay_ms) == 0;
}

static void take_answer(struct lookup *lookup, const struct kube_response *response)
{
    struct reflector *reflector = lookup->reflector;
    const struct lookup_name name = lookup->name;
    size_t bytes = lookup->bytes;
    cleanup_json cJSON *tree = NULL;

    if (response->status != 404 && response->status != 200) {
        put_off(lookup, &response->error);
        return;
    }
    reflector->lookup_failures = 0;
    free_lookup(lookup);
    if (response->status == 404) {
        (void)reflector_forget(reflector, name.name_space, name.name, "");
        return;
    }
    if (json_parse(response->body, response->body_len, &tree, NULL) < 0)
        tree = name_only(response);
    if (!tree || reflector_upsert(reflector, tree, bytes) == -EBADMSG)
        log_event(LOG_LEVEL_ERROR, "the metadata of an object makes no sense, leaving it out",
                  LOG_TEXT("watch", reflector->name), LOG_TEXT("namespace", name.name_space),
                  LOG_TEXT("name", name.name));
}

static void on_answer(const struct kube_response *response, void *arg)
{
    struct lookup *lookup = arg;
    struct reflector *reflector = lookup->reflector;

    end_call(lookup);
    reflector_enter(reflector);
    take_answer(lookup, response);
    pump(reflector);
    reflector_leave(reflector);
}

/* The collection's path with the object's namespace and name. */
static int append_object_path(struct buf *path, const char *collection,
                              const struct lookup_name *name)
{
    const char *resource = strrchr(collection, '/');
    int r = 0;

    if (!resource)
        return -EINVAL;
    if (name->name_space[0] && !strstr(collection, "/namespaces/")) {
        r = buf_append(path, collection, (size_t)(resource - collection));
        if (r == 0)
            r = buf_append_str(path, "/namespaces/");
        if (r == 0)
            r = kube_append_escaped(path, name->name_space);
        if (r == 0)
            r = buf_append_str(path, resource);
    } else {
        r = buf_append_str(path, collection);
    }
    if (r == 0)
        r = buf_append_char(path, '/');
    return r == 0 ? kube_append_escaped(path, name->name) : r;
}

static int ask(struct lookup *lookup, struct error *err)
{
    struct reflector *reflector = lookup->reflector;
    cleanup_buf struct buf path = BUF_INIT(MAX_KUBE_URL);
    int r = append_object_path(&path, reflector->path, &lookup->name);

    if (r < 0)
        return error_set_errno(err, -r, "can't make the path of a request");
    const struct kube_request request = {
        .method = "GET",
        .path = buf_str(&path),
        .accept = KUBE_METADATA_ONLY,
        .retry_for_ms = UINT64_MAX,
    };
    r = kube_client_send(reflector->client, &request, on_answer, lookup, &lookup->call, err);
    if (r == 0)
        reflector->lookups_active++;
    return r;
}

static void pump(struct reflector *reflector)
{
    struct lookup *lookup;
    struct lookup *next;
    struct error err = {0};

    if (reflector->dying)
        return;
    HASH_ITER (hh, reflector->lookups, lookup, next) {
        if (reflector->lookups_wait || reflector->lookups_active >= MAX_KUBE_LOOKUPS_SENT)
            return;
        if (!lookup->call && ask(lookup, &err) < 0) {
            put_off(lookup, &err);
            return;
        }
    }
}

static void on_timer(void *arg)
{
    struct reflector *reflector = arg;

    reflector->lookups_wait = false;
    pump(reflector);
}

int reflector_look_up(struct reflector *reflector, const struct scan_identity *identity,
                      size_t bytes)
{
    struct lookup *lookup = find(reflector, identity->name_space, identity->name);

    if (lookup)
        cancel(lookup);
    if (HASH_COUNT(reflector->lookups) >= MAX_KUBE_LOOKUPS)
        return -EBUSY;
    lookup = calloc(1, sizeof(*lookup));
    if (!lookup)
        return -ENOMEM;
    lookup->reflector = reflector;
    lookup->bytes = bytes;
    memcpy(lookup->name.name_space, identity->name_space, strlen(identity->name_space));
    memcpy(lookup->name.name, identity->name, strlen(identity->name));
    memcpy(lookup->uid, identity->uid, sizeof(lookup->uid));
    HASH_ADD(hh, reflector->lookups, name, sizeof(lookup->name), lookup);
    if (!lookup->hh.tbl) {
        free(lookup);
        return -ENOMEM;
    }
    pump(reflector);
    return 0;
}

int reflector_lookups_init(struct reflector *reflector)
{
    return loop_timer_new(kube_client_loop(reflector->client), on_timer, reflector,
                          &reflector->lookup_timer);
}

void reflector_lookups_done(struct reflector *reflector)
{
    reflector_drop_lookups(reflector);
    loop_timer_free(reflector->lookup_timer);
}
