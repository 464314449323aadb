/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/unfit.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/listen.h"

struct unfit {
    struct server *server;
    const struct options *options;
    struct checks *checks;
    struct deadline again;
    bool met;
};

static void look_again(void *arg);

static void wait_to_look(struct unfit *unfit)
{
    deadline_arm(&unfit->server->jailer->deadlines, &unfit->again,
                 clock_boottime_ns() + CHECK_AGAIN_MS * UINT64_C(1000000), look_again, unfit);
}

/* There is no sandbox that would have to wait meanwhile. */
static void look_again(void *arg)
{
    struct unfit *unfit = arg;
    checks_run(unfit->server->jailer->proc_fd, unfit->options, unfit->checks);
    unfit->met = checks_are_met(unfit->checks);
    if (!unfit->met)
        wait_to_look(unfit);
}

static int loop(struct unfit *unfit, struct error *err)
{
    int r = 0;
    while (r >= 0 && !unfit->met && !server_is_done(unfit->server))
        r = events_turn(&unfit->server->jailer->events, err);
    deadline_disarm(&unfit->server->jailer->deadlines, &unfit->again);
    if (r >= 0 && unfit->met)
        r = error_set(err, EAGAIN, "nothing is missing any more: ending, to be started anew");
    return r;
}

int unfit_serve(struct server *server, const struct options *options, struct checks *checks,
                const struct error *cause, struct error *err)
{
    struct unfit unfit = {.server = server, .options = options, .checks = checks};
    if (checks_are_met(checks))
        checks_add_start(checks, cause);
    int r = server_listen(server, options->socket_path, options->peer_uid, err);
    if (r < 0) {
        struct error other = *err;
        return error_set(err, cause->code, "%s; no agent can be told: %s", cause->text, other.text);
    }
    checks_log(checks);
    /* The agent reports from it what it started earlier; if it can't be made, a check says so. */
    if (options->spool_dir)
        (void)listen_make_spool(options->spool_dir, options->peer_uid, NULL);
    server_refuse_all(server);
    wait_to_look(&unfit);
    return loop(&unfit, err);
}
