/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/trial.h"

#include "common/cleanup.h"
#include "common/loop.h"
#include "node-agent/agent/jailer_client.h"
#include "node-agent/cli/batch.h"
#include "node-agent/cli/program.h"

#include <string.h>

#define CODE   "print('in a sandbox:', 6 * 7)\n"
#define OUTPUT "in a sandbox: 42\n"
#define ADVICE                                                                                     \
    "the jailer's own words are above; `sandboxrun run` of any program shows the same, the "       \
    "document's status has all of it (-o yaml)"

struct trial {
    struct loop *loop;
    struct jailer_client *client;
    struct document_list documents;
    struct batch *batch;
    struct doctor_report *report;
    struct error failure; /* of ours; code 0: none */
};

static void end(struct trial *trial)
{
    loop_stop(trial->loop);
}

static void on_started(size_t index, void *arg)
{
    (void)index;
    (void)arg;
}

static void on_output(size_t index, enum run_stream stream, const char *bytes, size_t len,
                      void *arg)
{
    /* The result has it too. */
    (void)index;
    (void)stream;
    (void)bytes;
    (void)len;
    (void)arg;
}

static bool is_as_expected(const struct run_status *status)
{
    return status->phase == RUN_PHASE_SUCCEEDED && status->stdout_len == strlen(OUTPUT) &&
           memcmp(status->stdout_text, OUTPUT, status->stdout_len) == 0;
}

static void on_finished(size_t index, const struct run_status *status, void *arg)
{
    struct trial *trial = arg;
    char name[PROTO_CHECK_SIZE], figure[PROTO_FIGURE_SIZE];
    (void)snprintf(name, sizeof(name), TRIAL_NAME ".%s",
                   trial->documents.items[index].run.spec.runtime);
    if (is_as_expected(status)) {
        (void)snprintf(figure, sizeof(figure), "a program ran in a sandbox, in %llu ms",
                       (unsigned long long)status->usage.wall_ms);
        doctor_report_add(trial->report, name, PROTO_OUTCOME_OK, figure, "");
        return;
    }
    (void)snprintf(figure, sizeof(figure), "%s: %.200s", run_reason_name(status->reason),
                   status->phase == RUN_PHASE_SUCCEEDED ? "the program's output is not its own"
                                                        : status->message);
    doctor_report_add(trial->report, name, PROTO_OUTCOME_FAILED, figure, ADVICE);
}

static void on_done(void *arg)
{
    end(arg);
}

static int start(struct trial *trial, const struct proto_hello *hello, struct error *err)
{
    static const struct batch_callbacks callbacks = {
        .started = on_started,
        .running = on_started,
        .output = on_output,
        .finished = on_finished,
        .done = on_done,
    };
    cleanup_buf struct buf code = BUF_INIT(sizeof(CODE));
    int r = buf_append_str(&code, CODE);
    if (r < 0)
        return error_set_errno(err, -r, "make the trial's program");
    for (uint32_t i = 0; i < hello->runtime_count && r >= 0; i++) {
        const struct program_options options = {.runtime = hello->runtimes[i].name};
        r = program_add(&trial->documents, "doctor.py", &code, NULL, &options, err);
    }
    if (r >= 0)
        r = batch_new(trial->loop, trial->client, &trial->documents, 1, &callbacks, trial,
                      &trial->batch, err);
    return r < 0 ? r : batch_start(trial->batch, err);
}

static void on_ready(const struct proto_hello *hello, const struct error *err, void *arg)
{
    struct trial *trial = arg;
    if (hello && start(trial, hello, &trial->failure) >= 0)
        return;
    if (!hello)
        doctor_report_add(trial->report, TRIAL_NAME, PROTO_OUTCOME_FAILED, err->text, ADVICE);
    end(trial);
}

/* The runs have told their ends, as JailerLost. */
static void on_lost(const struct error *err, void *arg)
{
    (void)err;
    (void)arg;
}

int trial_run(int sock, struct doctor_report *report, struct error *err)
{
    struct trial trial = {.report = report};
    int r = loop_new(&trial.loop, err);
    if (r >= 0)
        r = jailer_client_new(trial.loop, sock, on_ready, on_lost, &trial, &trial.client, err);
    if (r < 0)
        (void)fd_close(sock);
    else
        r = loop_run(trial.loop, err);
    if (r >= 0 && trial.failure.code != 0) {
        *err = trial.failure;
        r = -err->code;
    }
    batch_free(trial.batch);
    jailer_client_free(trial.client);
    loop_free(trial.loop);
    documents_done(&trial.documents);
    return r;
}
