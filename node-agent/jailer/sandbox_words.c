/* SPDX-License-Identifier: Apache-2.0 */

/* What is said of a sandbox, to the agent and to the log. */
#include "common/clock.h"
#include "common/log.h"
#include "node-agent/jailer/sandbox_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void sandbox_fill_refusal(struct proto_refused *refusal, const char *id, const char *lock,
                          int errnum, const char *text)
{
    *refusal = (struct proto_refused){.errnum = errnum > 0 ? (uint32_t)errnum : EIO};
    (void)snprintf(refusal->id, sizeof(refusal->id), "%s", id);
    (void)snprintf(refusal->lock, sizeof(refusal->lock), "%s", lock);
    (void)snprintf(refusal->text, sizeof(refusal->text), "%.*s", PROTO_TEXT_SIZE - 1, text);
}

void sandbox_say(const struct sandbox *sandbox, const struct proto_message *message, const int *fds)
{
    if (sandbox->listener.say)
        sandbox->listener.say(message, fds, sandbox->listener.arg);
}

enum proto_warm sandbox_warmth(const struct sandbox *sandbox)
{
    if (!sandbox->warm)
        return PROTO_WARM_NOT;
    return sandbox->forked ? PROTO_WARM_FORKED : PROTO_WARM_FRESH;
}

static void fill_network(const struct network_lease *lease, struct proto_finished *finished)
{
    if (lease->known) {
        finished->denied_network_count = lease->denied.count;
        memcpy(finished->denied_network, lease->denied.entries, sizeof(finished->denied_network));
    }
    finished->denied_name_count = lease->name_count;
    memcpy(finished->denied_names, lease->names, sizeof(finished->denied_names));
    finished->denied_network_more =
        !lease->known || lease->denied.more || lease->more_names ? 1 : 0;
}

static uint64_t elapsed_us(const struct sandbox *sandbox)
{
    uint64_t since_ns = sandbox->started_ns ? sandbox->started_ns : sandbox->created_ns;
    return (sandbox->ended_ns - since_ns) / 1000u;
}

static void say_finished(const struct sandbox *sandbox)
{
    struct proto_message message = {.type = PROTO_FINISHED};
    struct proto_finished *finished = &message.finished;
    memcpy(finished->id, sandbox->id, sizeof(finished->id));
    finished->end = end_decide(&sandbox->facts);
    finished->has_status = sandbox->facts.has_status ? 1 : 0;
    finished->wait_status = sandbox->facts.wait_status;
    finished->oom_kills = sandbox->facts.oom_kills;
    finished->wall_us = elapsed_us(sandbox);
    finished->cpu_us = sandbox->usage.cpu_us > sandbox->cpu_before_us
                           ? sandbox->usage.cpu_us - sandbox->cpu_before_us
                           : 0;
    finished->peak_memory_bytes = sandbox->usage.peak_memory_bytes;
    finished->timeout_ms = sandbox->timeout_ms;
    if (finished->end == PROTO_END_FORBIDDEN)
        finished->forbidden_call = sandbox->forbidden_call;
    const struct denials *denials = &sandbox->notify.denials;
    finished->denied_more = denials->more ? 1 : 0;
    finished->denied_count = denials->count;
    memcpy(finished->denied, denials->entries, sizeof(finished->denied));
    if (sandbox->lease)
        fill_network(sandbox->lease, finished);
    sandbox_say(sandbox, &message, NULL);
}

static const char *end_word(const struct sandbox *sandbox)
{
    static const char *const words[] = {
        [PROTO_END_EXITED] = "exited",
        [PROTO_END_DEADLINE] = "deadline",
        [PROTO_END_OOM] = "out of memory",
        [PROTO_END_KILLED] = "killed",
        [PROTO_END_REAPER] = "reaper",
        [PROTO_END_SHUTDOWN] = "shutdown",
        [PROTO_END_FORBIDDEN] = "forbidden system call",
    };
    return sandbox->refused ? "refused" : words[end_decide(&sandbox->facts)];
}

/* The one line of each sandbox. Whose it was, the jailer isn't told: the id leads to the agent's
 * and the controller's lines. */
void sandbox_log_gone(const struct sandbox *sandbox)
{
    uint64_t made_ns = sandbox->ready_ns ? sandbox->ready_ns : sandbox->ended_ns;
    log_event(
        LOG_LEVEL_INFO, "sandbox gone", LOG_TEXT("sandbox", sandbox->id),
        LOG_TEXT("end", end_word(sandbox)),
        LOG_NUMBER(
            "slot_us",
            (long long)(sandbox->taken_ns ? (sandbox->taken_ns - sandbox->created_ns) / 1000u : 0)),
        LOG_NUMBER("read_us", (long long)(sandbox->released_ns
                                              ? (sandbox->released_ns - sandbox->ended_ns) / 1000u
                                              : 0)),
        LOG_NUMBER("make_us", (long long)((made_ns - sandbox->created_ns) / 1000u)),
        LOG_NUMBER("run_us", (long long)elapsed_us(sandbox)),
        LOG_NUMBER("sweep_us", (long long)((clock_boottime_ns() - sandbox->ended_ns) / 1000u)));
}

void sandbox_say_last_word(const struct sandbox *sandbox)
{
    if (sandbox->refused) {
        struct proto_message message = {.type = PROTO_REFUSED, .refused = sandbox->refusal};
        sandbox_say(sandbox, &message, NULL);
    } else {
        say_finished(sandbox);
    }
}
