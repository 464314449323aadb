/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/jailer_link.h"

#include "common/backoff.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/random.h"
#include "node-agent/resolver/resolver_limits.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

struct jailer_link {
    struct loop *loop;
    const char *path;
    unsigned int port;
    struct jailer_link_handlers handlers;
    void *arg;
    int sock;
    struct loop_io *io;
    struct loop_timer *timer; /* until the hello, or until the next try */
    bool up;
    uint64_t since_ns;     /* up */
    unsigned int failures; /* in a row: connections that were not made, or did not last */
    bool told;             /* that there is no connection */
};

static void watch(struct jailer_link *link, unsigned int events)
{
    (void)loop_io_set(link->io, events);
}

/* Also a jailer that greets and then leaves at once is not called upon without end. */
static void retry(struct jailer_link *link)
{
    uint32_t random = 0;
    (void)random_bytes(&random, sizeof(random));
    if (link->failures < UINT_MAX)
        link->failures++;
    (void)loop_timer_arm(link->timer,
                         (unsigned int)backoff_ms(link->failures, JAILER_RETRY_LEAST_MS,
                                                  JAILER_RETRY_MOST_MS, random));
}

static void lose(struct jailer_link *link, const struct error *err)
{
    bool was_up = link->up;
    link->up = false;
    loop_io_free(TAKE_PTR(link->io));
    link->sock = fd_close(link->sock);
    /* One that was given ends with the runs that it was for: nothing is wrong then. */
    enum log_level level = link->path || !was_up ? LOG_LEVEL_WARN : LOG_LEVEL_INFO;
    if (was_up || !link->told)
        log_event(level, "no connection to the jailer", LOG_TEXT("error", err->text));
    link->told = true;
    if (was_up)
        link->handlers.down(link->arg);
    if (!link->path) {
        link->handlers.ended(link->arg);
        return;
    }
    if (was_up && clock_boottime_ns() - link->since_ns >= JAILER_STEADY_MS * UINT64_C(1000000))
        link->failures = 0;
    retry(link);
}

static int take_hello(struct jailer_link *link, const struct resolver_hello *hello,
                      struct error *err)
{
    if (link->up)
        return error_set(err, EPROTO, "the jailer said hello twice");
    if (hello->version != RESOLVER_PROTO_VERSION)
        return error_set(err, EPROTO,
                         "the jailer speaks version %u to its resolver, this program %u: install "
                         "both from the same release",
                         hello->version, RESOLVER_PROTO_VERSION);
    const struct resolver_message ready = {
        .type = RESOLVER_READY, .ready = {.version = RESOLVER_PROTO_VERSION, .port = link->port}};
    int r = link->handlers.serve(hello, err, link->arg);
    if (r < 0)
        return r;
    r = resolver_proto_send(link->sock, &ready);
    if (r < 0)
        return error_set_errno(err, -r, "answer the jailer's hello");
    loop_timer_disarm(link->timer);
    link->up = true;
    link->since_ns = clock_boottime_ns();
    link->told = false;
    link->handlers.up(hello, link->arg);
    return 0;
}

static int take_message(struct jailer_link *link, const struct resolver_message *message,
                        struct error *err)
{
    if (message->type == RESOLVER_HELLO)
        return take_hello(link, &message->hello, err);
    if (!link->up || message->type % 2 == 0)
        return error_set(err, EPROTO, "the jailer sent message type %d out of turn",
                         (int)message->type);
    return link->handlers.message(message, err, link->arg);
}

static void on_socket(int fd, unsigned int events, void *arg)
{
    struct jailer_link *link = arg;
    struct error err = {0};
    if (events & LOOP_WRITE) {
        watch(link, LOOP_READ);
        link->handlers.writable(link->arg);
    }
    for (unsigned int i = 0; (events & LOOP_READ) && i < MAX_JAILER_BATCH; i++) {
        struct resolver_message message;
        int r = resolver_proto_receive(fd, &message, &err);
        if (r == -EAGAIN)
            return;
        if (r == 0)
            r = error_set(&err, ECONNRESET, "the jailer has closed it");
        if (r > 0)
            r = take_message(link, &message, &err);
        if (r < 0) {
            lose(link, &err);
            return;
        }
    }
}

static int adopt(struct jailer_link *link, int sock, struct error *err)
{
    int r = loop_io_new(link->loop, sock, LOOP_READ, on_socket, link, &link->io);
    if (r >= 0)
        r = loop_timer_arm(link->timer, JAILER_HELLO_WITHIN_MS);
    if (r < 0)
        return error_set_errno(err, -r, "watch the jailer's socket");
    link->sock = sock;
    return 0;
}

static int connect_to(struct jailer_link *link, struct error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, link->path, strlen(link->path));
    cleanup_close int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sock < 0)
        return error_set_errno(err, errno, "socket for the jailer");
    if (connect(sock, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return error_set_errno(err, errno, "connect to the jailer at %s", link->path);
    int r = adopt(link, sock, err);
    if (r >= 0)
        (void)TAKE_FD(sock);
    return r;
}

static void on_timer(void *arg)
{
    struct jailer_link *link = arg;
    struct error err = {0};
    if (link->sock >= 0) {
        (void)error_set(&err, ETIMEDOUT, "the jailer did not say hello within %d s",
                        JAILER_HELLO_WITHIN_MS / 1000);
        lose(link, &err);
    } else if (connect_to(link, &err) < 0) {
        lose(link, &err);
    }
}

int jailer_link_new(struct loop *loop, const char *path, int fd, unsigned int port,
                    const struct jailer_link_handlers *handlers, void *arg,
                    struct jailer_link **ret_link, struct error *err)
{
    if (path && strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
        return error_set(err, ENAMETOOLONG, "%s: a socket's path has at most %zu bytes", path,
                         sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
    struct jailer_link *link = calloc(1, sizeof(*link));
    if (!link)
        return error_set_errno(err, ENOMEM, "connection to the jailer");
    *link = (struct jailer_link){
        .loop = loop, .path = path, .port = port, .handlers = *handlers, .arg = arg, .sock = -1};
    int r = loop_timer_new(loop, on_timer, link, &link->timer);
    if (r >= 0)
        r = path ? loop_timer_arm(link->timer, 0) : fd_set_nonblock(fd, true);
    if (r < 0)
        r = error_set_errno(err, -r, "connection to the jailer");
    else if (!path)
        r = adopt(link, fd, err);
    if (r < 0) {
        jailer_link_free(link);
        return r;
    }
    *ret_link = link;
    return 0;
}

void jailer_link_free(struct jailer_link *link)
{
    if (!link)
        return;
    loop_io_free(link->io);
    loop_timer_free(link->timer);
    (void)fd_close(link->sock);
    free(link);
}

bool jailer_link_is_given(const struct jailer_link *link)
{
    return !link->path;
}

bool jailer_link_is_up(const struct jailer_link *link)
{
    return link->up;
}

int jailer_link_send(struct jailer_link *link, const struct resolver_message *message)
{
    if (!link->up)
        return -ENOTCONN;
    int r = resolver_proto_send(link->sock, message);
    if (r == -EAGAIN)
        watch(link, LOOP_READ | LOOP_WRITE);
    /* What is wrong shows when it is read, behind what still waits there. */
    else if (r < 0)
        (void)shutdown(link->sock, SHUT_RDWR);
    return r;
}
