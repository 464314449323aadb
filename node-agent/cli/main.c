/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandboxrun: runs SandboxRun files on this machine, without a cluster, and tells whether it can
 * (doctor_command.c). Theory of operation.
 *
 * Processes and users. Three programs: this one and its children, sandboxrun-jailer and, where a
 * document asks for ToolCall, sandboxrun-resolver.
 *
 *   caller (root, mostly by sudo)
 *     sandboxrun run           1. opens the files it is given, as root
 *       two children           2. are made, and wait (gated_process.h)
 *                              3. sandboxrun becomes the user behind sudo, or 65532: no
 *                                 capability in any set, no_new_privs, for good
 *                              4. reads and parses the files
 *       sandboxrun-jailer      5. is told to begin, and stays root: it makes the jails
 *       sandboxrun-resolver    5. is told to begin or to end; it leaves root by itself (65533)
 *                              6. sandboxrun talks to the jailer
 *
 * Files are opened before rights are given up, since the caller may read what the user behind
 * sudo may not, and parsed after, since YAML and JSON come from anywhere. Every document is
 * checked before the first is started.
 *
 * Descriptors. We and the jailer are joined by a socketpair (SOCK_SEQPACKET, the protocol of
 * node-agent/proto), which is descriptor 3 of the jailer, the jailer and the resolver by another
 * one (4 and 3). Of ours both inherit stderr, for their logs, and nothing else: stdin and stdout
 * are /dev/null, the environment is a PATH. They have no controlling terminal, so that Ctrl-C
 * reaches us alone. For each run it sends us the writing end of the request pipe, the reading ends
 * of stdout and stderr, and a timer (node-agent/proto/proto_messages.h).
 *
 * Handshakes. HELLO tells what the jailer can run; what it can't is refused by us before anything
 * starts. A run's own are those of node-agent/agent/run.c, which is the agent's code, unchanged.
 *
 * Ends. A run is over when the jailer says FINISHED: its processes, cgroup and files are gone by
 * then. SIGINT, SIGTERM, SIGHUP and a failing stdout cancel what runs, and we wait for those ends.
 * - If we die, the socket closes: the jailer kills and sweeps everything and ends.
 * - If the resolver dies, lookups fail and no further ToolCall run is made. It ends with the
 *   jailer.
 * - If the jailer dies, the kernel kills the jails (its lifeline pipes close), the runs end as
 *   JailerLost and we exit with 125. What it could not sweep the next jailer does.
 * - If a reader of our output stalls, the program's pipes fill up and it waits; its deadline is
 *   the jailer's and comes all the same, and a signal ends our own wait.
 */
#include "node-agent/cli/doctor_command.h"
#include "node-agent/cli/exit_code.h"
#include "node-agent/cli/message.h"
#include "node-agent/cli/run_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int help_command(int argc, char **argv);
static int version_command(int argc, char **argv);

static const struct {
    const char *name;
    const char *summary; /* NULL: another spelling, not listed */
    int (*fn)(int argc, char **argv);
} commands[] = {
    {"run", "run SandboxRun files or Python programs on this machine", run_command},
    {"doctor", "look at every precondition of this machine, and try a sandbox", doctor_command},
    {"help", "this text; `sandboxrun COMMAND --help` says more about one", help_command},
    {"version", "the version of this program", version_command},
    {"--help", NULL, help_command},
    {"-h", NULL, help_command},
    {"--version", NULL, version_command},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *file)
{
    (void)fputs("usage: sandboxrun COMMAND [OPTION...]\n\nCommands:\n", file);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (commands[i].summary)
            (void)fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].summary);
    }
}

static int refuse_arguments(int argc, char **argv)
{
    if (argc <= 1)
        return 0;
    message_print("unexpected argument %s; see sandboxrun --help", argv[1]);
    return EXIT_CODE_USAGE;
}

static int help_command(int argc, char **argv)
{
    int r = refuse_arguments(argc, argv);
    if (r != 0)
        return r;
    print_help(stdout);
    return fflush(stdout) != 0;
}

static int version_command(int argc, char **argv)
{
    int r = refuse_arguments(argc, argv);
    if (r != 0)
        return r;
    (void)printf("sandboxrun %s\n", SANDBOXRUN_VERSION);
    return fflush(stdout) != 0;
}

/* A descriptor that the caller has closed would be the next one that is opened: the program's
 * output would go into a file or into the socket to the jailer. In its place stands one that fails.
 */
static int fill_standard_fds(void)
{
    static const int modes[] = {
        [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd] | O_CLOEXEC) != fd)
            return -errno;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (fill_standard_fds() < 0)
        return EXIT_CODE_REFUSED;
    if (argc < 2) {
        print_help(stderr);
        return EXIT_CODE_USAGE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].fn(argc - 1, argv + 1);
    }
    message_print("no command %s; see sandboxrun --help", argv[1]);
    return EXIT_CODE_USAGE;
}
