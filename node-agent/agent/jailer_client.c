/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/jailer_client.h"

#include "common/cleanup.h"
#include "common/hash.h"
#include "node-agent/agent/agent_limits.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum client_state { CLIENT_WAITING, CLIENT_READY, CLIENT_LOST };

struct owner {
    char id[PROTO_ID_SIZE];
    bool created;
    struct jailer_handlers handlers;
    void *arg;
    UT_hash_handle hh;
};

struct request {
    struct proto_message message;
    struct request *next;
};

struct jailer_client {
    struct loop *loop;
    int sock;
    struct loop_io *io;
    struct loop_timer *hello_timer;
    jailer_ready_fn ready;
    jailer_lost_fn lost;
    jailer_notice_fn notice;
    jailer_pools_fn pools_changed;
    void *arg;
    enum client_state state;
    bool deaf; /* takes no more requests; its last words are still to be read */
    struct proto_hello hello;
    struct proto_check *checks;
    size_t check_count;
    struct proto_pool pools[PROTO_MAX_RUNTIMES];
    size_t pool_count;
    struct owner *owners;
    struct request *queue;
    struct request **queue_end;
    unsigned int queue_len;
    /* Handlers may free the client: then its memory goes when the outermost call returns. */
    unsigned int depth;
    bool freed;
};

static void client_enter(struct jailer_client *client)
{
    client->depth++;
}

static void client_leave(struct jailer_client *client)
{
    if (--client->depth > 0 || !client->freed)
        return;
    free(client->checks);
    free(client);
}

static void queue_drop(struct jailer_client *client)
{
    while (client->queue) {
        struct request *request = client->queue;
        client->queue = request->next;
        free(request);
    }
    client->queue_end = &client->queue;
    client->queue_len = 0;
}

static void connection_close(struct jailer_client *client)
{
    client->state = CLIENT_LOST;
    loop_io_free(TAKE_PTR(client->io));
    loop_timer_free(TAKE_PTR(client->hello_timer));
    client->sock = fd_close(client->sock);
    queue_drop(client);
}

static struct owner *owner_find(struct jailer_client *client, const char *id)
{
    struct owner *owner = NULL;
    HASH_FIND_STR(client->owners, id, owner);
    return owner;
}

static void owner_remove(struct jailer_client *client, struct owner *owner)
{
    HASH_DEL(client->owners, owner);
    free(owner);
}

/* The connection is over: everybody is told, each of them once. */
static void client_lose(struct jailer_client *client, const struct error *err)
{
    if (client->state == CLIENT_LOST)
        return;
    bool was_ready = client->state == CLIENT_READY;
    connection_close(client);
    client_enter(client);
    while (client->owners) {
        struct owner owner = *client->owners;
        owner_remove(client, client->owners);
        owner.handlers.lost(err, owner.arg);
    }
    if (!client->freed && was_ready)
        client->lost(err, client->arg);
    else if (!client->freed)
        client->ready(NULL, err, client->arg);
    client_leave(client);
}

static void on_hello_timer(void *arg)
{
    struct jailer_client *client = arg;
    struct error err;
    (void)error_set(&err, ETIMEDOUT, "the jailer did not say hello within %u s",
                    JAILER_HELLO_WITHIN_MS / 1000);
    client_lose(client, &err);
}

static int handle_check(struct jailer_client *client, const struct proto_message *message,
                        struct error *err)
{
    if (client->state != CLIENT_WAITING)
        return error_set(err, EPROTO, "the jailer sent a check after its hello");
    if (client->check_count == PROTO_MAX_CHECKS)
        return error_set(err, EPROTO, "the jailer sent more than %d checks", PROTO_MAX_CHECKS);
    if (!client->checks)
        client->checks = calloc(PROTO_MAX_CHECKS, sizeof(*client->checks));
    if (!client->checks)
        return error_set_errno(err, ENOMEM, "keep the jailer's checks");
    client->checks[client->check_count++] = message->check;
    return 0;
}

static int handle_hello(struct jailer_client *client, const struct proto_message *message,
                        struct error *err)
{
    if (client->state != CLIENT_WAITING)
        return error_set(err, EPROTO, "the jailer said hello twice");
    if (message->hello.version != PROTO_VERSION)
        return error_set(err, EPROTO,
                         "the jailer speaks protocol version %u, this program %u: install both "
                         "from the same release",
                         message->hello.version, PROTO_VERSION);
    client->hello = message->hello;
    client->state = CLIENT_READY;
    loop_timer_free(TAKE_PTR(client->hello_timer));
    client->ready(&client->hello, NULL, client->arg);
    return 0;
}

static int handle_notice(struct jailer_client *client, const struct proto_message *message,
                         struct error *err)
{
    enum proto_notice_kind kind = (enum proto_notice_kind)message->notice.kind;
    enum client_state when = kind == PROTO_NOTICE_WAITING ? CLIENT_WAITING : CLIENT_READY;
    if (client->state != when)
        return error_set(err, EPROTO, "the jailer sent notice %d out of turn", (int)kind);
    /* However long the other one's runs may take. */
    if (kind == PROTO_NOTICE_WAITING)
        loop_timer_disarm(client->hello_timer);
    if (client->notice)
        client->notice(kind, client->arg);
    return 0;
}

static int handle_pool(struct jailer_client *client, const struct proto_pool *pool,
                       struct error *err)
{
    size_t i = 0;
    while (i < client->pool_count && (client->pools[i].profile != pool->profile ||
                                      strcmp(client->pools[i].runtime, pool->runtime) != 0))
        i++;
    if (i == PROTO_MAX_RUNTIMES)
        return error_set(err, EPROTO, "the jailer told of more than %d pools", PROTO_MAX_RUNTIMES);
    client->pools[i] = *pool;
    if (i == client->pool_count)
        client->pool_count++;
    if (client->pools_changed)
        client->pools_changed(client->arg);
    return 0;
}

static int handle_created(struct jailer_client *client, const struct proto_message *message,
                          const int *fds, size_t fd_count, struct error *err)
{
    struct owner *owner = owner_find(client, message->created.id);
    if (fd_count != PROTO_CREATED_FDS || (owner && owner->created)) {
        for (size_t i = 0; i < fd_count; i++)
            (void)fd_close(fds[i]);
        return error_set(err, EPROTO, "the jailer reported a new sandbox %s",
                         fd_count != PROTO_CREATED_FDS ? "without its pipes and its timer"
                                                       : "twice");
    }
    if (!owner) {
        for (size_t i = 0; i < fd_count; i++)
            (void)fd_close(fds[i]);
        return 0;
    }
    owner->created = true;
    owner->handlers.message(message, fds, owner->arg);
    return 0;
}

/* REFUSED and FINISHED: the last word about a sandbox. */
static int handle_last(struct jailer_client *client, const struct proto_message *message,
                       const char *id)
{
    struct owner *found = owner_find(client, id);
    if (!found)
        return 0;
    struct owner owner = *found;
    owner_remove(client, found);
    owner.handlers.message(message, NULL, owner.arg);
    return 0;
}

static int handle_message(struct jailer_client *client, const struct proto_message *message,
                          const int *fds, size_t fd_count, struct error *err)
{
    if (message->type == PROTO_CREATED && client->state == CLIENT_READY)
        return handle_created(client, message, fds, fd_count, err);
    for (size_t i = 0; i < fd_count; i++)
        (void)fd_close(fds[i]);
    if (fd_count > 0)
        return error_set(err, EPROTO, "the jailer sent descriptors where none belong");
    if (message->type == PROTO_CHECK)
        return handle_check(client, message, err);
    if (message->type == PROTO_HELLO)
        return handle_hello(client, message, err);
    if (message->type == PROTO_NOTICE)
        return handle_notice(client, message, err);
    if (message->type == PROTO_POOL && client->state == CLIENT_READY)
        return handle_pool(client, &message->pool, err);
    if (message->type == PROTO_REFUSED && client->state == CLIENT_READY)
        return handle_last(client, message, message->refused.id);
    if (message->type == PROTO_FINISHED && client->state == CLIENT_READY)
        return handle_last(client, message, message->finished.id);
    return error_set(err, EPROTO, "the jailer sent message type %d out of turn",
                     (int)message->type);
}

/* One message; 1: there may be more, 0: none for now or the connection is over. */
static int receive_one(struct jailer_client *client)
{
    struct proto_message message;
    struct error err = {0};
    int fds[PROTO_CREATED_FDS];
    size_t fd_count = 0;
    int r = proto_receive(client->sock, &message, fds, &fd_count, &err);
    if (r == -EAGAIN || r == -EINTR)
        return 0;
    if (r == 0)
        (void)error_set(&err, ECONNRESET,
                        client->state == CLIENT_WAITING ? "the jailer ended before it said hello"
                                                        : "the jailer is gone");
    else if (r < 0 && err.code == 0)
        (void)error_set_errno(&err, -r, "receive from the jailer");
    else if (r > 0 && handle_message(client, &message, fds, fd_count, &err) >= 0)
        return !client->freed && client->state != CLIENT_LOST;
    if (!client->freed)
        client_lose(client, &err);
    return 0;
}

/* The read side then sees the end, behind the words that still wait there. */
static void stop_sending(struct jailer_client *client)
{
    client->deaf = true;
    (void)shutdown(client->sock, SHUT_RDWR);
}

static void queue_flush(struct jailer_client *client)
{
    while (client->queue) {
        struct request *request = client->queue;
        int r = proto_send(client->sock, &request->message, NULL, 0);
        if (r == -EAGAIN || r == -EINTR)
            return;
        if (r < 0) {
            stop_sending(client);
            queue_drop(client);
            break;
        }
        client->queue = request->next;
        client->queue_len--;
        free(request);
    }
    client->queue_end = &client->queue;
    (void)loop_io_set(client->io, LOOP_READ);
}

static void on_socket(int fd, unsigned int events, void *arg)
{
    (void)fd;
    struct jailer_client *client = arg;
    client_enter(client);
    if (events & LOOP_WRITE)
        queue_flush(client);
    if (events & LOOP_READ) {
        for (unsigned int i = 0; i < MAX_JAILER_BATCH && receive_one(client) > 0; i++)
            continue;
    }
    client_leave(client);
}

static int send_or_queue(struct jailer_client *client, const struct proto_message *message,
                         struct error *err)
{
    if (client->state != CLIENT_READY)
        return error_set(err, ENOTCONN, "there is no connection to the jailer");
    if (!client->queue) {
        int r = proto_send(client->sock, message, NULL, 0);
        if (r >= 0)
            return 0;
        if (r != -EAGAIN && r != -EINTR) {
            stop_sending(client);
            return error_set_errno(err, -r, "send to the jailer");
        }
    }
    if (client->queue_len >= MAX_JAILER_QUEUE)
        return error_set(err, ENOBUFS, "the jailer takes no requests: %u wait already",
                         client->queue_len);
    struct request *request = calloc(1, sizeof(*request));
    if (!request)
        return error_set_errno(err, ENOMEM, "queue a request to the jailer");
    request->message = *message;
    *client->queue_end = request;
    client->queue_end = &request->next;
    client->queue_len++;
    (void)loop_io_set(client->io, LOOP_READ | LOOP_WRITE);
    return 0;
}

int jailer_client_new(struct loop *loop, int sock, jailer_ready_fn ready, jailer_lost_fn lost,
                      void *arg, struct jailer_client **ret_client, struct error *err)
{
    struct jailer_client *client = calloc(1, sizeof(*client));
    if (!client)
        return error_set_errno(err, ENOMEM, "jailer client");
    *client =
        (struct jailer_client){.loop = loop, .sock = -1, .ready = ready, .lost = lost, .arg = arg};
    client->queue_end = &client->queue;

    int r = loop_io_new(loop, sock, LOOP_READ, on_socket, client, &client->io);
    if (r >= 0)
        r = loop_timer_new(loop, on_hello_timer, client, &client->hello_timer);
    if (r >= 0)
        r = loop_timer_arm(client->hello_timer, JAILER_HELLO_WITHIN_MS);
    if (r < 0) {
        jailer_client_free(client);
        return error_set_errno(err, -r, "watch the jailer's socket");
    }
    client->sock = sock;
    *ret_client = client;
    return 0;
}

void jailer_client_free(struct jailer_client *client)
{
    if (!client || client->freed)
        return;
    connection_close(client);
    while (client->owners)
        owner_remove(client, client->owners);
    client_enter(client);
    client->freed = true;
    client_leave(client);
}

void jailer_client_set_notice(struct jailer_client *client, jailer_notice_fn notice)
{
    client->notice = notice;
}

int jailer_client_connect(const char *path, struct error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len >= sizeof(address.sun_path))
        return error_set(err, ENAMETOOLONG, "%s: a socket's path has at most %zu bytes; got %zu",
                         path, sizeof(address.sun_path) - 1, len);
    memcpy(address.sun_path, path, len);
    cleanup_close int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sock < 0)
        return error_set_errno(err, errno, "socket for the jailer");
    if (connect(sock, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return error_set_errno(err, errno, "connect to the jailer at %s", path);
    return TAKE_FD(sock);
}

const struct proto_hello *jailer_client_hello(const struct jailer_client *client)
{
    return client->state == CLIENT_READY && !client->deaf ? &client->hello : NULL;
}

const struct proto_check *jailer_client_checks(const struct jailer_client *client,
                                               size_t *ret_count)
{
    *ret_count = client->check_count;
    return client->checks;
}

void jailer_client_watch_pools(struct jailer_client *client, jailer_pools_fn fn)
{
    client->pools_changed = fn;
    fn(client->arg);
}

const struct proto_pool *jailer_client_pools(const struct jailer_client *client, size_t *ret_count)
{
    *ret_count = client->pool_count;
    return client->pools;
}

static void copy_id(char ret_id[static PROTO_ID_SIZE], const char *id)
{
    (void)snprintf(ret_id, PROTO_ID_SIZE, "%s", id);
}

int jailer_client_create(struct jailer_client *client, const struct proto_create *create,
                         const struct jailer_handlers *handlers, void *arg, struct error *err)
{
    if (owner_find(client, create->id))
        return error_set(err, EEXIST, "sandbox %s is in use already", create->id);
    struct owner *owner = calloc(1, sizeof(*owner));
    if (!owner)
        return error_set_errno(err, ENOMEM, "register sandbox %s", create->id);
    owner->handlers = *handlers;
    owner->arg = arg;
    copy_id(owner->id, create->id);
    HASH_ADD_STR(client->owners, id, owner);
    if (!owner->hh.tbl) {
        free(owner);
        return error_set_errno(err, ENOMEM, "register sandbox %s", create->id);
    }
    struct proto_message message = {.type = PROTO_CREATE, .create = *create};
    int r = send_or_queue(client, &message, err);
    if (r < 0)
        owner_remove(client, owner);
    return r;
}

int jailer_client_start(struct jailer_client *client, const char *id, uint32_t timeout_ms,
                        uint64_t not_after_ns, struct error *err)
{
    struct proto_message message = {
        .type = PROTO_START,
        .start = {.timeout_ms = timeout_ms, .not_after_boottime_ns = not_after_ns}};
    copy_id(message.start.id, id);
    return send_or_queue(client, &message, err);
}

int jailer_client_kill(struct jailer_client *client, const char *id, struct error *err)
{
    struct proto_message message = {.type = PROTO_KILL};
    copy_id(message.kill.id, id);
    return send_or_queue(client, &message, err);
}

void jailer_client_forget(struct jailer_client *client, const char *id)
{
    struct owner *owner = owner_find(client, id);
    if (owner)
        owner_remove(client, owner);
}
