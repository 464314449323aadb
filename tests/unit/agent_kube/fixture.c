/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/agent_kube/fixture.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/agent/retained.h"
#include "tests/unit/common/cmocka_setup.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATIENCE_TURNS 500
#define TURN_MS        20u

static bool has_mark(const char *id)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/run-%s", server_path("spool"), id);
    return access(path, F_OK) == 0;
}

static void on_request(struct fake_jailer *fake, const struct proto_message *message, void *arg)
{
    struct fixture *fixture = arg;

    if (message->type == PROTO_CREATE && !fixture->keeps_silent) {
        fake_jailer_created(fake, message->create.id);
    } else if (message->type == PROTO_START) {
        fixture->unmarked_starts += !has_mark(message->start.id);
        assert_true(fake_jailer_backstop_ms(fake) > message->start.timeout_ms);
        if (!fixture->finishes)
            return;
        assert_int_equal(fd_write_full(fake->stdout_fd, "hello\n", 6), 0);
        fake_jailer_finished(fake, message->start.id, PROTO_END_EXITED, 0);
    } else if (message->type == PROTO_KILL) {
        fake_jailer_finished(fake, message->kill.id, PROTO_END_KILLED, 0);
    }
}

static void on_ended(const struct error *err, void *arg)
{
    struct fixture *fixture = arg;

    assert_false(fixture->ended);
    fixture->ended = true;
    if (err)
        fixture->cause = *err;
}

void fixture_start(struct fixture *fixture, const char *script)
{
    /* Read as long as the agent lives. */
    static char socket[128];
    static char spool[128];
    if (fixture->lease_times.renew_ms == 0)
        fixture->lease_times = (struct lease_times){.duration_ms = DEFAULT_LEASE_DURATION_MS,
                                                    .renew_ms = DEFAULT_LEASE_RENEW_MS};
    const struct agent_options options = {
        .node_name = "node-a",
        .jailer_socket = socket,
        .spool_dir = spool,
        .lease_namespace = "system",
        .lease_times = fixture->lease_times,
        .kube = &fixture->server.config,
        .retain_output_ms = fixture->retain_output_ms,
        .retain_output_bytes = 64 << 20,
        .output_address = "127.0.0.1:0",
        .output_host = "10.0.0.7",
    };
    struct error err = {0};

    server_start(&fixture->server, script);
    (void)snprintf(socket, sizeof(socket), "%s", server_path("socket"));
    (void)snprintf(spool, sizeof(spool), "%s", server_path("spool"));
    fake_jailer_listen(&fixture->jailer, fixture->server.loop, socket);
    fixture->jailer.checks = fixture->checks;
    fixture->jailer.check_count = fixture->check_count;
    fixture->jailer.denies_network = fixture->denies_network;
    fixture->jailer.on_request = on_request;
    fixture->jailer.arg = fixture;
    if (agent_new(fixture->server.loop, &options, on_ended, fixture, &fixture->agent, &err) < 0)
        fail_msg("%s", err.text);
    /* Until it is connected. */
    for (int i = 0; i < PATIENCE_TURNS && fixture->jailer.sock < 0; i++)
        server_run_for(&fixture->server, TURN_MS);
    server_run_for(&fixture->server, TURN_MS);
}

void fixture_stop(struct fixture *fixture)
{
    agent_free(fixture->agent);
    fake_jailer_close(&fixture->jailer);
    server_stop(&fixture->server);
}

void fixture_wait(struct fixture *fixture, const char *text, unsigned int count)
{
    for (int i = 0; i < PATIENCE_TURNS; i++) {
        if (server_count(&fixture->server, text) >= count)
            return;
        server_run_for(&fixture->server, TURN_MS);
    }
    fail_msg("%u requests instead of %u with \"%s\"", server_count(&fixture->server, text), count,
             text);
}

void fixture_wait_jailer(struct fixture *fixture, enum proto_type type, size_t count)
{
    for (int i = 0; i < PATIENCE_TURNS; i++) {
        if (fake_jailer_count(&fixture->jailer, type) >= count)
            return;
        server_run_for(&fixture->server, TURN_MS);
    }
    fail_msg("the jailer was not asked %zu times for %d", count, (int)type);
}

void fixture_wait_end(struct fixture *fixture)
{
    for (int i = 0; i < PATIENCE_TURNS && !fixture->ended; i++)
        server_run_for(&fixture->server, TURN_MS);
    assert_true(fixture->ended);
}

/* Calls fn for each file of a run. */
static unsigned int each_spooled(void (*fn)(int dir, const char *name))
{
    unsigned int count = 0;
    DIR *dir = opendir(server_path("spool"));

    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        bool run = strncmp(entry->d_name, "run-", 4) == 0;
        count += run;
        if (fn && entry->d_name[0] != '.')
            fn(dirfd(dir), entry->d_name);
    }
    (void)closedir(dir);
    return count;
}

unsigned int fixture_spooled(void)
{
    return each_spooled(NULL);
}

static void remove_file(int dir, const char *name)
{
    (void)unlinkat(dir, name, 0);
}

int fixture_clean(void **state)
{
    char path[256];

    (void)state;
    (void)each_spooled(remove_file);
    (void)snprintf(path, sizeof(path), "%s/" RETAINED_DIR, server_path("spool"));
    DIR *dir = opendir(path);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] != '.')
            remove_file(dirfd(dir), entry->d_name);
    }
    if (dir)
        (void)closedir(dir);
    (void)rmdir(path);
    /* Another directory: a test that failed may still hold the lock of the last one. */
    (void)rmdir(server_path("spool"));
    return mkdir(server_path("spool"), 0700);
}

void fixture_spool(const char *name, const char *text)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", server_path("spool"), name);
    cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_full(fd, text, strlen(text)), 0);
}

int fixture_setup(void **state)
{
    if (server_setup(state) != 0)
        return -1;
    return mkdir(server_path("spool"), 0700);
}

int fixture_teardown(void **state)
{
    (void)fixture_clean(state);
    (void)rmdir(server_path("spool"));
    (void)unlink(server_path("socket"));
    return server_teardown(state);
}
