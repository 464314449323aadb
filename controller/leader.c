/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/leader.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/kube/lease.h"
#include "common/kube/reflector.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/random.h"
#include "controller/limits.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)

struct leader {
    struct kube_client *client;
    struct leader_options options;
    char identity[MAX_LEASE_HOLDER];
    struct reflector *reflector; /* tells of changes; what counts is read */
    struct loop_timer *timer;    /* the next attempt */
    struct loop_timer *deadline; /* of leading, or of leaving */
    struct kube_call *call;
    enum leader_step step; /* that the call is for */
    bool joined;
    bool leading;
    bool leaving;
    bool known; /* object or its absence is what was last read or written */
    bool exists;
    bool stirred;             /* the watch has told of a change while a call was under way */
    struct kube_lease object; /* as it was last read or written */
    uint64_t changed_ns;      /* CLOCK_MONOTONIC, when that was first seen */
    uint64_t sent_ns;         /* CLOCK_BOOTTIME, of the call */
    uint64_t renewed_ns;      /* CLOCK_BOOTTIME, of the last accepted renewal's call; 0: none */
    unsigned int quick;       /* attempts without a pause */
    unsigned int failures;
    void (*left)(void *arg);
    void *left_arg;
};

static void go_on(struct leader *leader);

static uint64_t deadline_ns(const struct leader *leader)
{
    return leader->renewed_ns + leader->options.times.renew_ms * NS_PER_MS;
}

static enum leader_holder holder_of(const struct leader *leader)
{
    if (!leader->known)
        return LEADER_HOLDER_UNKNOWN;
    if (!leader->exists)
        return LEADER_HOLDER_ABSENT;
    if (!leader->object.held)
        return LEADER_HOLDER_NOBODY;
    return strcmp(leader->object.holder, leader->identity) == 0 ? LEADER_HOLDER_SELF
                                                                : LEADER_HOLDER_OTHER;
}

static void gather(const struct leader *leader, struct leader_facts *ret_facts)
{
    *ret_facts = (struct leader_facts){
        .holder = holder_of(leader),
        .record_seconds = leader->object.duration_seconds,
        .unchanged_ms = (clock_monotonic_ns() - leader->changed_ns) / NS_PER_MS,
        .leading = leader->leading,
        .since_renew_ms = (clock_boottime_ns() - leader->renewed_ns) / NS_PER_MS,
        .leaving = leader->leaving,
    };
}

static void start_leading(struct leader *leader)
{
    leader->leading = true;
    metric_set(leader->options.metrics.leading, 0, 1);
    metric_add(leader->options.metrics.transitions, LEADER_TRANSITION_STARTED, 1);
    log_event(LOG_LEVEL_INFO, "this controller is the leader now",
              LOG_TEXT("identity", leader->identity),
              LOG_NUMBER("transitions", leader->object.transitions));
    leader->options.started(leader->options.arg);
}

static void lose(struct leader *leader)
{
    bool taken = holder_of(leader) == LEADER_HOLDER_OTHER;

    leader->leading = false;
    metric_set(leader->options.metrics.leading, 0, 0);
    metric_add(leader->options.metrics.transitions, LEADER_TRANSITION_STOPPED, 1);
    log_event(LOG_LEVEL_WARN,
              taken ? "another controller holds the lease, this one leads no more"
                    : "can't renew the lease in time, this controller leads no more",
              LOG_TEXT("identity", leader->identity), LOG_TEXT("holder", leader->object.holder),
              LOG_NUMBER("sinceRenewalMs",
                         (long long)((clock_boottime_ns() - leader->renewed_ns) / NS_PER_MS)));
    /* Whatever was written last may have been overwritten meanwhile. */
    leader->known = false;
    leader->options.stopped(leader->options.arg);
}

static void leave(struct leader *leader)
{
    void (*left)(void *arg) = leader->left;

    loop_timer_disarm(leader->timer);
    loop_timer_disarm(leader->deadline);
    kube_call_cancel(leader->call);
    leader->call = NULL;
    leader->joined = false;
    leader->left = NULL;
    if (left)
        left(leader->left_arg);
}

/* The next renewal is due a period after this one was sent, however long it took. */
static void pause_since(struct leader *leader, uint64_t since_ns, uint64_t least_ms)
{
    uint32_t random = 0;

    (void)random_bytes(&random, sizeof(random));
    uint64_t passed_ms = (clock_boottime_ns() - since_ns) / NS_PER_MS;
    uint64_t pause_ms = leader_pause_ms(leader->leading, &leader->options.times, random);
    uint64_t left_ms = passed_ms < pause_ms ? pause_ms - passed_ms : 0;
    /* A change that came meanwhile may be what is waited for. */
    if (leader->stirred)
        left_ms = 0;
    leader->stirred = false;
    (void)loop_timer_arm(leader->timer, left_ms > least_ms ? left_ms : least_ms);
}

static void retry(struct leader *leader, const struct kube_response *response)
{
    uint64_t least_ms = response->retry_after_ms;

    if (least_ms > leader->options.times.retry_ms)
        least_ms = leader->options.times.retry_ms;
    if (least_ms < MIN_LEADER_RETRY_MS)
        least_ms = MIN_LEADER_RETRY_MS;
    leader->known = false;
    leader->quick = 0;
    leader->failures++;
    metric_add(leader->options.metrics.failures, 0, 1);
    if ((leader->failures & (leader->failures - 1)) == 0)
        log_event(LOG_LEVEL_WARN, "can't read or write the leader's lease, trying again",
                  LOG_TEXT("namespace", leader->options.name_space),
                  LOG_TEXT("lease", LEADER_LEASE_NAME), LOG_NUMBER("leading", leader->leading),
                  LOG_NUMBER("failures", leader->failures),
                  LOG_TEXT("error", response->error.text));
    pause_since(leader, leader->sent_ns, least_ms);
}

/* Only what a holder writes says that it is alive; a label that somebody sets doesn't. */
static bool is_same_record(const struct kube_lease *a, const struct kube_lease *b)
{
    return a->held == b->held && strcmp(a->holder, b->holder) == 0 &&
           strcmp(a->renew_text, b->renew_text) == 0 && a->acquire_us == b->acquire_us &&
           a->transitions == b->transitions && a->duration_seconds == b->duration_seconds;
}

static int take_answer(struct leader *leader, const struct kube_response *response,
                       struct error *err)
{
    cleanup_json cJSON *tree = NULL;
    struct kube_lease object = {0};
    int r = json_parse(response->body, response->body_len, &tree, err);

    if (r == 0)
        r = kube_lease_decode(tree, &object, err);
    if (r < 0)
        return r;
    if (!leader->exists || !is_same_record(&object, &leader->object))
        leader->changed_ns = clock_monotonic_ns();
    leader->object = object;
    leader->exists = leader->known = true;
    return 0;
}

static void arm_deadline(struct leader *leader)
{
    uint64_t now_ns = clock_boottime_ns();
    uint64_t end_ns = deadline_ns(leader);

    (void)loop_timer_arm(leader->deadline,
                         end_ns > now_ns ? (end_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS : 0);
}

static void on_accepted(struct leader *leader)
{
    leader->renewed_ns = leader->sent_ns;
    leader->quick = 0;
    leader->failures = 0;
    leader->stirred = false;
    if (leader->leaving) {
        go_on(leader);
        return;
    }
    /* An answer that comes after the deadline is too late to lead on. */
    bool in_time = clock_boottime_ns() < deadline_ns(leader);
    if (in_time)
        arm_deadline(leader);
    if (in_time && !leader->leading)
        start_leading(leader);
    pause_since(leader, leader->sent_ns, 0);
}

static void on_response(const struct kube_response *response, void *arg)
{
    struct leader *leader = arg;
    enum leader_step step = leader->step;
    bool ok = response->status >= 200 && response->status <= 299;
    struct kube_response failed = {0};

    leader->call = NULL;
    if (step == LEADER_STEP_RELEASE && ok) {
        log_event(LOG_LEVEL_INFO, "gave the lease back");
        leave(leader);
    } else if (ok && take_answer(leader, response, &failed.error) < 0) {
        retry(leader, &failed);
    } else if (ok && step == LEADER_STEP_READ) {
        go_on(leader);
    } else if (ok && holder_of(leader) == LEADER_HOLDER_SELF) {
        on_accepted(leader);
    } else if (ok) {
        (void)error_set(&failed.error, EPROTO, "the API server has stored another holder");
        retry(leader, &failed);
    } else if (response->status == 404 && step == LEADER_STEP_READ) {
        leader->exists = false;
        leader->known = true;
        go_on(leader);
    } else if ((response->status == 404 || response->status == 409) &&
               ++leader->quick <= LEADER_QUICK_RETRIES) {
        leader->known = false;
        go_on(leader);
    } else {
        retry(leader, response);
    }
}

/* What the Lease is to be. */
static void fill(const struct leader *leader, enum leader_step step, struct kube_lease *ret_object)
{
    int64_t now_us = clock_realtime_us();
    struct kube_lease object = {0};

    if (step != LEADER_STEP_CREATE)
        object = leader->object;
    object.renew_us = now_us;
    if (step != LEADER_STEP_RENEW || object.acquire_us == 0)
        object.acquire_us = now_us;
    (void)snprintf(object.name, sizeof(object.name), LEADER_LEASE_NAME);
    if (step == LEADER_STEP_RELEASE) {
        object.holder[0] = '\0';
        object.duration_seconds = 1;
    } else {
        object.transitions += step == LEADER_STEP_ACQUIRE;
        (void)snprintf(object.holder, sizeof(object.holder), "%s", leader->identity);
        object.duration_seconds = leader_lease_seconds(&leader->options.times);
    }
    *ret_object = object;
}

static int send(struct leader *leader, enum leader_step step, struct error *err)
{
    static const char *const methods[] = {
        [LEADER_STEP_READ] = "GET",      [LEADER_STEP_CREATE] = "POST",
        [LEADER_STEP_ACQUIRE] = "PATCH", [LEADER_STEP_RENEW] = "PATCH",
        [LEADER_STEP_RELEASE] = "PATCH",
    };
    cleanup_buf struct buf path = BUF_INIT(MAX_LEASE_PATH);
    cleanup_buf struct buf body = BUF_INIT(MAX_LEADER_BODY);
    struct kube_lease object;
    bool creates = step == LEADER_STEP_CREATE;
    int r = kube_lease_path(leader->options.name_space, creates ? NULL : LEADER_LEASE_NAME, &path);

    fill(leader, step, &object);
    if (r == 0 && step != LEADER_STEP_READ)
        r = kube_lease_encode(&object, NULL, &body);
    if (r < 0)
        return error_set_errno(err, -r, "can't make a request for the leader's lease");
    const struct kube_request request = {
        .method = methods[step],
        .path = buf_str(&path),
        .content_type = creates || step == LEADER_STEP_READ ? NULL : "application/merge-patch+json",
        .body = body.data,
        .body_len = body.len,
        .timeout_ms = leader->options.times.renew_ms / 2,
        .urgent = true,
    };
    leader->step = step;
    leader->sent_ns = clock_boottime_ns();
    return kube_client_send(leader->client, &request, on_response, leader, &leader->call, err);
}

static void go_on(struct leader *leader)
{
    struct kube_response failed = {0};
    struct leader_facts facts;

    gather(leader, &facts);
    enum leader_step step = leader_decide(&facts, &leader->options.times);
    if (step == LEADER_STEP_LOSE) {
        lose(leader);
        gather(leader, &facts);
        step = leader_decide(&facts, &leader->options.times);
    }
    if (step == LEADER_STEP_LEAVE)
        leave(leader);
    else if (step == LEADER_STEP_WAIT)
        pause_since(leader, leader->sent_ns, MIN_LEADER_RETRY_MS);
    else if (send(leader, step, &failed.error) < 0)
        retry(leader, &failed);
}

static void on_timer(void *arg)
{
    struct leader *leader = arg;

    if (leader->call)
        return;
    /* A leader renews what it wrote itself; whoever waits must know what the others wrote. */
    if (!leader->leading)
        leader->known = false;
    go_on(leader);
}

static void on_deadline(void *arg)
{
    struct leader *leader = arg;

    if (leader->leaving) {
        log_event(LOG_LEVEL_WARN, "can't give the lease back, another controller has to wait for "
                                  "its end");
        leave(leader);
    } else {
        (void)leader_leads(leader);
    }
}

/* Looks at the Lease before its time, or right after the call that is under way. */
static void look_now(struct leader *leader)
{
    if (!leader->joined || leader->leaving)
        return;
    leader->stirred = leader->call != NULL;
    if (leader->call)
        return;
    leader->known = false;
    go_on(leader);
}

static void lease_changed(const cJSON *tree, size_t bytes, void *arg)
{
    (void)bytes;
    struct leader *leader = arg;
    struct kube_lease object;

    if (kube_lease_decode(tree, &object, NULL) < 0 ||
        (leader->exists && strcmp(object.version, leader->object.version) == 0))
        return;
    /* Whoever waits is woken by a release, a leader by whatever another has written. */
    bool by_other = object.held && strcmp(object.holder, leader->identity) != 0;
    if (!object.held || (by_other && leader->leading))
        look_now(leader);
}

static void lease_gone(const char *name_space, const char *name, const char *uid, void *arg)
{
    (void)name_space;
    (void)name;
    (void)uid;
    look_now(arg);
}

/* As client-go's: the Pod's name, and something that a Pod of the same name doesn't have. */
static int make_identity(struct leader *leader, struct error *err)
{
    char host[HOST_NAME_MAX + 1] = "";
    char uuid[RANDOM_UUID_SIZE];

    if (gethostname(host, sizeof(host) - 1) < 0)
        return error_set_errno(err, errno, "can't read the host's name");
    int r = random_uuid(uuid);
    if (r < 0)
        return error_set_errno(err, -r, "can't make an identity for the leader election");
    (void)snprintf(leader->identity, sizeof(leader->identity), "%s_%s", host, uuid);
    return 0;
}

static int start_watch(struct leader *leader, struct error *err)
{
    static const struct reflector_handlers handlers = {.upsert = lease_changed,
                                                       .remove = lease_gone};
    cleanup_buf struct buf path = BUF_INIT(MAX_LEASE_PATH);
    int r = kube_lease_path(leader->options.name_space, NULL, &path);
    if (r < 0)
        return error_set_errno(err, -r, "can't watch the leader's lease");
    const struct reflector_options options = {
        .path = buf_str(&path),
        .field_selector = "metadata.name=" LEADER_LEASE_NAME,
        .name = "leader lease",
    };
    return reflector_new(leader->client, &options, &handlers, leader, &leader->reflector, err);
}

int leader_new(struct kube_client *client, const struct leader_options *options,
               struct leader **ret_leader, struct error *err)
{
    struct loop *loop = kube_client_loop(client);
    struct leader *leader = calloc(1, sizeof(*leader));

    if (!leader)
        return error_set_errno(err, ENOMEM, "can't take part in the leader election");
    leader->client = client;
    leader->options = *options;
    int r = make_identity(leader, err);
    if (r == 0) {
        r = loop_timer_new(loop, on_timer, leader, &leader->timer);
        if (r == 0)
            r = loop_timer_new(loop, on_deadline, leader, &leader->deadline);
        if (r < 0)
            (void)error_set_errno(err, -r, "can't take part in the leader election");
    }
    if (r == 0)
        r = start_watch(leader, err);
    if (r < 0) {
        leader_free(leader);
        return r;
    }
    *ret_leader = leader;
    return 0;
}

void leader_free(struct leader *leader)
{
    if (!leader)
        return;
    reflector_free(leader->reflector);
    kube_call_cancel(leader->call);
    loop_timer_free(leader->timer);
    loop_timer_free(leader->deadline);
    free(leader);
}

void leader_join(struct leader *leader)
{
    if (!leader || leader->joined || leader->leaving)
        return;
    leader->joined = true;
    log_event(LOG_LEVEL_INFO, "taking part in the leader election",
              LOG_TEXT("namespace", leader->options.name_space),
              LOG_TEXT("lease", LEADER_LEASE_NAME), LOG_TEXT("identity", leader->identity));
    go_on(leader);
}

bool leader_leads(struct leader *leader)
{
    if (!leader)
        return true;
    if (leader->leading && clock_boottime_ns() >= deadline_ns(leader))
        lose(leader);
    return leader->leading && !leader->leaving;
}

uint64_t leader_not_after_ns(const struct leader *leader)
{
    return leader ? deadline_ns(leader) : 0;
}

void leader_leave(struct leader *leader, void (*left)(void *arg), void *arg)
{
    if (!leader) {
        left(arg);
        return;
    }
    leader->left = left;
    leader->left_arg = arg;
    leader->leaving = true;
    /* What is under way may be the Lease becoming ours. */
    (void)loop_timer_arm(leader->deadline, LEADER_LEAVE_MS);
    loop_timer_disarm(leader->timer);
    if (leader->leading)
        leader->options.stopped(leader->options.arg);
    if (!leader->call)
        go_on(leader);
}
