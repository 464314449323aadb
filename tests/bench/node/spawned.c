/* SPDX-License-Identifier: Apache-2.0 */

/* One process that is started for each run, and ends with it. */
#include "tests/bench/node/worker.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#define MAX_WORD_BYTES 4096u

/* What stands for the placeholders of one run. */
struct filling {
    const char *code;
    char id[64];
    char worker[16];
};

static void fill(struct filling *filling, const char *code, unsigned int worker)
{
    static unsigned int serial;
    filling->code = code;
    (void)snprintf(filling->id, sizeof(filling->id), "sandboxrun-bench-%d-%u", (int)getpid(),
                   serial++);
    (void)snprintf(filling->worker, sizeof(filling->worker), "%u", worker);
}

static int expand(const char *word, const struct filling *filling, char **ret_word)
{
    const struct {
        const char *name, *value;
    } places[] = {{"{code}", filling->code}, {"{id}", filling->id}, {"{worker}", filling->worker}};
    cleanup_buf struct buf text = BUF_INIT(MAX_WORD_BYTES);
    int r = 0;
    while (*word && r >= 0) {
        size_t taken = 0;
        for (size_t i = 0; taken == 0 && i < ARRAY_SIZE(places); i++) {
            if (strncmp(word, places[i].name, strlen(places[i].name)) == 0) {
                r = buf_append_str(&text, places[i].value);
                taken = strlen(places[i].name);
            }
        }
        if (taken == 0)
            r = buf_append_char(&text, *word);
        word += taken ? taken : 1;
    }
    if (r >= 0)
        *ret_word = buf_take(&text);
    return r < 0 ? r : *ret_word ? 0 : -ENOMEM;
}

/* Reads output to its end, and keeps what has room; what comes first is timed. */
static int read_output(int fd, struct sample *sample, size_t *len)
{
    char bytes[256] = {0};
    for (;;) {
        ssize_t got = read(fd, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : 0;
        if (sample->output_ns == 0)
            sample->output_ns = clock_monotonic_ns();
        size_t room = sizeof(sample->output) - 1 - *len;
        size_t kept = (size_t)got < room ? (size_t)got : room;
        memcpy(sample->output + *len, bytes, kept);
        *len += kept;
    }
}

static int spawn_and_reap(const char *const argv[], struct sample *sample, size_t *len,
                          struct error *err)
{
    int fds[2];
    int r = fd_pipe(fds, 0);
    if (r < 0)
        return error_set_errno(err, -r, "make a pipe");
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    pid_t pid;
    r = posix_spawnp(&pid, argv[0], &actions, NULL, spawn_arguments(argv), environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    fds[1] = fd_close(fds[1]);
    if (r != 0) {
        (void)fd_close(fds[0]);
        return error_set_errno(err, r, "start %s", argv[0]);
    }
    r = read_output(fds[0], sample, len);
    (void)fd_close(fds[0]);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return error_set_errno(err, errno, "wait for %s", argv[0]);
    }
    if (r < 0)
        return error_set_errno(err, -r, "read from %s", argv[0]);
    return status == 0 ? 0 : error_set(err, EIO, "%s ended with status %d", argv[0], status);
}

/* The command that begins at words[*at]. */
static int run_command(const struct contender *contender, size_t *at, const struct filling *filling,
                       struct sample *sample, size_t *len, struct error *err)
{
    char *argv[MAX_WORDS + 1] = {0};
    size_t count = 0;
    int r = 0;
    for (; *at < contender->word_count && strcmp(contender->words[*at], ";") != 0 && r >= 0; ++*at)
        r = expand(contender->words[*at], filling, &argv[count++]);
    ++*at;
    if (r >= 0 && count == 0)
        r = -EINVAL;
    if (r < 0)
        (void)error_set_errno(err, -r, "put together the command of %s", contender->name);
    else
        r = spawn_and_reap((const char *const *)argv, sample, len, err);
    for (size_t i = 0; i < count; i++)
        free(argv[i]);
    return r;
}

static int run_all(struct contender *contender, const char *code, unsigned int worker,
                   struct sample *sample, struct error *err)
{
    struct filling filling;
    fill(&filling, code, worker);
    *sample = (struct sample){0};
    size_t len = 0;
    uint64_t from_ns = clock_monotonic_ns();
    int r = 0;
    for (size_t at = 0; at < contender->word_count && r >= 0;)
        r = run_command(contender, &at, &filling, sample, &len, err);
    sample->end_ns = clock_monotonic_ns() - from_ns;
    sample->output_ns -= sample->output_ns ? from_ns : 0;
    if (r >= 0 && len == 0)
        return error_set(err, EIO, "%s printed nothing", contender->name);
    return r;
}

static int spawned_open(struct contender *contender, struct error *err)
{
    (void)contender;
    (void)err;
    return 0;
}

static int spawned_run(struct contender *contender, const char *code, struct sample *ret_sample,
                       struct error *err)
{
    return run_all(contender, code, 0, ret_sample, err);
}

static int worker_run(struct contender *contender, const char *code, unsigned int worker,
                      struct error *err)
{
    struct sample sample;
    return run_all(contender, code, worker, &sample, err);
}

static int spawned_flood(struct contender *contender, const char *code, unsigned int at_once,
                         uint64_t window_ms, struct flood *ret_flood, struct error *err)
{
    return workers_flood(contender, worker_run, code, at_once, window_ms, ret_flood, err);
}

static void spawned_close(struct contender *contender)
{
    (void)contender;
}

const struct contender_kind spawned_kind = {
    .name = "spawned",
    .open = spawned_open,
    .run = spawned_run,
    .flood = spawned_flood,
    .close = spawned_close,
};
