/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/server.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "node-agent/jailer/admission.h"
#include "node-agent/jailer/ceilings.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/listen.h"
#include "node-agent/jailer/sandbox.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/utsname.h>

typedef int (*server_handle_fn)(struct server *server, const struct proto_message *message,
                                struct error *err);

static void say_to_agent(const struct proto_message *message, const int *fds, void *arg)
{
    struct server *server = arg;
    connection_say(&server->connection, message, fds, fds ? PROTO_CREATED_FDS : 0);
    if (message->type == PROTO_REFUSED)
        log_event(LOG_LEVEL_WARN, "refused a sandbox", LOG_TEXT("sandbox", message->refused.id),
                  LOG_TEXT("lock", message->refused.lock),
                  LOG_TEXT("error", message->refused.text));
}

static void say_refused(struct server *server, const char *id, const struct error *cause)
{
    struct proto_message message = {.type = PROTO_REFUSED,
                                    .refused = {.errnum = (uint32_t)cause->code}};
    (void)snprintf(message.refused.id, sizeof(message.refused.id), "%s", id);
    (void)snprintf(message.refused.lock, sizeof(message.refused.lock), "request");
    (void)snprintf(message.refused.text, sizeof(message.refused.text), "%.*s", PROTO_TEXT_SIZE - 1,
                   cause->text);
    say_to_agent(&message, NULL, server);
}

static int handle_create(struct server *server, const struct proto_message *message,
                         struct error *err)
{
    const struct proto_create *create = &message->create;
    if (sandbox_find(server->jailer, create->id))
        return error_set(err, EPROTO, "CREATE of sandbox %s, which exists", create->id);
    struct error cause;
    if (admission_check(server->jailer, create, &cause) < 0) {
        say_refused(server, create->id, &cause);
        return 0;
    }
    const struct sandbox_listener listener = {.say = say_to_agent, .arg = server};
    struct sandbox *sandbox = pools_take(&server->jailer->pools, create);
    if (sandbox && sandbox_adopt(sandbox, create, &listener, &cause) >= 0)
        return 0;
    if (sandbox)
        log_event(LOG_LEVEL_WARN, "a sandbox made ahead could not be used",
                  LOG_TEXT("sandbox", create->id), LOG_TEXT("error", cause.text));
    struct proto_message refused = {.type = PROTO_REFUSED};
    if (sandbox_create(server->jailer, create, &listener, &sandbox, &refused.refused) < 0)
        say_to_agent(&refused, NULL, server);
    return 0;
}

static int handle_create_stopping(struct server *server, const struct proto_message *message,
                                  struct error *err)
{
    (void)err;
    struct error cause;
    (void)error_set(&cause, ESHUTDOWN, "the jailer is shutting down");
    say_refused(server, message->create.id, &cause);
    return 0;
}

static int handle_create_unfit(struct server *server, const struct proto_message *message,
                               struct error *err)
{
    (void)err;
    char failed[PROTO_FIGURE_SIZE];
    struct error cause;
    checks_name_failed(server->checks, failed, sizeof(failed));
    (void)error_set(&cause, ENOTSUP, "this node can't make jails: it lacks %s", failed);
    say_refused(server, message->create.id, &cause);
    return 0;
}

/* The agent may have been stopped after it made up its mind, and the word may have lain here: the
 * run would go on when its node counts as lost already. */
static int check_instant(uint64_t not_after_ns, struct error *err)
{
    uint64_t now_ns = clock_boottime_ns();
    if (not_after_ns == 0 || now_ns <= not_after_ns)
        return 0;
    return error_set(err, ESTALE, "its start came %llu ms later than the node's lease allows",
                     (unsigned long long)((now_ns - not_after_ns) / UINT64_C(1000000)));
}

/* One that ended a moment ago is unknown here while the agent's word is on its way. */
static int handle_start(struct server *server, const struct proto_message *message,
                        struct error *err)
{
    const struct proto_start *start = &message->start;
    struct sandbox *sandbox = sandbox_find(server->jailer, start->id);
    if (!sandbox || sandbox->state >= SANDBOX_SWEEPING)
        return 0;
    if (sandbox->state != SANDBOX_READY)
        return error_set(err, EPROTO, "START of sandbox %s, which is %s", start->id,
                         sandbox->state <= SANDBOX_CREATING ? "not created yet" : "started");
    struct error cause;
    if (ceilings_check_start(sandbox->profile, start->timeout_ms, &cause) < 0 ||
        check_instant(start->not_after_boottime_ns, &cause) < 0)
        sandbox_refuse(sandbox, "request", &cause);
    else
        sandbox_start(sandbox, start->timeout_ms);
    return 0;
}

static int handle_kill(struct server *server, const struct proto_message *message,
                       struct error *err)
{
    (void)err;
    struct sandbox *sandbox = sandbox_find(server->jailer, message->kill.id);
    if (sandbox)
        sandbox_end(sandbox, PROTO_END_KILLED);
    return 0;
}

static int handle_nothing(struct server *server, const struct proto_message *message,
                          struct error *err)
{
    (void)server;
    (void)message;
    (void)err;
    return 0;
}

struct server_rule {
    enum proto_type type;
    server_handle_fn handle;
};

#define MAX_RULES 4

/* All that an agent may say, by phase. */
static const struct server_rule rules[SERVER_PHASE_COUNT][MAX_RULES] = {
    [SERVER_SERVING] = {{PROTO_CREATE, handle_create},
                        {PROTO_START, handle_start},
                        {PROTO_KILL, handle_kill}},
    /* Without a hello there is nothing to say. */
    [SERVER_STANDBY] = {{0}},
    [SERVER_UNFIT] = {{PROTO_CREATE, handle_create_unfit},
                      {PROTO_START, handle_nothing},
                      {PROTO_KILL, handle_nothing}},
    /* A start may have been on its way. */
    [SERVER_LEAVING] = {{PROTO_CREATE, handle_create_stopping},
                        {PROTO_START, handle_start},
                        {PROTO_KILL, handle_kill}},
    [SERVER_STOPPING] = {{PROTO_CREATE, handle_create_stopping},
                         {PROTO_START, handle_nothing},
                         {PROTO_KILL, handle_nothing}},
};

static int on_message(const struct proto_message *message, void *arg, struct error *err)
{
    struct server *server = arg;
    const struct server_rule *rule = rules[server->phase];
    for (size_t i = 0; i < MAX_RULES && rule[i].handle; i++) {
        if (rule[i].type == message->type)
            return rule[i].handle(server, message, err);
    }
    return error_set(err, EPROTO, "message of type %d, which is not an agent's",
                     (int)message->type);
}

/* Those that wait for a run know nothing of this agent, and serve the next one. */
static void end_all(struct server *server, bool forget)
{
    for (struct sandbox *sandbox = server->jailer->sandboxes; sandbox; sandbox = sandbox->next) {
        if (forget && sandbox->pool)
            continue;
        if (forget)
            sandbox_forget_listener(sandbox);
        sandbox_end(sandbox, PROTO_END_SHUTDOWN);
    }
}

static void on_listener(uint32_t events, void *arg);

static void watch_listener(struct server *server)
{
    int r = events_add(&server->jailer->events, &server->listener, server->listen_fd, EPOLLIN,
                       on_listener, server);
    if (r < 0)
        log_event(LOG_LEVEL_ERROR, "no agent can connect any more", LOG_NUMBER("errno", -r));
}

static void on_connection_end(const struct error *err, void *arg)
{
    struct server *server = arg;
    struct jailer *jailer = server->jailer;
    log_event(err ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "connection to the agent ended",
              LOG_TEXT("error", err ? err->text : NULL),
              LOG_NUMBER("sandboxes", jailer->sandbox_count));
    end_all(server, true);
    if (server->single || server->phase == SERVER_LEAVING)
        server_stop(server);
    else if (server->phase != SERVER_STOPPING)
        watch_listener(server);
}

static void say_checks(struct server *server)
{
    for (size_t i = 0; server->checks && i < server->checks->count; i++) {
        const struct proto_message message = {.type = PROTO_CHECK,
                                              .check = server->checks->results[i]};
        connection_say(&server->connection, &message, NULL, 0);
    }
}

static void fill_offer(const struct jailer *jailer, struct proto_hello *hello)
{
    hello->cgroup_version = cgroup_system_version(jailer->cgroups);
    hello->profiles = ceilings_offered(network_is_offered(&jailer->network));
    hello->max_runs = jailer->max_runs;
    hello->memory_bytes = jailer->memory_capacity_bytes;
    hello->cpu_milli = jailer->cpu_capacity_milli;
    hello->landlock_abi = jailer->landlock_abi;
    hello->runtime_count = (uint32_t)jailer->runtimes.count;
    for (size_t i = 0; i < jailer->runtimes.count; i++) {
        memcpy(hello->runtimes[i].name, jailer->runtimes.entries[i].name, PROTO_RUNTIME_SIZE);
        memcpy(hello->runtimes[i].version, jailer->runtimes.entries[i].version, PROTO_VERSION_SIZE);
    }
}

static void say_hello(struct server *server)
{
    struct proto_message message = {.type = PROTO_HELLO, .hello.version = PROTO_VERSION};
    struct proto_hello *hello = &message.hello;
    if (server->phase != SERVER_UNFIT)
        fill_offer(server->jailer, hello);
    struct utsname system;
    if (uname(&system) == 0)
        (void)snprintf(hello->kernel, sizeof(hello->kernel), "%s", system.release);
    connection_say(&server->connection, &message, NULL, 0);
}

void server_say_pools(struct server *server)
{
    const struct pools *pools = &server->jailer->pools;
    for (uint32_t i = 0; connection_is_open(&server->connection) && i < pools->count; i++) {
        struct proto_message message = {.type = PROTO_POOL};
        pools_totals(pools, i, &message.pool);
        connection_say(&server->connection, &message, NULL, 0);
    }
}

static void say_notice(struct server *server, enum proto_notice_kind kind)
{
    const struct proto_message message = {.type = PROTO_NOTICE, .notice.kind = kind};
    connection_say(&server->connection, &message, NULL, 0);
}

static void greet(struct server *server)
{
    if (server->phase == SERVER_STANDBY) {
        say_notice(server, PROTO_NOTICE_WAITING);
        return;
    }
    say_checks(server);
    say_hello(server);
    server_say_pools(server);
}

static int open_connection(struct server *server, int sock, struct error *err)
{
    const struct connection_handlers handlers = {
        .message = on_message, .ended = on_connection_end, .arg = server};
    int r = connection_open(&server->connection, &server->jailer->events, sock, &handlers, err);
    if (r >= 0)
        greet(server);
    return r;
}

static int check_peer(const struct server *server, int sock, struct error *err)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return error_set_errno(err, errno, "read the peer's credentials");
    if (peer.uid != server->peer_uid)
        return error_set(err, EPERM, "the peer has uid %u, the agent %u", peer.uid,
                         server->peer_uid);
    return 0;
}

/* While an agent is served the next one waits in the backlog. */
static void on_listener(uint32_t events, void *arg)
{
    (void)events;
    struct server *server = arg;
    struct error err;
    cleanup_close int sock = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (sock < 0)
        return;
    if (check_peer(server, sock, &err) < 0) {
        log_event(LOG_LEVEL_WARN, "turned a peer away", LOG_TEXT("error", err.text));
        return;
    }
    (void)events_remove(&server->jailer->events, &server->listener);
    if (open_connection(server, sock, &err) < 0) {
        log_event(LOG_LEVEL_ERROR, "agent could not be served", LOG_TEXT("error", err.text));
        watch_listener(server);
        return;
    }
    (void)TAKE_FD(sock);
    log_event(LOG_LEVEL_INFO, "agent connected");
}

void server_init(struct server *server, struct jailer *jailer)
{
    *server = (struct server){.jailer = jailer,
                              .listener = EVENT_SOURCE_INIT,
                              .listen_fd = -1,
                              .connection.source = EVENT_SOURCE_INIT};
}

void server_done(struct server *server)
{
    struct events *events = &server->jailer->events;
    (void)events_remove(events, &server->listener);
    server->listen_fd = fd_close(server->listen_fd);
    if (connection_is_open(&server->connection))
        connection_close(&server->connection);
    deadline_disarm(&server->jailer->deadlines, &server->stop_deadline);
}

int server_listen(struct server *server, const char *path, uid_t peer_uid, struct error *err)
{
    if (server->listen_fd >= 0)
        return 0;
    int fd = listen_open(path, peer_uid, err);
    if (fd < 0)
        return fd;
    server->peer_uid = peer_uid;
    server->listen_fd = fd;
    int r =
        events_add(&server->jailer->events, &server->listener, fd, EPOLLIN, on_listener, server);
    return r < 0 ? error_set_errno(err, -r, "watch the listening socket") : 0;
}

int server_adopt(struct server *server, int sock, struct error *err)
{
    server->single = true;
    int r = fd_set_nonblock(sock, true);
    if (r < 0)
        return error_set_errno(err, -r, "make the agent's socket nonblocking");
    return open_connection(server, sock, err);
}

void server_stand_by(struct server *server)
{
    server->phase = SERVER_STANDBY;
}

static void leave_standby(struct server *server, enum server_phase phase)
{
    bool waited = server->phase == SERVER_STANDBY && connection_is_open(&server->connection);
    server->phase = phase;
    if (waited)
        greet(server);
}

void server_serve(struct server *server)
{
    leave_standby(server, SERVER_SERVING);
}

void server_refuse_all(struct server *server)
{
    leave_standby(server, SERVER_UNFIT);
}

static void on_stop_deadline(void *arg)
{
    struct server *server = arg;
    server->given_up = true;
    log_event(LOG_LEVEL_ERROR, "gave up waiting for sandboxes to go",
              LOG_NUMBER("sandboxes", server->jailer->sandbox_count));
}

/* Those that no run has taken are of no use to the agent any more. */
static void end_waiting(struct server *server)
{
    pools_stop(&server->jailer->pools);
    for (struct sandbox *sandbox = server->jailer->sandboxes; sandbox; sandbox = sandbox->next) {
        if (sandbox->pool)
            sandbox_end(sandbox, PROTO_END_SHUTDOWN);
    }
}

void server_leave(struct server *server)
{
    bool served = server->phase == SERVER_SERVING && connection_is_open(&server->connection);
    if (served && !server->single) {
        server->phase = SERVER_LEAVING;
        say_notice(server, PROTO_NOTICE_STOPPING);
        end_waiting(server);
    } else if (server->phase != SERVER_LEAVING) {
        server_stop(server);
    }
}

void server_stop(struct server *server)
{
    if (server->phase == SERVER_STOPPING)
        return;
    server->phase = SERVER_STOPPING;
    (void)events_remove(&server->jailer->events, &server->listener);
    pools_stop(&server->jailer->pools);
    end_all(server, false);
    deadline_arm(&server->jailer->deadlines, &server->stop_deadline,
                 clock_boottime_ns() + SHUTDOWN_WITHIN_MS * UINT64_C(1000000), on_stop_deadline,
                 server);
}

bool server_is_done(const struct server *server)
{
    if (server->given_up)
        return true;
    return server->phase == SERVER_STOPPING && server->jailer->sandbox_count == 0 &&
           server->connection.queued == 0;
}
