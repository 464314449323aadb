/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WATCHDOG_MS 20000u

static char directory[64];
static pid_t child = -1;
static int scripts = -1; /* to the child */
static int output = -1;  /* from it */
static struct buf record;

const char *server_path(const char *name)
{
    static char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static void become_server(const int input[2], const int outputs[2])
{
    char path[] = TEST_SOURCE_DIR "/../kube/server.py";
    char python[] = "python3";
    char *const argv[] = {python, path, directory, NULL};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(input[0], STDIN_FILENO) >= 0 && dup2(outputs[1], STDOUT_FILENO) >= 0)
        (void)execvp(python, argv);
    _exit(127);
}

int server_setup(void **state)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    int input[2];
    int outputs[2];

    (void)state;
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)snprintf(directory, sizeof(directory), "/tmp/sandboxrun-kube-XXXXXX");
    if (!mkdtemp(directory) || fd_pipe(input, 0) < 0 || fd_pipe(outputs, 0) < 0)
        return -1;
    child = fork();
    if (child == 0)
        become_server(input, outputs);
    (void)fd_close(input[0]);
    (void)fd_close(outputs[1]);
    scripts = input[1];
    output = outputs[0];
    buf_init(&record, 64u << 20);
    return child < 0 ? -1 : fd_set_nonblock(output, true);
}

int server_teardown(void **state)
{
    static const char *const names[] = {"conf",       "ca.pem",    "ca.key",     "ca.srl",
                                        "other.pem",  "other.key", "server.pem", "server.key",
                                        "server.csr", "token"};

    (void)state;
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    (void)fd_close(scripts);
    (void)fd_close(output);
    buf_done(&record);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        (void)unlink(server_path(names[i]));
    return rmdir(directory);
}

static void read_record(void)
{
    char piece[4096];
    ssize_t n;

    while ((n = fd_read_full(output, piece, sizeof(piece))) > 0)
        assert_int_equal(buf_append(&record, piece, (size_t)n), 0);
}

/* The answer to a script: the last line that tells a port. */
static int read_port(void)
{
    for (int waited_ms = 0; waited_ms < (int)WATCHDOG_MS; waited_ms += 100) {
        struct pollfd ready = {.fd = output, .events = POLLIN};
        (void)poll(&ready, 1, 100);
        read_record();
        const char *line = strstr(buf_str(&record), "port ");
        const char *end = line ? strchr(line, '\n') : NULL;
        if (!end)
            continue;
        char text[8] = "";
        uint64_t port;
        memcpy(text, line + 5, (size_t)(end - line - 5));
        assert_int_equal(parse_u64(text, 1, 65535, &port), 0);
        /* What came before it is of servers that are gone. */
        buf_consume(&record, (size_t)(end + 1 - buf_str(&record)));
        return (int)port;
    }
    fail_msg("server.py does not answer");
    return 0;
}

static void on_watchdog(void *arg)
{
    struct server *server = arg;

    server->timed_out = true;
    loop_stop(server->loop);
}

void server_start(struct server *server, const char *script)
{
    *server = (struct server){0};
    read_record();
    assert_int_equal(fd_write_full(scripts, script, strlen(script)), 0);
    assert_int_equal(fd_write_full(scripts, "\n", 1), 0);
    server->port = read_port();
    assert_int_equal(loop_new(&server->loop, NULL), 0);
    assert_int_equal(loop_timer_new(server->loop, on_watchdog, server, &server->watchdog), 0);
    assert_true(asprintf(&server->config.server, "https://127.0.0.1:%d", server->port) > 0);
    server->config.ca_file = strdup(server_path("ca.pem"));
    server->config.token = strdup("sesame");
}

void server_client(struct server *server)
{
    struct error err = {0};

    if (kube_client_new(server->loop, &server->config, "test/1", &server->client, &err) < 0)
        fail_msg("%s", err.text);
}

void server_run(struct server *server)
{
    server->timed_out = false;
    assert_int_equal(loop_timer_arm(server->watchdog, WATCHDOG_MS), 0);
    assert_int_equal(loop_run(server->loop, NULL), 0);
    loop_timer_disarm(server->watchdog);
    if (server->timed_out)
        fail_msg("nothing has come of it after %u ms", WATCHDOG_MS);
}

void server_run_for(struct server *server, unsigned int ms)
{
    assert_int_equal(loop_timer_arm(server->watchdog, ms), 0);
    assert_int_equal(loop_run(server->loop, NULL), 0);
}

unsigned int server_count(struct server *server, const char *text)
{
    unsigned int count = 0;
    char prefix[16];

    (void)snprintf(prefix, sizeof(prefix), "%d [", server->port);
    read_record();
    const char *line = buf_str(&record);
    for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
        const char *found = strstr(line, text);
        count += strncmp(line, prefix, strlen(prefix)) == 0 && found && found < end;
    }
    return count;
}

void server_stop(struct server *server)
{
    kube_client_free(server->client);
    loop_timer_free(server->watchdog);
    loop_free(server->loop);
    kube_config_done(&server->config);
}
