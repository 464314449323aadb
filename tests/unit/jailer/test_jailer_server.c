/* SPDX-License-Identifier: Apache-2.0 */

/* What an agent may say when: the server with its real socket, and sandboxes that only tell what
 * was done to them. */
#include "cmocka_setup.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/sandbox.h"
#include "node-agent/jailer/server.h"

#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define MIB (1ull << 20)
#define ID  "01234567-89ab-cdef-0123-456789abcdef"

/* The sandboxes. */

static struct sandbox fake;
static bool fake_refuses;
static uint32_t fake_timeout_ms;
static enum proto_end fake_end;
static char fake_refusal_lock[PROTO_LOCK_SIZE];

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

struct fixture {
    struct jailer jailer;
    struct server server;
    int agent;
};

static struct fixture fixture;

static int setup(void **state)
{
    int fds[2];
    (void)state;
    memset(&fixture, 0, sizeof(fixture));
    fake_refuses = false;
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
        deadlines_init(&fixture.jailer.deadlines, &fixture.jailer.events, NULL) < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return -1;
    fixture.agent = fds[0];
    server_init(&fixture.server, &fixture.jailer);
    return server_adopt(&fixture.server, fds[1], NULL);
}

static int teardown(void **state)
{
    (void)state;
    (void)fd_close(fixture.agent);
    server_done(&fixture.server);
    deadlines_done(&fixture.jailer.deadlines);
    events_done(&fixture.jailer.events);
    return 0;
}

static struct proto_message receive(enum proto_type type)
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

static void tell(const struct proto_message *message)
{
    assert_int_equal(proto_send(fixture.agent, message, NULL, 0), 0);
    assert_int_equal(events_turn(&fixture.jailer.events, NULL), 0);
}

static struct proto_message create_message(void)
{
    return (struct proto_message){
        .type = PROTO_CREATE,
        .create = {
            .id = ID, .runtime = "python3.12", .cpu_milli = 1000, .memory_bytes = 512 * MIB}};
}

static struct proto_message start_message(uint32_t timeout_ms)
{
    return (struct proto_message){.type = PROTO_START,
                                  .start = {.id = ID, .timeout_ms = timeout_ms}};
}

static bool connection_ended(void)
{
    struct proto_message message;
    struct error err = {0};
    return !connection_is_open(&fixture.server.connection) &&
           proto_receive(fixture.agent, &message, NULL, NULL, &err) == 0;
}

static void test_hello_tells_what_there_is(void **state)
{
    (void)state;
    struct proto_message message = receive(PROTO_HELLO);
    assert_int_equal(message.hello.version, PROTO_VERSION);
    assert_int_equal(message.hello.cgroup_version, 2);
    assert_int_equal(message.hello.profiles, 1);
    assert_int_equal(message.hello.max_runs, 8);
    assert_int_equal(message.hello.memory_bytes, 8192 * MIB);
    assert_int_equal(message.hello.cpu_milli, 2000);
    assert_int_equal(message.hello.landlock_abi, 6);
    assert_int_equal(message.hello.runtime_count, 1);
    assert_string_equal(message.hello.runtimes[0].name, "python3.12");
    assert_string_equal(message.hello.runtimes[0].version, "3.12.1");
    assert_true(message.hello.kernel[0] != '\0');
}

static void test_create_start_kill(void **state)
{
    (void)state;
    (void)receive(PROTO_HELLO);
    struct proto_message message = create_message();
    tell(&message);
    assert_string_equal(fake.id, ID);
    fake.state = SANDBOX_READY;
    message = start_message(1234);
    tell(&message);
    assert_int_equal(fake_timeout_ms, 1234);
    message = (struct proto_message){.type = PROTO_KILL, .kill = {.id = ID}};
    tell(&message);
    assert_int_equal(fake_end, PROTO_END_KILLED);
    assert_true(connection_is_open(&fixture.server.connection));
}

static void test_what_is_not_granted_is_refused(void **state)
{
    (void)state;
    (void)receive(PROTO_HELLO);
    struct proto_message message = create_message();
    message.create.cpu_milli = 1001;
    tell(&message);
    struct proto_message refused = receive(PROTO_REFUSED);
    assert_string_equal(refused.refused.id, ID);
    assert_string_equal(refused.refused.lock, "request");
    assert_non_null(strstr(refused.refused.text, "Snippet"));

    fake_refuses = true;
    message = create_message();
    tell(&message);
    refused = receive(PROTO_REFUSED);
    assert_string_equal(refused.refused.lock, "cgroup");
    assert_true(connection_is_open(&fixture.server.connection));
}

static void test_timeout_above_the_ceiling_refuses_the_jail(void **state)
{
    (void)state;
    struct proto_message message = create_message();
    tell(&message);
    fake.state = SANDBOX_READY;
    message = start_message(60001);
    tell(&message);
    assert_string_equal(fake_refusal_lock, "request");
    assert_int_equal(fake_timeout_ms, 0);
}

/* Its node's lease may have run out while the word lay in the socket. */
static void test_a_start_that_is_read_too_late_refuses_the_jail(void **state)
{
    (void)state;
    struct proto_message message = create_message();
    tell(&message);
    fake.state = SANDBOX_READY;
    message = start_message(1234);
    message.start.not_after_boottime_ns = clock_boottime_ns() - 1;
    tell(&message);
    assert_string_equal(fake_refusal_lock, "request");
    assert_int_equal(fake_timeout_ms, 0);
    assert_true(connection_is_open(&fixture.server.connection));
}

static void test_a_start_that_is_read_in_time(void **state)
{
    (void)state;
    struct proto_message message = create_message();
    tell(&message);
    fake.state = SANDBOX_READY;
    message = start_message(1234);
    message.start.not_after_boottime_ns = clock_boottime_ns() + UINT64_C(60000000000);
    tell(&message);
    assert_int_equal(fake_timeout_ms, 1234);
}

static void test_words_about_the_unknown_are_ignored(void **state)
{
    (void)state;
    struct proto_message message = start_message(1);
    tell(&message);
    message = (struct proto_message){.type = PROTO_KILL, .kill = {.id = ID}};
    tell(&message);
    assert_int_equal(fake_end, 0);
    message = create_message();
    tell(&message);
    fake.state = SANDBOX_SWEEPING;
    message = start_message(1);
    tell(&message);
    assert_int_equal(fake_timeout_ms, 0);
    assert_true(connection_is_open(&fixture.server.connection));
}

/* Each ends the connection, and what was made for it. */
static void expect_breach(const struct proto_message *message)
{
    tell(message);
    assert_true(connection_ended());
    assert_int_equal(fake_end, PROTO_END_SHUTDOWN);
    assert_null(fake.listener.say);
}

static void create_first(enum sandbox_state sandbox_state)
{
    struct proto_message message = create_message();
    (void)receive(PROTO_HELLO);
    tell(&message);
    fake.state = sandbox_state;
}

static void test_create_of_an_id_in_use_is_a_breach(void **state)
{
    (void)state;
    create_first(SANDBOX_SWEEPING);
    struct proto_message message = create_message();
    expect_breach(&message);
}

static void test_start_before_created_is_a_breach(void **state)
{
    (void)state;
    create_first(SANDBOX_CREATING);
    struct proto_message message = start_message(1);
    expect_breach(&message);
}

static void test_second_start_is_a_breach(void **state)
{
    (void)state;
    create_first(SANDBOX_RUNNING);
    struct proto_message message = start_message(1);
    expect_breach(&message);
}

static void test_a_jailers_word_is_a_breach(void **state)
{
    (void)state;
    create_first(SANDBOX_READY);
    struct proto_message message = {.type = PROTO_FINISHED,
                                    .finished = {.id = ID, .end = PROTO_END_EXITED}};
    expect_breach(&message);
}

static void test_garbage_is_a_breach(void **state)
{
    (void)state;
    create_first(SANDBOX_READY);
    assert_int_equal(send(fixture.agent, "garbage", 7, 0), 7);
    assert_int_equal(events_turn(&fixture.jailer.events, NULL), 0);
    assert_true(connection_ended());
    assert_int_equal(fake_end, PROTO_END_SHUTDOWN);
}

static void test_the_agents_end_ends_everything(void **state)
{
    (void)state;
    create_first(SANDBOX_RUNNING);
    fixture.agent = fd_close(fixture.agent);
    assert_int_equal(events_turn(&fixture.jailer.events, NULL), 0);
    assert_int_equal(fake_end, PROTO_END_SHUTDOWN);
    assert_null(fake.listener.say);
    assert_false(server_is_done(&fixture.server));
    fixture.jailer.sandbox_count = 0;
    assert_true(server_is_done(&fixture.server));
}

/* A second agent: it gets to know what is missing, and nothing that it asks for is made. */
static void test_unfit(void **state)
{
    (void)state;
    static struct checks checks;
    int fds[2];
    checks = (struct checks){.count = 2,
                             .results = {{PROTO_INFORMATION, PROTO_OUTCOME_OK, "a", "x", ""},
                                         {PROTO_REQUIRED, PROTO_OUTCOME_FAILED, "b.c", "y", "z"}}};
    server_done(&fixture.server);
    (void)fd_close(fixture.agent);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    fixture.agent = fds[0];
    server_init(&fixture.server, &fixture.jailer);
    fixture.server.checks = &checks;
    server_refuse_all(&fixture.server);
    assert_int_equal(server_adopt(&fixture.server, fds[1], NULL), 0);

    assert_string_equal(receive(PROTO_CHECK).check.name, "a");
    assert_string_equal(receive(PROTO_CHECK).check.advice, "z");
    struct proto_message hello = receive(PROTO_HELLO);
    assert_int_equal(hello.hello.version, PROTO_VERSION);
    assert_int_equal(hello.hello.cgroup_version, 0);
    assert_int_equal(hello.hello.max_runs, 0);
    assert_int_equal(hello.hello.profiles, 0);
    assert_int_equal(hello.hello.runtime_count, 0);
    assert_true(hello.hello.kernel[0] != '\0');

    struct proto_message message = create_message();
    tell(&message);
    struct proto_message refused = receive(PROTO_REFUSED);
    assert_int_equal(refused.refused.errnum, ENOTSUP);
    assert_non_null(strstr(refused.refused.text, "b.c"));
    assert_int_equal(fixture.jailer.sandbox_count, 0);
    message = start_message(1);
    tell(&message);
    message = (struct proto_message){.type = PROTO_KILL, .kill = {.id = ID}};
    tell(&message);
    assert_true(connection_is_open(&fixture.server.connection));
    assert_int_equal(fake_end, 0);
    fixture.agent = fd_close(fixture.agent);
    assert_int_equal(events_turn(&fixture.jailer.events, NULL), 0);
    assert_true(server_is_done(&fixture.server));
}

static void test_stopping(void **state)
{
    (void)state;
    create_first(SANDBOX_RUNNING);
    server_stop(&fixture.server);
    server_stop(&fixture.server);
    assert_int_equal(fake_end, PROTO_END_SHUTDOWN);
    assert_non_null(fake.listener.say);
    assert_false(server_is_done(&fixture.server));

    /* What the agent had on the way is no breach, and makes nothing new. */
    struct proto_message message = create_message();
    message.create.id[0] = 'f';
    tell(&message);
    assert_int_equal(receive(PROTO_REFUSED).refused.errnum, ESHUTDOWN);
    message = start_message(1);
    tell(&message);
    assert_int_equal(fake_timeout_ms, 0);
    assert_true(connection_is_open(&fixture.server.connection));
    fixture.jailer.sandbox_count = 0;
    assert_true(server_is_done(&fixture.server));
}

/* A listening server's agent, as if the listener had accepted it. */
static void be_listening(void)
{
    fixture.server.single = false;
    fixture.server.listen_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(fixture.server.listen_fd >= 0);
}

static void test_leaving_lets_the_agent_end_its_runs(void **state)
{
    (void)state;
    create_first(SANDBOX_READY);
    be_listening();
    server_leave(&fixture.server);
    server_leave(&fixture.server);
    assert_int_equal(receive(PROTO_NOTICE).notice.kind, PROTO_NOTICE_STOPPING);
    assert_int_equal(fake_end, 0);

    /* What was made before may start, run and be killed; nothing more is made. */
    struct proto_message message = start_message(1234);
    tell(&message);
    assert_int_equal(fake_timeout_ms, 1234);
    message = create_message();
    message.create.id[0] = 'f';
    tell(&message);
    assert_int_equal(receive(PROTO_REFUSED).refused.errnum, ESHUTDOWN);
    message = (struct proto_message){.type = PROTO_KILL, .kill = {.id = ID}};
    tell(&message);
    assert_int_equal(fake_end, PROTO_END_KILLED);
    fixture.jailer.sandbox_count = 0;
    assert_false(server_is_done(&fixture.server));

    fixture.agent = fd_close(fixture.agent);
    assert_int_equal(events_turn(&fixture.jailer.events, NULL), 0);
    assert_true(server_is_done(&fixture.server));
}

static void test_leaving_an_agent_that_breaks_off(void **state)
{
    (void)state;
    create_first(SANDBOX_RUNNING);
    be_listening();
    server_leave(&fixture.server);
    fixture.agent = fd_close(fixture.agent);
    assert_int_equal(events_turn(&fixture.jailer.events, NULL), 0);
    assert_int_equal(fake_end, PROTO_END_SHUTDOWN);
    assert_null(fake.listener.say);
    assert_false(server_is_done(&fixture.server));
    fixture.jailer.sandbox_count = 0;
    assert_true(server_is_done(&fixture.server));
}

static void test_leaving_where_nobody_is_served_is_stopping(void **state)
{
    (void)state;
    /* A single run's jailer has nobody who would wait for it. */
    server_leave(&fixture.server);
    assert_int_equal(fixture.server.phase, SERVER_STOPPING);

    fixture.server.phase = SERVER_UNFIT;
    be_listening();
    server_leave(&fixture.server);
    assert_int_equal(fixture.server.phase, SERVER_STOPPING);
}

/* A new agent of a server that stands by. */
static void connect_standing_by(void)
{
    int fds[2];
    server_done(&fixture.server);
    (void)fd_close(fixture.agent);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    fixture.agent = fds[0];
    server_init(&fixture.server, &fixture.jailer);
    server_stand_by(&fixture.server);
    assert_int_equal(server_adopt(&fixture.server, fds[1], NULL), 0);
    assert_int_equal(receive(PROTO_NOTICE).notice.kind, PROTO_NOTICE_WAITING);
}

static void test_standing_by(void **state)
{
    (void)state;
    connect_standing_by();
    server_serve(&fixture.server);
    assert_int_equal(receive(PROTO_HELLO).hello.max_runs, 8);
    struct proto_message message = create_message();
    tell(&message);
    assert_int_equal(fixture.jailer.sandbox_count, 1);

    /* Nothing may be asked for before. */
    connect_standing_by();
    expect_breach(&message);
}

static void test_standing_by_and_found_unfit(void **state)
{
    (void)state;
    static struct checks checks = {
        .count = 1, .results = {{PROTO_REQUIRED, PROTO_OUTCOME_FAILED, "b.c", "y", "z"}}};
    connect_standing_by();
    fixture.server.checks = &checks;
    server_refuse_all(&fixture.server);
    assert_string_equal(receive(PROTO_CHECK).check.name, "b.c");
    assert_int_equal(receive(PROTO_HELLO).hello.max_runs, 0);
}

static void test_a_full_socket_makes_words_wait_up_to_the_maximum(void **state)
{
    (void)state;
    create_first(SANDBOX_RUNNING);
    struct proto_message message = {.type = PROTO_FINISHED,
                                    .finished = {.id = ID, .end = PROTO_END_EXITED}};
    unsigned int said = 0;
    while (fixture.server.connection.queued == 0) {
        fake.listener.say(&message, NULL, fake.listener.arg);
        said++;
    }
    for (; fixture.server.connection.queued < MAX_OUTGOING; said++)
        fake.listener.say(&message, NULL, fake.listener.arg);
    assert_true(connection_is_open(&fixture.server.connection));

    /* Room again: all of them come, in order. */
    for (unsigned int i = 0; i < said; i++) {
        struct proto_message out;
        struct error err = {0};
        while (proto_receive(fixture.agent, &out, NULL, NULL, &err) == -EAGAIN)
            assert_int_equal(events_turn(&fixture.jailer.events, NULL), 0);
        assert_int_equal(out.type, PROTO_FINISHED);
    }
    assert_int_equal(fixture.server.connection.queued, 0);

    /* An agent that reads nothing at all ends its connection. */
    while (connection_is_open(&fixture.server.connection))
        fake.listener.say(&message, NULL, fake.listener.arg);
    assert_int_equal(fake_end, PROTO_END_SHUTDOWN);
    assert_int_equal(fixture.server.connection.queued, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_hello_tells_what_there_is, setup, teardown),
        cmocka_unit_test_setup_teardown(test_create_start_kill, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_granted_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_timeout_above_the_ceiling_refuses_the_jail, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_start_that_is_read_too_late_refuses_the_jail, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_start_that_is_read_in_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_words_about_the_unknown_are_ignored, setup, teardown),
        cmocka_unit_test_setup_teardown(test_create_of_an_id_in_use_is_a_breach, setup, teardown),
        cmocka_unit_test_setup_teardown(test_start_before_created_is_a_breach, setup, teardown),
        cmocka_unit_test_setup_teardown(test_second_start_is_a_breach, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_jailers_word_is_a_breach, setup, teardown),
        cmocka_unit_test_setup_teardown(test_garbage_is_a_breach, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_agents_end_ends_everything, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unfit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stopping, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leaving_lets_the_agent_end_its_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leaving_an_agent_that_breaks_off, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leaving_where_nobody_is_served_is_stopping, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_standing_by, setup, teardown),
        cmocka_unit_test_setup_teardown(test_standing_by_and_found_unfit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_full_socket_makes_words_wait_up_to_the_maximum,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
