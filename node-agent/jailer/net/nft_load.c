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

/* Feeds the text, whose end is closed then, and keeps the first words until nft closes its end. */
static int converse(int *text_fd, int words_fd, const char *text, size_t len, char *words,
                    size_t size)
{
    size_t sent = 0, kept = 0;
    struct pollfd fds[] = {{.fd = words_fd, .events = POLLIN}, {.fd = *text_fd, .events = POLLOUT}};
    for (;;) {
        int n = poll(fds, ARRAY_SIZE(fds), NFT_WITHIN_MS);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -ETIMEDOUT;
        if (fds[1].revents != 0) {
            ssize_t wrote = sent < len ? write(*text_fd, text + sent, len - sent) : 0;
            if (wrote > 0)
                sent += (size_t)wrote;
            if (sent == len || (wrote < 0 && errno != EAGAIN))
                fds[1].fd = *text_fd = fd_close(*text_fd);
        }
        if (fds[0].revents != 0) {
            char rest[512];
            bool full = kept + 1 >= size;
            ssize_t got =
                read(words_fd, full ? rest : words + kept, full ? sizeof(rest) : size - 1 - kept);
            if (got <= 0)
                return 0;
            kept += full ? 0 : (size_t)got;
            words[kept] = '\0';
        }
    }
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

static int open_pipe(int *ret_read, int *ret_write)
{
    int ends[2];
    int r = fd_pipe(ends, 0);
    if (r < 0)
        return r;
    *ret_read = ends[0];
    *ret_write = ends[1];
    return 0;
}

int nft_load(const char *text, size_t len, struct error *err)
{
    const char *program = nft_load_find();
    cleanup_close int text_in = -1, text_out = -1, words_in = -1, words_out = -1;
    char words[256] = "";
    if (!program)
        return error_set(err, ENOENT, "there is no nft here: install the package nftables");
    int r = open_pipe(&text_in, &text_out);
    if (r >= 0)
        r = open_pipe(&words_in, &words_out);
    if (r < 0)
        return error_set_errno(err, -r, "make a pipe to nft");
    pid_t pid = fork();
    if (pid < 0)
        return error_set_errno(err, errno, "start nft");
    if (pid == 0)
        run(program, text_in, words_out);
    text_in = fd_close(text_in);
    words_out = fd_close(words_out);
    (void)fd_set_nonblock(text_out, true);
    r = converse(&text_out, words_in, text, len, words, sizeof(words));
    words_in = fd_close(words_in);
    if (r < 0)
        (void)kill(pid, SIGKILL);
    int status = wait_for(pid);
    words[strcspn(words, "\n")] = '\0';
    if (r < 0)
        return error_set_errno(err, -r, "have nft load the table");
    if (status != 0)
        return error_set(err, EIO, "nft does not load the table (wait status %#x): %s",
                         (unsigned int)status, words);
    return 0;
}
