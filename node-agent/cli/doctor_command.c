/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Two jailers, one after the other. The first is told to look at everything: it has the rights for
 * it, and knows what it needs. If nothing required is missing, the second is an ordinary one, with
 * which a program runs in a sandbox of each runtime; before that, root is given up as in
 * `sandboxrun run`.
 */
#include "node-agent/cli/doctor_command.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/cli/doctor_options.h"
#include "node-agent/cli/doctor_report.h"
#include "node-agent/cli/jailer_process.h"
#include "node-agent/cli/message.h"
#include "node-agent/cli/privilege.h"
#include "node-agent/cli/trial.h"

#include <poll.h>
#include <signal.h>
#include <string.h>

#define EXIT_MISSING 1
#define EXIT_USAGE   2

struct doctor {
    struct doctor_options options;
    char jailer[MAX_PATH_CANDIDATE];
    char runtimes_dir[MAX_PATH_CANDIDATE];
    struct doctor_report report;
};

/* 1: got one, 0: the jailer has said all. */
static int receive_check(int sock, struct doctor_report *report, struct error *err)
{
    struct proto_message message;
    int r = 0;
    while ((r = proto_receive(sock, &message, NULL, NULL, err)) == -EAGAIN) {
        struct pollfd readable = {.fd = sock, .events = POLLIN};
        if (poll(&readable, 1, CHECKS_WITHIN_MS) == 0)
            return error_set(err, ETIMEDOUT, "the jailer has said nothing for %d s",
                             CHECKS_WITHIN_MS / 1000);
    }
    if (r <= 0)
        return r;
    if (message.type != PROTO_CHECK || report->count == PROTO_MAX_CHECKS)
        return error_set(err, EPROTO,
                         "the jailer says what is no check: are both programs of the "
                         "same release?");
    report->checks[report->count++] = message.check;
    return 1;
}

static int look(struct doctor *doctor, struct error *err)
{
    struct jailer_process process = JAILER_PROCESS_NONE;
    int r = jailer_process_start_check(doctor->jailer, doctor->runtimes_dir, &process, err);
    if (r < 0)
        return r;
    do {
        r = receive_check(process.sock, &doctor->report, err);
    } while (r > 0);
    struct error jailer_end;
    int ended = jailer_process_stop(&process, &jailer_end);
    /* One that found something missing ends with a failure. */
    if (r >= 0 && ended < 0 && doctor_report_is_ok(&doctor->report))
        return error_set(err, jailer_end.code, "%s", jailer_end.text);
    if (r >= 0 && doctor->report.count == 0)
        return error_set(err, EPROTO, "the jailer has told nothing of this machine");
    return r;
}

static int try_sandboxes(struct doctor *doctor, struct error *err)
{
    struct jailer_process process = JAILER_PROCESS_NONE;
    struct error jailer_end;
    int r = jailer_process_start(doctor->jailer, doctor->runtimes_dir, &process, err);
    if (r < 0)
        return r;
    r = privilege_drop(privilege_choose(getenv("SUDO_UID"), getenv("SUDO_GID")), err);
    if (r >= 0)
        r = trial_run(TAKE_FD(process.sock), &doctor->report, err);
    int ended = jailer_process_stop(&process, &jailer_end);
    if (r >= 0 && ended < 0 && doctor_report_is_ok(&doctor->report))
        doctor_report_add(&doctor->report, TRIAL_NAME, PROTO_OUTCOME_FAILED, jailer_end.text,
                          "look at the jailer's own words above");
    return r;
}

/* A missing directory is for the jailer to tell, as one check of many. */
static int find_programs(struct doctor *doctor, struct error *err)
{
    const struct doctor_options *options = &doctor->options;
    struct error ignored;
    int r = jailer_process_find(options->jailer, doctor->jailer, err);
    if (r < 0)
        return r;
    if (jailer_process_find_runtimes(options->runtimes_dir, doctor->runtimes_dir, &ignored) < 0)
        (void)snprintf(doctor->runtimes_dir, sizeof(doctor->runtimes_dir), "%s",
                       options->runtimes_dir ? options->runtimes_dir : JAILER_RUNTIMES_DIR);
    return 0;
}

/* What the environment says of the terminal, whether or not such a locale is installed here
 * (locale(7)). */
static bool shows_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(names) && (!value || !value[0]); i++)
        value = getenv(names[i]);
    return isatty(STDOUT_FILENO) == 1 && value &&
           (strcasestr(value, ".UTF-8") || strcasestr(value, ".utf8"));
}

static int print(const struct doctor *doctor, struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_DOCTOR_TEXT);
    int r = doctor->options.format == OUTPUT_STREAMS
                ? doctor_report_print_text(&doctor->report, shows_utf8(), &text)
                : doctor_report_print_object(&doctor->report, doctor->options.format, &text);
    if (r >= 0)
        r = fd_write_full(STDOUT_FILENO, buf_str(&text), text.len);
    return r < 0 ? error_set_errno(err, -r, "write to stdout") : 0;
}

static int examine(struct doctor *doctor, struct error *err)
{
    /* Who reads our output, or the jailer, may go away: an error of a write and no death. Of a
     * child whose end is ignored nobody learns how it ended. */
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGCHLD, &usual, NULL);
    int r = find_programs(doctor, err);
    if (r >= 0)
        r = look(doctor, err);
    if (r < 0)
        return r;
    if (doctor_report_is_ok(&doctor->report))
        r = try_sandboxes(doctor, err);
    else
        doctor_report_add(&doctor->report, TRIAL_NAME, PROTO_OUTCOME_SKIPPED,
                          "not tried: what is missing comes first", "");
    return r < 0 ? r : print(doctor, err);
}

int doctor_command(int argc, char **argv)
{
    struct error err = {0};
    struct doctor_options options;
    if (doctor_options_parse(argc, argv, &options, &err) < 0) {
        message_print("%s; see sandboxrun doctor --help", err.text);
        return EXIT_USAGE;
    }
    if (options.help)
        return fputs(doctor_options_help, stdout) < 0 || fflush(stdout) != 0;
    cleanup_free struct doctor *doctor = calloc(1, sizeof(*doctor));
    if (!doctor) {
        message_print("out of memory");
        return EXIT_MISSING;
    }
    doctor->options = options;
    if (examine(doctor, &err) < 0) {
        message_print("%s", err.text);
        return EXIT_MISSING;
    }
    return doctor_report_is_ok(&doctor->report) ? EXIT_SUCCESS : EXIT_MISSING;
}
