/* SPDX-License-Identifier: Apache-2.0 */

/* What an agent may say when: the server with its real socket, and sandboxes that only tell what
 * was done to them. */
#include "server_fixture.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/sandbox.h"
#include "node-agent/jailer/server.h"

#include <string.h>
#include <sys/socket.h>

#define MIB (1ull << 20)

static void test_hello_tells_what_there_is(void **state)
{
    (void)state;
    struct proto_message message = fixture_receive(PROTO_HELLO);
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
    (void)fixture_receive(PROTO_HELLO);
    struct proto_message message = fixture_create_message();
    fixture_tell(&message);
    assert_string_equal(fake.id, ID);
    fake.state = SANDBOX_READY;
    message = fixture_start_message(1234);
    fixture_tell(&message);
    assert_int_equal(fake_timeout_ms, 1234);
    message = (struct proto_message){.type = PROTO_KILL, .kill = {.id = ID}};
    fixture_tell(&message);
    assert_int_equal(fake_end, PROTO_END_KILLED);
    assert_true(connection_is_open(&fixture.server.connection));
}

static void test_what_is_not_granted_is_refused(void **state)
{
    (void)state;
    (void)fixture_receive(PROTO_HELLO);
    struct proto_message message = fixture_create_message();
    message.create.cpu_milli = 1001;
    fixture_tell(&message);
    struct proto_message refused = fixture_receive(PROTO_REFUSED);
    assert_string_equal(refused.refused.id, ID);
    assert_string_equal(refused.refused.lock, "request");
    assert_non_null(strstr(refused.refused.text, "Snippet"));

    fake_refuses = true;
    message = fixture_create_message();
    fixture_tell(&message);
    refused = fixture_receive(PROTO_REFUSED);
    assert_string_equal(refused.refused.lock, "cgroup");
    assert_true(connection_is_open(&fixture.server.connection));
}

static void test_timeout_above_the_ceiling_refuses_the_jail(void **state)
{
    (void)state;
    struct proto_message message = fixture_create_message();
    fixture_tell(&message);
    fake.state = SANDBOX_READY;
    message = fixture_start_message(60001);
    fixture_tell(&message);
    assert_string_equal(fake_refusal_lock, "request");
    assert_int_equal(fake_timeout_ms, 0);
}

/* Its node's lease may have run out while the word lay in the socket. */
static void test_a_start_that_is_read_too_late_refuses_the_jail(void **state)
{
    (void)state;
    struct proto_message message = fixture_create_message();
    fixture_tell(&message);
    fake.state = SANDBOX_READY;
    message = fixture_start_message(1234);
    message.start.not_after_boottime_ns = clock_boottime_ns() - 1;
    fixture_tell(&message);
    assert_string_equal(fake_refusal_lock, "request");
    assert_int_equal(fake_timeout_ms, 0);
    assert_true(connection_is_open(&fixture.server.connection));
}

static void test_a_start_that_is_read_in_time(void **state)
{
    (void)state;
    struct proto_message message = fixture_create_message();
    fixture_tell(&message);
    fake.state = SANDBOX_READY;
    message = fixture_start_message(1234);
    message.start.not_after_boottime_ns = clock_boottime_ns() + UINT64_C(60000000000);
    fixture_tell(&message);
    assert_int_equal(fake_timeout_ms, 1234);
}

static void test_words_about_the_unknown_are_ignored(void **state)
{
    (void)state;
    struct proto_message message = fixture_start_message(1);
    fixture_tell(&message);
    message = (struct proto_message){.type = PROTO_KILL, .kill = {.id = ID}};
    fixture_tell(&message);
    assert_int_equal(fake_end, 0);
    message = fixture_create_message();
    fixture_tell(&message);
    fake.state = SANDBOX_SWEEPING;
    message = fixture_start_message(1);
    fixture_tell(&message);
    assert_int_equal(fake_timeout_ms, 0);
    assert_true(connection_is_open(&fixture.server.connection));
}

/* Each ends the connection, and what was made for it. */
static void expect_breach(const struct proto_message *message)
{
    fixture_tell(message);
    assert_true(fixture_connection_ended());
    assert_int_equal(fake_end, PROTO_END_SHUTDOWN);
    assert_null(fake.listener.say);
}

static void create_first(enum sandbox_state sandbox_state)
{
    struct proto_message message = fixture_create_message();
    (void)fixture_receive(PROTO_HELLO);
    fixture_tell(&message);
    fake.state = sandbox_state;
}

static void test_create_of_an_id_in_use_is_a_breach(void **state)
{
    (void)state;
    create_first(SANDBOX_SWEEPING);
    struct proto_message message = fixture_create_message();
    expect_breach(&message);
}

static void test_start_before_created_is_a_breach(void **state)
{
    (void)state;
    create_first(SANDBOX_CREATING);
    struct proto_message message = fixture_start_message(1);
    expect_breach(&message);
}

static void test_second_start_is_a_breach(void **state)
{
    (void)state;
    create_first(SANDBOX_RUNNING);
    struct proto_message message = fixture_start_message(1);
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
    assert_true(fixture_connection_ended());
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
    checks = (struct checks){.count = 2,
                             .results = {{PROTO_INFORMATION, PROTO_OUTCOME_OK, "a", "x", ""},
                                         {PROTO_REQUIRED, PROTO_OUTCOME_FAILED, "b.c", "y", "z"}}};
    fixture_begin_anew();
    fixture.server.checks = &checks;
    server_refuse_all(&fixture.server);
    fixture_connect();

    assert_string_equal(fixture_receive(PROTO_CHECK).check.name, "a");
    assert_string_equal(fixture_receive(PROTO_CHECK).check.advice, "z");
    struct proto_message hello = fixture_receive(PROTO_HELLO);
    assert_int_equal(hello.hello.version, PROTO_VERSION);
    assert_int_equal(hello.hello.cgroup_version, 0);
    assert_int_equal(hello.hello.max_runs, 0);
    assert_int_equal(hello.hello.profiles, 0);
    assert_int_equal(hello.hello.runtime_count, 0);
    assert_true(hello.hello.kernel[0] != '\0');

    struct proto_message message = fixture_create_message();
    fixture_tell(&message);
    struct proto_message refused = fixture_receive(PROTO_REFUSED);
    assert_int_equal(refused.refused.errnum, ENOTSUP);
    assert_non_null(strstr(refused.refused.text, "b.c"));
    assert_int_equal(fixture.jailer.sandbox_count, 0);
    message = fixture_start_message(1);
    fixture_tell(&message);
    message = (struct proto_message){.type = PROTO_KILL, .kill = {.id = ID}};
    fixture_tell(&message);
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
    struct proto_message message = fixture_create_message();
    message.create.id[0] = 'f';
    fixture_tell(&message);
    assert_int_equal(fixture_receive(PROTO_REFUSED).refused.errnum, ESHUTDOWN);
    message = fixture_start_message(1);
    fixture_tell(&message);
    assert_int_equal(fake_timeout_ms, 0);
    assert_true(connection_is_open(&fixture.server.connection));
    fixture.jailer.sandbox_count = 0;
    assert_true(server_is_done(&fixture.server));
}

static void test_leaving_lets_the_agent_end_its_runs(void **state)
{
    (void)state;
    create_first(SANDBOX_READY);
    fixture_be_listening();
    server_leave(&fixture.server);
    server_leave(&fixture.server);
    assert_int_equal(fixture_receive(PROTO_NOTICE).notice.kind, PROTO_NOTICE_STOPPING);
    assert_int_equal(fake_end, 0);

    /* What was made before may start, run and be killed; nothing more is made. */
    struct proto_message message = fixture_start_message(1234);
    fixture_tell(&message);
    assert_int_equal(fake_timeout_ms, 1234);
    message = fixture_create_message();
    message.create.id[0] = 'f';
    fixture_tell(&message);
    assert_int_equal(fixture_receive(PROTO_REFUSED).refused.errnum, ESHUTDOWN);
    message = (struct proto_message){.type = PROTO_KILL, .kill = {.id = ID}};
    fixture_tell(&message);
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
    fixture_be_listening();
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
    fixture_be_listening();
    server_leave(&fixture.server);
    assert_int_equal(fixture.server.phase, SERVER_STOPPING);
}

/* A new agent of a server that stands by. */
static void connect_standing_by(void)
{
    fixture_begin_anew();
    server_stand_by(&fixture.server);
    fixture_connect();
    assert_int_equal(fixture_receive(PROTO_NOTICE).notice.kind, PROTO_NOTICE_WAITING);
}

static void test_standing_by(void **state)
{
    (void)state;
    connect_standing_by();
    server_serve(&fixture.server);
    assert_int_equal(fixture_receive(PROTO_HELLO).hello.max_runs, 8);
    struct proto_message message = fixture_create_message();
    fixture_tell(&message);
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
    assert_string_equal(fixture_receive(PROTO_CHECK).check.name, "b.c");
    assert_int_equal(fixture_receive(PROTO_HELLO).hello.max_runs, 0);
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
        cmocka_unit_test_setup_teardown(test_hello_tells_what_there_is, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_create_start_kill, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_granted_is_refused, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_timeout_above_the_ceiling_refuses_the_jail,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_start_that_is_read_too_late_refuses_the_jail,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_start_that_is_read_in_time, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_words_about_the_unknown_are_ignored, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_create_of_an_id_in_use_is_a_breach, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_start_before_created_is_a_breach, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_second_start_is_a_breach, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_jailers_word_is_a_breach, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_garbage_is_a_breach, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_the_agents_end_ends_everything, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_unfit, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_stopping, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_leaving_lets_the_agent_end_its_runs, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_leaving_an_agent_that_breaks_off, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_leaving_where_nobody_is_served_is_stopping,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_standing_by, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_standing_by_and_found_unfit, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_full_socket_makes_words_wait_up_to_the_maximum,
                                        fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
