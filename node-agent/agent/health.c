/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/health.h"

#include <errno.h>
#include <stdlib.h>

struct health {
    struct http_server *server;
    struct health_sources sources;
    void *arg;
};

static int answer_healthz(struct buf *body, const char **ret_content_type, void *arg)
{
    (void)ret_content_type;
    (void)arg;
    return buf_append_str(body, "ok\n") == 0 ? 200 : 500;
}

static int answer_readyz(struct buf *body, const char **ret_content_type, void *arg)
{
    const struct health *health = arg;
    const char *text = "ok";
    bool ready = health->sources.ready(&text, health->arg);

    (void)ret_content_type;
    if (buf_printf(body, "%s\n", text) < 0)
        return 500;
    return ready ? 200 : 503;
}

static int answer_metrics(struct buf *body, const char **ret_content_type, void *arg)
{
    const struct health *health = arg;

    *ret_content_type = "text/plain; version=0.0.4";
    return health->sources.metrics(body, health->arg) == 0 ? 200 : 500;
}

static const struct http_route routes[] = {
    {"/healthz", answer_healthz},
    {"/readyz", answer_readyz},
    {"/metrics", answer_metrics},
    {NULL, NULL},
};

int health_new(struct loop *loop, const char *address, const struct health_sources *sources,
               void *arg, struct health **ret_health, struct error *err)
{
    struct health *health = calloc(1, sizeof(*health));

    if (!health)
        return error_set_errno(err, ENOMEM, "can't serve /healthz");
    health->sources = *sources;
    health->arg = arg;
    int r = http_server_new(loop, address, routes, health, &health->server, err);
    if (r < 0) {
        free(health);
        return r;
    }
    *ret_health = health;
    return 0;
}

void health_free(struct health *health)
{
    if (!health)
        return;
    http_server_free(health->server);
    free(health);
}
