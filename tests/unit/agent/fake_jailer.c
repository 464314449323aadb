/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/agent/fake_jailer.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "tests/unit/common/cmocka_setup.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

static void on_socket(int fd, unsigned int events, void *arg)
{
    (void)events;
    struct fake_jailer *fake = arg;
    struct proto_message message;
    if (proto_receive(fd, &message, NULL, NULL, NULL) <= 0) {
        loop_io_free(TAKE_PTR(fake->io));
        return;
    }
    assert_true(fake->request_count < MAX_FAKE_REQUESTS);
    fake->requests[fake->request_count++] = message;
    if (fake->on_request)
        fake->on_request(fake, &message, fake->arg);
}

void fake_jailer_open(struct fake_jailer *fake, struct loop *loop)
{
    int socks[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, socks),
                     0);
    *fake = (struct fake_jailer){
        .loop = loop,
        .sock = socks[0],
        .client_sock = socks[1],
        .listener = -1,
        .request_fd = -1,
        .stdout_fd = -1,
        .stderr_fd = -1,
        .backstop_fd = -1,
    };
    assert_int_equal(loop_io_new(loop, fake->sock, LOOP_READ, on_socket, fake, &fake->io), 0);
}

static void on_listener(int fd, unsigned int events, void *arg)
{
    (void)events;
    struct fake_jailer *fake = arg;
    fake->sock = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    assert_true(fake->sock >= 0);
    loop_io_free(TAKE_PTR(fake->listener_io));
    assert_int_equal(loop_io_new(fake->loop, fake->sock, LOOP_READ, on_socket, fake, &fake->io), 0);
    for (size_t i = 0; i < fake->check_count; i++) {
        const struct proto_message message = {.type = PROTO_CHECK, .check = fake->checks[i]};
        fake_jailer_say(fake, &message);
    }
    fake_jailer_hello(fake);
}

void fake_jailer_listen(struct fake_jailer *fake, struct loop *loop, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_true(strlen(path) < sizeof(address.sun_path));
    memcpy(address.sun_path, path, strlen(path));
    *fake = (struct fake_jailer){
        .loop = loop,
        .sock = -1,
        .client_sock = -1,
        .listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
        .request_fd = -1,
        .stdout_fd = -1,
        .stderr_fd = -1,
        .backstop_fd = -1,
    };
    assert_true(fake->listener >= 0);
    (void)unlink(path);
    assert_int_equal(bind(fake->listener, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fake->listener, 1), 0);
    assert_int_equal(
        loop_io_new(loop, fake->listener, LOOP_READ, on_listener, fake, &fake->listener_io), 0);
}

void fake_jailer_deafen(struct fake_jailer *fake)
{
    loop_io_free(TAKE_PTR(fake->io));
}

void fake_jailer_die(struct fake_jailer *fake)
{
    loop_io_free(TAKE_PTR(fake->io));
    fake->sock = fd_close(fake->sock);
}

void fake_jailer_close(struct fake_jailer *fake)
{
    fake_jailer_die(fake);
    loop_io_free(TAKE_PTR(fake->listener_io));
    fake->listener = fd_close(fake->listener);
    fake->request_fd = fd_close(fake->request_fd);
    fake->stdout_fd = fd_close(fake->stdout_fd);
    fake->stderr_fd = fd_close(fake->stderr_fd);
    fake->backstop_fd = fd_close(fake->backstop_fd);
}

void fake_jailer_say(struct fake_jailer *fake, const struct proto_message *message)
{
    assert_int_equal(proto_send(fake->sock, message, NULL, 0), 0);
}

void fake_jailer_hello(struct fake_jailer *fake)
{
    struct proto_message message = {
        .type = PROTO_HELLO,
        .hello =
            {
                .version = PROTO_VERSION,
                .cgroup_version = 2,
                .profiles = 1,
                .max_runs = 4,
                .memory_bytes = 1u << 30,
                .cpu_milli = 2000,
                .runtime_count = 1,
                .runtimes = {{.name = "python3.12", .version = "3.12.1"}},
                .kernel = "6.1",
            },
    };
    fake_jailer_say(fake, &message);
}

void fake_jailer_created(struct fake_jailer *fake, const char *id)
{
    int request[2], out[2], err[2];
    assert_int_equal(fd_pipe(request, 0), 0);
    assert_int_equal(fd_pipe(out, 0), 0);
    assert_int_equal(fd_pipe(err, 0), 0);
    (void)fd_close(fake->request_fd);
    (void)fd_close(fake->stdout_fd);
    (void)fd_close(fake->stderr_fd);
    (void)fd_close(fake->backstop_fd);
    fake->request_fd = request[0];
    fake->stdout_fd = out[1];
    fake->stderr_fd = err[1];
    assert_int_equal(fd_set_nonblock(fake->request_fd, true), 0);

    struct proto_message message = {.type = PROTO_CREATED};
    memcpy(message.created.id, id, strlen(id));
    fake->backstop_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    assert_true(fake->backstop_fd >= 0);
    int fds[PROTO_CREATED_FDS] = {request[1], out[0], err[0],
                                  fcntl(fake->backstop_fd, F_DUPFD_CLOEXEC, 0)};
    assert_int_equal(proto_send(fake->sock, &message, fds, PROTO_CREATED_FDS), 0);
    for (size_t i = 0; i < PROTO_CREATED_FDS; i++)
        (void)fd_close(fds[i]);
}

void fake_jailer_refused(struct fake_jailer *fake, const char *id, uint32_t errnum,
                         const char *lock, const char *text)
{
    struct proto_message message = {.type = PROTO_REFUSED, .refused = {.errnum = errnum}};
    memcpy(message.refused.id, id, strlen(id));
    memcpy(message.refused.lock, lock, strlen(lock));
    memcpy(message.refused.text, text, strlen(text));
    fake_jailer_say(fake, &message);
}

void fake_jailer_finished(struct fake_jailer *fake, const char *id, enum proto_end end,
                          int wait_status)
{
    struct proto_message message = {
        .type = PROTO_FINISHED,
        .finished =
            {
                .end = end,
                .wait_status = wait_status,
                .has_status = end == PROTO_END_EXITED,
                .wall_us = 1234567,
                .cpu_us = 45678,
                .peak_memory_bytes = 9u << 20,
                .timeout_ms = 20000,
                .denied_count = 1,
                .denied = {{101, 2}},
            },
    };
    memcpy(message.finished.id, id, strlen(id));
    if (fake->denies_network) {
        message.finished.denied_network_count = 1;
        message.finished.denied_network[0] =
            (struct proto_denied_network){4, IPPROTO_TCP, 22, 3, {203, 0, 113, 5}};
    }
    fake_jailer_say(fake, &message);
}

size_t fake_jailer_count(const struct fake_jailer *fake, enum proto_type type)
{
    size_t count = 0;
    for (size_t i = 0; i < fake->request_count; i++)
        count += fake->requests[i].type == type;
    return count;
}

uint64_t fake_jailer_backstop_ms(const struct fake_jailer *fake)
{
    struct itimerspec left;
    assert_int_equal(timerfd_gettime(fake->backstop_fd, &left), 0);
    return (uint64_t)left.it_value.tv_sec * 1000 + (uint64_t)left.it_value.tv_nsec / 1000000;
}
