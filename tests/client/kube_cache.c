/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A consumer of common/kube that the tests drive: kube_cache KUBECONFIG SILENCE_MS PAGE_SIZE keeps
 * a cache of one collection by a reflector and obeys the lines of its standard input:
 *
 *   dump                                  prints the cache and what it has taken to get there
 *   send ID METHOD RETRY_MS PATH [BODY]   makes a request; its answer is printed when it comes
 *   urgent ID METHOD RETRY_MS PATH [BODY] the same, without waiting for a place
 *   cancel ID                             cancels it
 *
 * Every answer is a line of JSON. It ends, freeing everything, with its input.
 */
#include "common/buf.h"
#include "common/cleanup.h"
#include "common/json.h"
#include "common/kube/client.h"
#include "common/kube/reflector.h"
#include "common/log.h"
#include "common/parse.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLLECTION "/apis/test.dev/v1/things"
#define MAX_LINE   (8u << 20)

struct object {
    struct object *next;
    char *key; /* namespace/name */
    char *uid;
    char *version;
    char *value; /* spec.value; NULL: metadata only */
};

#define BUCKETS 4096u

struct request {
    struct request *next;
    struct cache *cache;
    struct kube_call *call;
    uint64_t id;
};

struct cache {
    struct loop *loop;
    struct kube_client *client;
    struct reflector *reflector;
    struct loop_io *input;
    struct buf line;
    struct object *objects[BUCKETS];
    struct request *requests;
    unsigned long upserts;
    unsigned long removes;
    unsigned long syncs;
    unsigned long wrong; /* told of in an order that no consumer could follow */
};

static struct object **find(struct cache *cache, const char *key)
{
    uint32_t hash = 2166136261u;

    for (const char *c = key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    struct object **place = &cache->objects[hash % BUCKETS];
    while (*place && strcmp((*place)->key, key) != 0)
        place = &(*place)->next;
    return place;
}

static char *make_key(const char *name_space, const char *name)
{
    char *key = NULL;

    if (asprintf(&key, "%s/%s", name_space ? name_space : "", name) < 0)
        exit(1);
    return key;
}

static char *copy(const char *text)
{
    char *copied = strdup(text ? text : "");

    if (!copied)
        exit(1);
    return copied;
}

static void drop(struct object **place)
{
    struct object *object = *place;

    *place = object->next;
    free(object->key);
    free(object->uid);
    free(object->version);
    free(object->value);
    free(object);
}

static void on_upsert(const cJSON *tree, size_t bytes, void *arg)
{
    (void)bytes;
    struct cache *cache = arg;
    const char *uid = json_get_string(tree, "metadata.uid");
    char *key = make_key(json_get_string(tree, "metadata.namespace"),
                         json_get_string(tree, "metadata.name"));
    struct object **place = find(cache, key);

    cache->upserts++;
    /* The object of that name that was here before must have been taken away first. */
    cache->wrong += *place && strcmp((*place)->uid, uid ? uid : "") != 0;
    if (*place)
        drop(place);
    struct object *object = calloc(1, sizeof(*object));
    if (!object)
        exit(1);
    object->key = key;
    object->uid = copy(uid);
    object->version = copy(json_get_string(tree, "metadata.resourceVersion"));
    if (json_get(tree, "spec"))
        object->value = copy(json_get_string(tree, "spec.value"));
    object->next = *place;
    *place = object;
}

static void on_remove(const char *name_space, const char *name, const char *uid, void *arg)
{
    struct cache *cache = arg;
    char *key = make_key(name_space, name);
    struct object **place = find(cache, key);

    cache->removes++;
    cache->wrong += !*place || strcmp((*place)->uid, uid) != 0;
    if (*place)
        drop(place);
    free(key);
}

static void on_synced(void *arg)
{
    struct cache *cache = arg;

    cache->syncs++;
}

static void print_text(struct buf *text, const char *key, const char *value)
{
    (void)buf_printf(text, "\"%s\":", key);
    if (!value || json_append_string(text, value, strlen(value)) < 0)
        (void)buf_append_str(text, "null");
}

static void print_objects(const struct cache *cache, struct buf *text)
{
    const char *separator = "";

    for (size_t i = 0; i < BUCKETS; i++) {
        for (const struct object *object = cache->objects[i]; object; object = object->next) {
            (void)buf_append_str(text, separator);
            (void)buf_append_char(text, '[');
            (void)json_append_string(text, object->key, strlen(object->key));
            (void)buf_append_str(text, ",{");
            print_text(text, "uid", object->uid);
            (void)buf_append_char(text, ',');
            print_text(text, "version", object->version);
            (void)buf_append_char(text, ',');
            print_text(text, "value", object->value);
            (void)buf_append_str(text, "}]");
            separator = ",";
        }
    }
}

static void say(const struct buf *text)
{
    puts(buf_str(text));
    (void)fflush(stdout);
}

static void dump(const struct cache *cache)
{
    cleanup_buf struct buf text = BUF_INIT(64u << 20);
    struct reflector_stats stats = reflector_stats(cache->reflector);

    (void)buf_printf(&text,
                     "{\"healthy\":%s,\"upserts\":%lu,\"removes\":%lu,\"syncs\":%lu,\"wrong\":%lu,"
                     "\"lists\":%lu,\"watches\":%lu,\"events\":%lu,\"bookmarks\":%lu,"
                     "\"errors\":%lu,\"oversized\":%lu,\"objects\":[",
                     reflector_is_healthy(cache->reflector) ? "true" : "false", cache->upserts,
                     cache->removes, cache->syncs, cache->wrong, stats.lists, stats.watches,
                     stats.events, stats.bookmarks, stats.errors, stats.oversized);
    print_objects(cache, &text);
    (void)buf_append_str(&text, "]}");
    say(&text);
}

static void forget_request(struct request *request)
{
    struct request **place = &request->cache->requests;

    while (*place != request)
        place = &(*place)->next;
    *place = request->next;
    free(request);
}

static void on_answer(const struct kube_response *response, void *arg)
{
    cleanup_buf struct buf text = BUF_INIT(64u << 20);
    struct request *request = arg;

    (void)buf_printf(&text, "{\"id\":%llu,\"status\":%d,\"bytes\":%zu,",
                     (unsigned long long)request->id, response->status, response->body_len);
    print_text(&text, "reason", response->reason);
    (void)buf_append_char(&text, ',');
    print_text(&text, "error", response->error.code ? response->error.text : "");
    (void)buf_append_char(&text, ',');
    print_text(&text, "body", response->body_len < 65536 ? response->body : "");
    (void)buf_append_char(&text, '}');
    say(&text);
    forget_request(request);
}

static char *next_word(char **line)
{
    return strsep(line, " ");
}

static void send_request(struct cache *cache, char *line, bool urgent)
{
    const char *id = next_word(&line);
    const char *method = next_word(&line);
    const char *retry = next_word(&line);
    const char *path = next_word(&line);
    struct request *request = calloc(1, sizeof(*request));
    struct error err = {0};
    uint64_t retry_ms = 0;

    if (!request || !path || parse_u64(id, 0, UINT64_MAX, &request->id) < 0 ||
        parse_u64(retry, 0, UINT64_MAX, &retry_ms) < 0)
        exit(2);
    request->cache = cache;
    request->next = cache->requests;
    cache->requests = request;
    const struct kube_request made = {
        .method = method,
        .path = path,
        .content_type = strcmp(method, "PATCH") == 0 ? "application/merge-patch+json" : NULL,
        .body = line,
        .body_len = line ? strlen(line) : 0,
        .retry_for_ms = retry_ms,
        .urgent = urgent,
    };
    if (kube_client_send(cache->client, &made, on_answer, request, &request->call, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}

static void cancel(struct cache *cache, const char *text)
{
    uint64_t id = 0;

    if (!text || parse_u64(text, 0, UINT64_MAX, &id) < 0)
        exit(2);
    for (struct request *request = cache->requests; request; request = request->next) {
        if (request->id != id)
            continue;
        kube_call_cancel(request->call);
        forget_request(request);
        return;
    }
}

static void obey(struct cache *cache, char *line)
{
    const char *word = next_word(&line);

    if (strcmp(word, "dump") == 0)
        dump(cache);
    else if (strcmp(word, "send") == 0 || strcmp(word, "urgent") == 0)
        send_request(cache, line, word[0] == 'u');
    else if (strcmp(word, "cancel") == 0)
        cancel(cache, line);
    else
        exit(2);
}

static void on_input(int fd, unsigned int events, void *arg)
{
    struct cache *cache = arg;
    char piece[65536];
    ssize_t n = read(fd, piece, sizeof(piece));

    (void)events;
    if (n <= 0) {
        loop_stop(cache->loop);
        return;
    }
    if (buf_append(&cache->line, piece, (size_t)n) < 0)
        exit(2);
    for (char *end; (end = memchr(cache->line.data, '\n', cache->line.len));) {
        *end = '\0';
        obey(cache, cache->line.data);
        buf_consume(&cache->line, (size_t)(end + 1 - cache->line.data));
    }
}

static void done(struct cache *cache)
{
    loop_io_free(cache->input);
    reflector_free(cache->reflector);
    kube_client_free(cache->client);
    while (cache->requests)
        forget_request(cache->requests);
    for (size_t i = 0; i < BUCKETS; i++) {
        while (cache->objects[i])
            drop(&cache->objects[i]);
    }
    buf_done(&cache->line);
    loop_free(cache->loop);
}

int main(int argc, char **argv)
{
    static const struct reflector_handlers handlers = {
        .upsert = on_upsert, .remove = on_remove, .synced = on_synced};
    struct reflector_options options = {.path = COLLECTION, .name = "things"};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct kube_config config = {0};
    struct error err = {0};
    struct cache cache = {0};
    uint64_t silence_ms = 0;
    uint64_t page_size = 0;

    (void)sigaction(SIGPIPE, &ignore, NULL);
    log_init("kube_cache", LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
    buf_init(&cache.line, MAX_LINE);
    if (argc != 4 || parse_u64(argv[2], 0, UINT32_MAX, &silence_ms) < 0 ||
        parse_u64(argv[3], 0, UINT32_MAX, &page_size) < 0) {
        fprintf(stderr, "usage: kube_cache KUBECONFIG SILENCE_MS PAGE_SIZE\n");
        return 2;
    }
    options.silence_ms = (unsigned int)silence_ms;
    options.page_size = (unsigned int)page_size;
    if (kube_config_load(argv[1], &config, &err) < 0 || loop_new(&cache.loop, &err) < 0 ||
        loop_io_new(cache.loop, STDIN_FILENO, LOOP_READ, on_input, &cache, &cache.input) < 0 ||
        kube_client_new(cache.loop, &config, "kube_cache/1", &cache.client, &err) < 0 ||
        reflector_new(cache.client, &options, &handlers, &cache, &cache.reflector, &err) < 0 ||
        loop_run(cache.loop, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    kube_config_done(&config);
    done(&cache);
    return 0;
}
