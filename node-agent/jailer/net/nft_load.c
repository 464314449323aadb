/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net/nft_load.h"

#include "common/cleanup.h"
#include "common/fd.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define NFT_WITHIN_MS 20000

static const char *const places[] = {"/usr/sbin/nft", "/sbin/nft", "/usr/local/sbin/nft",
                                     "/usr/bin/nft"};

const char *nft_load_find(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        if (access(places[i], X_OK) == 0)
            return places[i];
    }
    return NULL;
}

/* no_new_privs keeps root from its usual gain at exec: all of the bounding set. */
static _Noreturn void run(const char *program, int text_fd, int words_fd)
{
    static char from[] = "-f", standard_input[] = "-", locale[] = "LC_ALL=C";
    char *const argv[] = {(char *)(uintptr_t)program, from, standard_input, NULL};
    char *const env[] = {locale, NULL};
    sigset_t none;
    const int flags = 0; /* nft inherits them: without O_CLOEXEC */
    (void)sigemptyset(&none);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (sigprocmask(SIG_SETMASK, &none, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        dup3(text_fd, STDIN_FILENO, flags) >= 0 && dup3(words_fd, STDOUT_FILENO, flags) >= 0 &&
        dup3(words_fd, STDERR_FILENO, flags) >= 0 &&
        close_range(STDERR_FILENO + 1, UINT_MAX, 0) == 0)
        (void)execve(program, argv, env);
    _exit(127);
}

/* Feeds the text and keeps the first words; both until nft closes its end. */
static int converse(int text_fd, int words_fd, const char *text, size_t len, char *words,
                    size_t size)
{
    size_t sent = 0, kept = 0;
    struct pollfd fds[] = {{.fd = words_fd, .events = POLLIN}, {.fd = text_fd, .events = POLLOUT}};
    for (;;) {
        int n = poll(fds, ARRAY_SIZE(fds), NFT_WITHIN_MS);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -ETIMEDOUT;
        if (fds[1].revents != 0) {
            ssize_t wrote = sent < len ? write(text_fd, text + sent, len - sent) : 0;
            if (wrote > 0)
                sent += (size_t)wrote;
            if (sent == len || (wrote < 0 && errno != EAGAIN)) {
                fds[1].fd = -1;
                (void)close(text_fd);
            }
        }
        if (fds[0].revents != 0) {
            char rest[512];
            bool full = kept + 1 >= size;
            ssize_t got =
                read(words_fd, full ? rest : words + kept, full ? sizeof(rest) : size - 1 - kept);
            if (got <= 0) {
                if (fds[1].fd >= 0)
                    (void)close(text_fd);
                return 0;
            }
            kept += full ? 0 : (size_t)got;
            words[kept] = '\0';
        }
    }
}

/* The first line, without what can't stand in one. */
static void keep_first_line(char *words)
{
    words[strcspn(words, "\n")] = '\0';
}

static int wait_for(pid_t pid)
{
    int status = 0;
    pid_t got = 0;
    do {
        got = waitpid(pid, &status, 0);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : status;
}

int nft_load(const char *text, size_t len, struct error *err)
{
    const char *program = nft_load_find();
    int to[2], from[2];
    if (!program)
        return error_set(err, ENOENT, "there is no nft here: install the package nftables");
    int r = fd_pipe(to, 0);
    if (r < 0)
        return error_set_errno(err, -r, "make a pipe to nft");
    r = fd_pipe(from, 0);
    if (r < 0) {
        (void)fd_close(to[0]);
        (void)fd_close(to[1]);
        return error_set_errno(err, -r, "make a pipe from nft");
    }
    char words[256] = "";
    pid_t pid = fork();
    int failure = errno;
    if (pid == 0)
        run(program, to[0], from[1]);
    (void)fd_close(to[0]);
    (void)fd_close(from[1]);
    if (pid < 0) {
        (void)fd_close(to[1]);
        (void)fd_close(from[0]);
        return error_set_errno(err, failure, "start nft");
    }
    (void)fd_set_nonblock(to[1], true);
    r = converse(to[1], from[0], text, len, words, sizeof(words));
    (void)fd_close(from[0]);
    if (r < 0)
        (void)kill(pid, SIGKILL);
    int status = wait_for(pid);
    keep_first_line(words);
    if (r < 0)
        return error_set_errno(err, -r, "have nft load the table");
    if (status != 0)
        return error_set(err, EIO, "nft does not load the table (wait status %#x): %s",
                         (unsigned int)status, words);
    return 0;
}
