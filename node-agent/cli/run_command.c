/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/run_command.h"

#include "common/cleanup.h"
#include "common/loop.h"
#include "common/yaml.h"
#include "node-agent/agent/jailer_client.h"
#include "node-agent/cli/batch.h"
#include "node-agent/cli/documents.h"
#include "node-agent/cli/exit_code.h"
#include "node-agent/cli/input.h"
#include "node-agent/cli/jailer_process.h"
#include "node-agent/cli/message.h"
#include "node-agent/cli/options.h"
#include "node-agent/cli/privilege.h"
#include "node-agent/cli/program.h"
#include "node-agent/cli/report.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

struct command {
    struct run_options options;
    struct input inputs[MAX_INPUTS];
    struct input stdin_file;
    struct jailer_process jailer;
    struct document_list documents;
    struct loop *loop;
    struct jailer_client *client;
    struct batch *batch;
    struct report *report;
    int signal_fd;
    struct loop_io *signal_io;
    int signum;           /* that asked us to end; 0: none */
    bool greeted;         /* the jailer has said hello */
    bool ready;           /* and the batch has begun */
    struct error failure; /* the first fault of ours; code 0: none */
};

static void fail(struct command *command, const struct error *err)
{
    if (command->failure.code == 0)
        command->failure = *err;
}

/* "run add.py 1 2": the 1 was hardly meant for a file. */
static bool looks_like_argument(const struct run_options *options, size_t index,
                                const struct error *err)
{
    return err->code == ENOENT && index > 0 && options_is_program(options->inputs[0]) &&
           options->program.arg_count == 0;
}

static int open_inputs(struct command *command, struct error *err)
{
    const struct run_options *options = &command->options;
    for (size_t i = 0; i < options->input_count; i++) {
        int r = input_open(options->inputs[i], &command->inputs[i], err);
        if (r < 0 && looks_like_argument(options, i, err))
            return error_set(
                err, ENOENT,
                "%s: no such file; arguments of a program go behind --, as in %s -- %s",
                options->inputs[i], options->inputs[0], options->inputs[i]);
        if (r < 0)
            return r;
    }
    if (!options->program.stdin_path)
        return 0;
    int r = input_open(options->program.stdin_path, &command->stdin_file, err);
    return r < 0 ? error_wrap(err, "--stdin") : 0;
}

/* As root; it waits for what the documents ask for. */
static int prepare_jailer(struct command *command, struct error *err)
{
    char program[MAX_PATH_CANDIDATE];
    char runtimes_dir[MAX_PATH_CANDIDATE];
    int r = jailer_process_find(command->options.jailer, program, err);
    if (r >= 0)
        r = jailer_process_find_runtimes(command->options.runtimes_dir, runtimes_dir, err);
    return r < 0 ? r : jailer_process_prepare(program, runtimes_dir, &command->jailer, err);
}

static int add_program(struct command *command, const struct input *input,
                       const struct buf *stdin_text, struct error *err)
{
    cleanup_buf struct buf code = BUF_INIT(MAX_REQUEST_BYTES);
    int r = input_read(input, &code, err);
    if (r < 0)
        return r;
    return program_add(&command->documents, input->name, &code, stdin_text,
                       &command->options.program, err);
}

static int add_documents(struct command *command, const struct input *input, struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_YAML_BYTES);
    int r = input_read(input, &text, err);
    if (r >= 0)
        r = documents_add(&command->documents, input->name, buf_str(&text), text.len, err);
    if (r != -EINVAL || text.len == 0 || strstr(buf_str(&text), "apiVersion"))
        return r;
    const struct error cause = *err;
    return error_set(err, EINVAL, "%s; if it is a Python program, its name must end with .py",
                     cause.text);
}

static int read_inputs(struct command *command, struct error *err)
{
    cleanup_buf struct buf stdin_text = BUF_INIT(MAX_REQUEST_BYTES);
    int r = 0;
    if (command->options.program.stdin_path)
        r = input_read(&command->stdin_file, &stdin_text, err);
    for (size_t i = 0; r >= 0 && i < command->options.input_count; i++) {
        struct input *input = &command->inputs[i];
        if (options_is_program(command->options.inputs[i]))
            r = add_program(command, input,
                            command->options.program.stdin_path ? &stdin_text : NULL, err);
        else
            r = add_documents(command, input, err);
        input_close(input);
    }
    return r;
}

/* From here on a signal is an event like others, and ends what waits for a slow reader. */
static int take_signals(struct command *command, struct error *err)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t signals;
    (void)sigemptyset(&signals);
    for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
        /* What the caller has us ignore (nohup, a shell's background job) stays ignored; once
         * blocked it would not be. */
        struct sigaction before;
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaddset(&signals, ending[i]);
    }
    if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
        return error_set_errno(err, errno, "block signals");
    command->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (command->signal_fd < 0)
        return error_set_errno(err, errno, "signalfd");
    /* A reader of ours, or a program, that goes away is an error of a write and no death. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (sigaction(SIGPIPE, &ignore, NULL) < 0)
        return error_set_errno(err, errno, "ignore SIGPIPE");
    /* Of a child whose end is ignored nobody learns how it ended. */
    struct sigaction usual = {.sa_handler = SIG_DFL};
    if (sigaction(SIGCHLD, &usual, NULL) < 0)
        return error_set_errno(err, errno, "take notice of SIGCHLD");
    return 0;
}

/* Ends everything: at once if nothing was started, else after the runs' ends. */
static void cancel(struct command *command, enum run_reason reason, const char *message)
{
    if (command->ready)
        batch_cancel(command->batch, reason, message);
    else
        loop_stop(command->loop);
}

static void on_signal(int fd, unsigned int events, void *arg)
{
    (void)events;
    struct command *command = arg;
    struct signalfd_siginfo info;
    if (read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info) || command->signum != 0)
        return;
    command->signum = (int)info.ssi_signo;
    char message[64];
    (void)snprintf(message, sizeof(message), "cancelled by SIG%s", sigabbrev_np(command->signum));
    cancel(command, RUN_REASON_CANCELLED, message);
}

/* Our own output failed: nobody sees what comes, so there is nothing to go on for. */
static void output_failed(struct command *command, const struct error *err)
{
    fail(command, err);
    cancel(command, RUN_REASON_CANCELLED, err->text);
}

static void on_started(size_t index, void *arg)
{
    struct command *command = arg;
    report_started(command->report, index);
}

static void on_running(size_t index, void *arg)
{
    struct command *command = arg;
    report_running(command->report, index);
}

static void on_output(size_t index, enum run_stream stream, const char *bytes, size_t len,
                      void *arg)
{
    (void)index;
    struct command *command = arg;
    struct error err;
    if (report_output(command->report, stream, bytes, len, &err) < 0)
        output_failed(command, &err);
}

static void on_finished(size_t index, const struct run_status *status, void *arg)
{
    struct command *command = arg;
    struct error err;
    if (report_finished(command->report, index, status, &err) < 0)
        output_failed(command, &err);
}

static void on_done(void *arg)
{
    struct command *command = arg;
    loop_stop(command->loop);
}

static void on_ready(const struct proto_hello *hello, const struct error *err, void *arg)
{
    struct command *command = arg;
    struct error cause;
    if (!hello) {
        fail(command, err);
        loop_stop(command->loop);
        return;
    }
    command->greeted = true;
    if (batch_start(command->batch, &cause) < 0) {
        fail(command, &cause);
        loop_stop(command->loop);
        return;
    }
    command->ready = true;
}

/* The runs have their ends by now, as JailerLost. */
static void on_lost(const struct error *err, void *arg)
{
    struct command *command = arg;
    fail(command, err);
}

static int set_up(struct command *command, struct error *err)
{
    static const struct batch_callbacks callbacks = {
        .started = on_started,
        .running = on_running,
        .output = on_output,
        .finished = on_finished,
        .done = on_done,
    };
    int r = take_signals(command, err);
    if (r >= 0)
        r = loop_new(&command->loop, err);
    if (r >= 0)
        r = jailer_client_new(command->loop, command->jailer.sock, on_ready, on_lost, command,
                              &command->client, err);
    if (r < 0)
        return r;
    command->jailer.sock = -1;
    r = loop_io_new(command->loop, command->signal_fd, LOOP_READ, on_signal, command,
                    &command->signal_io);
    if (r < 0)
        return error_set_errno(err, -r, "watch for signals");
    r = report_new(&command->documents, &command->options, command->signal_fd, &command->report,
                   err);
    if (r < 0)
        return r;
    return batch_new(command->loop, command->client, &command->documents, command->options.parallel,
                     &callbacks, command, &command->batch, err);
}

static int run_all(struct command *command, struct error *err)
{
    int r = set_up(command, err);
    if (r >= 0)
        r = loop_run(command->loop, err);
    if (r >= 0 && command->ready)
        r = report_end(command->report, err);
    return r;
}

/* Frees all; the jailer ends behind it, since its socket closes. */
static void tear_down(struct command *command)
{
    batch_free(command->batch);
    report_free(command->report);
    jailer_client_free(command->client);
    loop_io_free(command->signal_io);
    command->signal_fd = fd_close(command->signal_fd);
    loop_free(command->loop);
    documents_done(&command->documents);
    for (size_t i = 0; i < MAX_INPUTS; i++)
        input_close(&command->inputs[i]);
    input_close(&command->stdin_file);
    options_done(&command->options);
}

static bool wants_network(const struct command *command)
{
    for (size_t i = 0; i < command->documents.count; i++) {
        if (command->documents.items[i].run.spec.profile == PROFILE_TOOL_CALL)
            return true;
    }
    return false;
}

static int prepare(struct command *command, struct error *err)
{
    int r = privilege_check(err);
    /* With the caller's rights: files that only they may read. */
    if (r >= 0)
        r = open_inputs(command, err);
    if (r >= 0)
        r = prepare_jailer(command, err);
    /* Nobody with rights parses what others wrote. */
    if (r >= 0)
        r = privilege_drop(privilege_choose(getenv("SUDO_UID"), getenv("SUDO_GID")), err);
    if (r >= 0)
        r = read_inputs(command, err);
    return r < 0 ? r : jailer_process_begin(&command->jailer, wants_network(command), err);
}

/* One line about what went wrong. A jailer that did not come up has written its own. */
static void tell(const struct command *command, int r, const struct error *failure, int ended,
                 const struct error *jailer_end)
{
    bool lost = r >= 0 && ended < 0;
    if (lost && !command->greeted && command->jailer.said_why)
        return;
    if (failure->code != 0 && lost)
        message_print("%s; %s", failure->text, jailer_end->text);
    else if (failure->code != 0)
        message_print("%s", failure->text);
    else if (lost)
        message_print("%s", jailer_end->text);
}

static int finish(struct command *command, int r, const struct error *err)
{
    struct error jailer_end;
    int code = command->ready ? report_exit_code(command->report) : EXIT_CODE_REFUSED;
    if (r < 0)
        fail(command, err);
    tear_down(command);
    int ended = jailer_process_stop(&command->jailer, &jailer_end);

    if (command->signum != 0)
        return 128 + command->signum;
    tell(command, r, &command->failure, ended, &jailer_end);
    return command->failure.code != 0 || ended < 0 ? EXIT_CODE_REFUSED : code;
}

int run_command(int argc, char **argv)
{
    struct command command = {
        .stdin_file = INPUT_NONE, .jailer = JAILER_PROCESS_NONE, .signal_fd = -1};
    for (size_t i = 0; i < MAX_INPUTS; i++)
        command.inputs[i] = INPUT_NONE;
    struct error err = {0};

    int r = options_parse(argc, argv, &command.options, &err);
    if (r < 0) {
        message_print("%s; see sandboxrun run --help", err.text);
        options_done(&command.options);
        return EXIT_CODE_USAGE;
    }
    if (command.options.help) {
        options_done(&command.options);
        return fputs(options_run_help, stdout) < 0 || fflush(stdout) != 0;
    }
    r = prepare(&command, &err);
    if (r >= 0)
        r = run_all(&command, &err);
    return finish(&command, r, &err);
}
