/* SPDX-License-Identifier: Apache-2.0 */
#include "server_fixture.h"

#include "common/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define MIB (1ull << 20)

struct sandbox fake;
bool fake_refuses;
uint32_t fake_timeout_ms;
enum proto_end fake_end;
char fake_refusal_lock[PROTO_LOCK_SIZE];

int sandbox_create(struct jailer *jailer, const struct proto_create *create,
                   const struct sandbox_listener *listener, struct sandbox **ret_sandbox,
                   struct proto_refused *ret_refusal)
{
    if (fake_refuses) {
        *ret_refusal = (struct proto_refused){.errnum = EPERM, .lock = "cgroup", .text = "no"};
        memcpy(ret_refusal->id, create->id, sizeof(ret_refusal->id));
        return -EPERM;
    }
    fake = (struct sandbox){.jailer = jailer, .listener = *listener, .profile = create->profile};
    memcpy(fake.id, create->id, sizeof(fake.id));
    jailer->sandboxes = &fake;
    jailer->sandbox_count = 1;
    *ret_sandbox = &fake;
    return 0;
}

struct sandbox *fake_waiting;
bool fake_adopt_fails;
bool fake_adopted;

int sandbox_adopt(struct sandbox *sandbox, const struct proto_create *create,
                  const struct sandbox_listener *listener, struct error *err)
{
    if (fake_adopt_fails)
        return error_set(err, EBUSY, "more memory is in use");
    fake_adopted = true;
    sandbox->listener = *listener;
    memcpy(sandbox->id, create->id, sizeof(sandbox->id));
    return 0;
}

int sandbox_create_ahead(struct pool *pool, struct zygote *zygote,
                         const struct proto_create *create, struct error *err)
{
    (void)zygote;
    (void)pool;
    (void)create;
    return error_set(err, ENOSYS, "no test makes one");
}

struct sandbox *pools_take(struct pools *pools, const struct proto_create *create)
{
    (void)pools;
    (void)create;
    struct sandbox *sandbox = fake_waiting;
    fake_waiting = NULL;
    return sandbox;
}

void pools_stop(struct pools *pools)
{
    pools->stopped = true;
}

void pools_totals(const struct pools *pools, uint32_t index, struct proto_pool *ret_totals)
{
    *ret_totals = pools->entries[index].totals;
}

void sandbox_start(struct sandbox *sandbox, uint32_t timeout_ms)
{
    sandbox->state = SANDBOX_RUNNING;
    fake_timeout_ms = timeout_ms;
}

void sandbox_end(struct sandbox *sandbox, enum proto_end end)
{
    (void)sandbox;
    fake_end = end;
}

void sandbox_refuse(struct sandbox *sandbox, const char *lock, const struct error *err)
{
    (void)sandbox;
    (void)err;
    (void)snprintf(fake_refusal_lock, sizeof(fake_refusal_lock), "%s", lock);
}

void sandbox_forget_listener(struct sandbox *sandbox)
{
    sandbox->listener = (struct sandbox_listener){0};
}

struct sandbox *sandbox_find(struct jailer *jailer, const char *id)
{
    struct sandbox *sandbox = jailer->sandboxes;
    return sandbox && strcmp(sandbox->id, id) == 0 ? sandbox : NULL;
}

unsigned int cgroup_system_version(const struct cgroup_system *system)
{
    (void)system;
    return 2;
}

/* The fixture: an agent's socket, connected. */

struct fixture fixture;

int fixture_setup(void **state)
{
    (void)state;
    memset(&fixture, 0, sizeof(fixture));
    fake_refuses = fake_adopt_fails = fake_adopted = false;
    fake_waiting = NULL;
    fake = (struct sandbox){0};
    fake_timeout_ms = 0;
    fake_end = 0;
    fake_refusal_lock[0] = '\0';
    fixture.jailer.max_runs = 8;
    fixture.jailer.memory_capacity_bytes = 8192 * MIB;
    fixture.jailer.landlock_abi = 6;
    fixture.jailer.cpu_capacity_milli = 2000;
    fixture.jailer.runtimes.count = 1;
    memcpy(fixture.jailer.runtimes.entries[0].name, "python3.12", 11);
    memcpy(fixture.jailer.runtimes.entries[0].version, "3.12.1", 7);
    if (events_init(&fixture.jailer.events, NULL) < 0 ||
        deadlines_init(&fixture.jailer.deadlines, &fixture.jailer.events, NULL) < 0)
        return -1;
    server_init(&fixture.server, &fixture.jailer);
    fixture_connect();
    return 0;
}

void fixture_begin_anew(void)
{
    server_done(&fixture.server);
    (void)fd_close(fixture.agent);
    server_init(&fixture.server, &fixture.jailer);
}

void fixture_connect(void)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    fixture.agent = fds[0];
    assert_int_equal(server_adopt(&fixture.server, fds[1], NULL), 0);
}

void fixture_be_listening(void)
{
    fixture.server.single = false;
    fixture.server.listen_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(fixture.server.listen_fd >= 0);
}

int fixture_teardown(void **state)
{
    (void)state;
    (void)fd_close(fixture.agent);
    server_done(&fixture.server);
    deadlines_done(&fixture.jailer.deadlines);
    events_done(&fixture.jailer.events);
    return 0;
}

struct proto_message fixture_receive(enum proto_type type)
{
    struct proto_message message = {0};
    struct error err = {0};
    int fds[PROTO_CREATED_FDS];
    size_t count = 0;
    int r = proto_receive(fixture.agent, &message, fds, &count, &err);
    if (r != 1 || message.type != type)
        fail_msg("%d, type %d: \"%s\"", r, (int)message.type, err.text);
    return message;
}

void fixture_tell(const struct proto_message *message)
{
    assert_int_equal(proto_send(fixture.agent, message, NULL, 0), 0);
    assert_int_equal(events_turn(&fixture.jailer.events, NULL), 0);
}

struct proto_message fixture_create_message(void)
{
    return (struct proto_message){
        .type = PROTO_CREATE,
        .create = {
            .id = ID, .runtime = "python3.12", .cpu_milli = 1000, .memory_bytes = 512 * MIB}};
}

struct proto_message fixture_start_message(uint32_t timeout_ms)
{
    return (struct proto_message){.type = PROTO_START,
                                  .start = {.id = ID, .timeout_ms = timeout_ms}};
}

bool fixture_connection_ended(void)
{
    struct proto_message message;
    struct error err = {0};
    return !connection_is_open(&fixture.server.connection) &&
           proto_receive(fixture.agent, &message, NULL, NULL, &err) == 0;
}
