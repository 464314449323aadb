/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives common/kube against a real API server: kube_probe KUBECONFIG COUNT BYTES makes COUNT
 * ConfigMaps of BYTES each all at once, changes them, reads them and deletes them, while a
 * reflector watches. Prints one JSON object with what was seen; tests/cluster judges it.
 */
#include "common/buf.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/kube/client.h"
#include "common/kube/reflector.h"
#include "common/log.h"
#include "common/parse.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS    100u
#define MAX_WAITS  300u
#define COLLECTION "/api/v1/namespaces/default/configmaps"

enum stage { STAGE_CREATE, STAGE_PATCH, STAGE_GET, STAGE_DELETE, STAGE_COUNT };

struct probe {
    struct loop *loop;
    struct kube_client *client;
    struct reflector *reflector;
    struct loop_timer *timer;
    char *filler;
    uint64_t count;
    uint64_t bytes;
    enum stage stage;
    uint64_t answers;
    uint64_t refused; /* answers that are no success */
    uint64_t live;    /* as the reflector has it: the sum of exists */
    bool *exists;     /* by number, for a later list may show a change before its creation */
    uint64_t changed; /* seen with the value of the patch */
    bool synced;
    unsigned int sockets;
    unsigned int waits;
    uint64_t stage_began_ns;
    double stage_ms[STAGE_COUNT];
};

static void note(struct probe *probe, const char *name, bool exists)
{
    static const char prefix[] = "probe-";
    uint64_t number = 0;

    if (!name || strncmp(name, prefix, sizeof(prefix) - 1) != 0 ||
        parse_u64(name + sizeof(prefix) - 1, 0, probe->count - 1, &number) < 0)
        return;
    probe->live += exists && !probe->exists[number];
    probe->live -= !exists && probe->exists[number];
    probe->exists[number] = exists;
}

static void on_upsert(const cJSON *object, size_t bytes, void *arg)
{
    (void)bytes;
    struct probe *probe = arg;
    const char *value = json_get_string(object, "data.state");

    note(probe, json_get_string(object, "metadata.name"), true);
    probe->changed += value && strcmp(value, "changed") == 0;
}

static void on_remove(const char *name_space, const char *name, const char *uid, void *arg)
{
    (void)name_space;
    (void)uid;
    note(arg, name, false);
}

static unsigned int count_sockets(void)
{
    unsigned int count = 0;
    DIR *dir = opendir("/proc/self/fd");

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[300];
        char target[64] = "";
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
        if (readlink(path, target, sizeof(target) - 1) > 0)
            count += strncmp(target, "socket:", 7) == 0;
    }
    if (dir)
        (void)closedir(dir);
    return count;
}

static void on_answer(const struct kube_response *response, void *arg);

static int send_one(struct probe *probe, uint64_t i)
{
    static const char *const methods[STAGE_COUNT] = {"POST", "PATCH", "GET", "DELETE"};
    cleanup_buf struct buf path = BUF_INIT(256);
    cleanup_buf struct buf body = BUF_INIT(8u << 20);
    struct error err = {0};
    int r = buf_append_str(&path, COLLECTION);

    if (r == 0 && probe->stage != STAGE_CREATE)
        r = buf_printf(&path, "/probe-%llu", (unsigned long long)i);
    if (r == 0 && probe->stage == STAGE_CREATE)
        r = buf_printf(&body,
                       "{\"metadata\":{\"name\":\"probe-%llu\",\"labels\":{\"probe\":\"yes\"}},"
                       "\"data\":{\"state\":\"new\",\"filler\":\"%s\"}}",
                       (unsigned long long)i, probe->filler);
    if (r == 0 && probe->stage == STAGE_PATCH)
        r = buf_append_str(&body, "{\"data\":{\"state\":\"changed\"}}");
    const struct kube_request request = {
        .method = methods[probe->stage],
        .path = buf_str(&path),
        .content_type = probe->stage == STAGE_PATCH ? "application/merge-patch+json" : NULL,
        .body = body.len > 0 ? buf_str(&body) : NULL,
        .body_len = body.len,
        .retry_for_ms = 30000,
    };
    if (r == 0)
        r = kube_client_send(probe->client, &request, on_answer, probe, NULL, &err);
    if (r < 0)
        fprintf(stderr, "can't send: %s\n", err.text);
    return r;
}

static void begin_stage(struct probe *probe)
{
    probe->answers = 0;
    probe->stage_began_ns = clock_monotonic_ns();
    for (uint64_t i = 0; i < probe->count; i++) {
        if (send_one(probe, i) < 0)
            exit(1);
    }
}

/* Events may be behind the answers. */
static bool is_settled(const struct probe *probe)
{
    return probe->live == 0 && probe->changed >= probe->count;
}

static void on_timer(void *arg)
{
    struct probe *probe = arg;

    if (is_settled(probe) || ++probe->waits > MAX_WAITS)
        loop_stop(probe->loop);
    else
        (void)loop_timer_arm(probe->timer, WAIT_MS);
}

static void on_answer(const struct kube_response *response, void *arg)
{
    struct probe *probe = arg;

    if (response->status < 200 || response->status > 299) {
        fprintf(stderr, "%s\n", response->error.text);
        probe->refused++;
    }
    unsigned int sockets = count_sockets();
    if (sockets > probe->sockets)
        probe->sockets = sockets;
    if (++probe->answers < probe->count)
        return;
    probe->stage_ms[probe->stage] =
        (double)(clock_monotonic_ns() - probe->stage_began_ns) / 1000000.0;
    if (++probe->stage == STAGE_COUNT)
        on_timer(probe);
    else
        begin_stage(probe);
}

static void on_synced(void *arg)
{
    struct probe *probe = arg;

    if (!probe->synced)
        begin_stage(probe);
    probe->synced = true;
}

static void print(const struct probe *probe)
{
    struct reflector_stats stats = reflector_stats(probe->reflector);

    printf("{\"refused\": %llu, \"live\": %lld, \"changed\": %llu, \"sockets\": %u, "
           "\"lists\": %lu, \"watches\": %lu, \"errors\": %lu, "
           "\"create_ms\": %.1f, \"patch_ms\": %.1f, \"get_ms\": %.1f, \"delete_ms\": %.1f}\n",
           (unsigned long long)probe->refused, (long long)probe->live,
           (unsigned long long)probe->changed, probe->sockets, stats.lists, stats.watches,
           stats.errors, probe->stage_ms[STAGE_CREATE], probe->stage_ms[STAGE_PATCH],
           probe->stage_ms[STAGE_GET], probe->stage_ms[STAGE_DELETE]);
}

int main(int argc, char **argv)
{
    static const struct reflector_handlers handlers = {
        .upsert = on_upsert, .remove = on_remove, .synced = on_synced};
    const struct reflector_options options = {
        .path = COLLECTION, .label_selector = "probe=yes", .page_size = 10, .name = "configmaps"};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct kube_config config = {0};
    struct error err = {0};
    struct probe probe = {0};

    (void)sigaction(SIGPIPE, &ignore, NULL);
    log_init("kube_probe", LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
    if (argc != 4 || parse_u64(argv[2], 1, 100000, &probe.count) < 0 ||
        parse_u64(argv[3], 1, 4u << 20, &probe.bytes) < 0) {
        fprintf(stderr, "usage: kube_probe KUBECONFIG COUNT BYTES\n");
        return 2;
    }
    probe.filler = malloc(probe.bytes + 1);
    probe.exists = calloc(probe.count, sizeof(*probe.exists));
    if (!probe.filler || !probe.exists)
        return 1;
    memset(probe.filler, 'x', probe.bytes);
    probe.filler[probe.bytes] = '\0';
    if (kube_config_load(argv[1], &config, &err) < 0 || loop_new(&probe.loop, &err) < 0 ||
        loop_timer_new(probe.loop, on_timer, &probe, &probe.timer) < 0 ||
        kube_client_new(probe.loop, &config, "kube_probe/1", &probe.client, &err) < 0 ||
        reflector_new(probe.client, &options, &handlers, &probe, &probe.reflector, &err) < 0 ||
        loop_run(probe.loop, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    print(&probe);
    reflector_free(probe.reflector);
    kube_client_free(probe.client);
    loop_timer_free(probe.timer);
    loop_free(probe.loop);
    kube_config_done(&config);
    free(probe.filler);
    free(probe.exists);
    return 0;
}
