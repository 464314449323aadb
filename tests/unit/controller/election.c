/* SPDX-License-Identifier: Apache-2.0 */
#include "election.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utlist.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/kube/reflector.h"
#include "common/loop.h"

#define NS_PER_MS UINT64_C(1000000)

struct election election;

/* A request on its way, first to the server and then back. */
struct kube_call {
    struct election_process *process;
    char method[8];
    char *body;
    uint64_t timeout_at_ms;
    uint64_t at_ms;
    bool lost; /* the next thing that is heard of it is its time-out */
    bool answered;
    int status;
    char answer[2048];
    kube_response_fn fn;
    void *arg;
    struct kube_call *prev, *next;
};

/* A change on its way to a watch. */
struct change {
    struct election_process *process;
    uint64_t at_ms;
    bool deleted;
    char object[2048];
    struct change *prev, *next;
};

struct loop_timer {
    struct election_process *process;
    loop_timer_fn fn;
    void *arg;
    bool armed;
    uint64_t at_ms;
    struct loop_timer *prev, *next;
};

struct reflector {
    struct election_process *process;
    struct reflector_handlers handlers;
    void *arg;
};

static struct kube_call *calls;
static struct change *changes;
static struct loop_timer *timers;
static struct metric metrics[3];

/* The clocks and the generator. The names that the linker's --wrap goes by are reserved, so they
 * are given as labels. */
uint64_t wrap_monotonic(void) __asm__("__wrap_clock_monotonic_ns");
uint64_t wrap_boottime(void) __asm__("__wrap_clock_boottime_ns");
int64_t wrap_realtime(void) __asm__("__wrap_clock_realtime_us");
int wrap_random(void *bytes, size_t len) __asm__("__wrap_random_bytes");

uint64_t wrap_monotonic(void)
{
    return (1000 + election.now_ms) * NS_PER_MS;
}

uint64_t wrap_boottime(void)
{
    return (5000 + election.now_ms + election.asleep_ms) * NS_PER_MS;
}

int64_t wrap_realtime(void)
{
    return election.wall_us + (int64_t)election.now_ms * 1000;
}

uint32_t election_random(uint32_t low, uint32_t high)
{
    election.random = election.random * UINT32_C(1664525) + UINT32_C(1013904223);
    return low + (uint32_t)((uint64_t)election.random * (high - low) >> 32);
}

int wrap_random(void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)election_random(0, 256);
    return 0;
}

/* The loop. A process is its own loop and its own client. */

int loop_timer_new(struct loop *loop, loop_timer_fn fn, void *arg, struct loop_timer **ret_timer)
{
    struct loop_timer *timer = calloc(1, sizeof(*timer));
    assert_non_null(timer);
    *timer = (struct loop_timer){.process = (struct election_process *)loop, .fn = fn, .arg = arg};
    DL_APPEND(timers, timer);
    *ret_timer = timer;
    return 0;
}

int loop_timer_arm(struct loop_timer *timer, uint64_t delay_ms)
{
    timer->armed = true;
    timer->at_ms = election.now_ms + delay_ms;
    return 0;
}

void loop_timer_disarm(struct loop_timer *timer)
{
    timer->armed = false;
}

void loop_timer_free(struct loop_timer *timer)
{
    if (!timer)
        return;
    DL_DELETE(timers, timer);
    free(timer);
}

struct loop *kube_client_loop(struct kube_client *client)
{
    return (struct loop *)client;
}

/* The wires. */

static void call_free(struct kube_call *call)
{
    if (calls) /* as it is: call is in it */
        DL_DELETE(calls, call);
    free(call->body);
    free(call);
}

int kube_client_send(struct kube_client *client, const struct kube_request *request,
                     kube_response_fn fn, void *arg, struct kube_call **ret_call, struct error *err)
{
    struct election_process *process = (struct election_process *)client;
    struct kube_call *call = calloc(1, sizeof(*call));
    (void)err;
    assert_non_null(call);
    assert_true(request->urgent);
    assert_false(process->stopped);
    assert_non_null(strstr(request->path, "/namespaces/system/leases"));
    (void)snprintf(call->method, sizeof(call->method), "%s", request->method);
    call->process = process;
    call->body = strndup(request->body ? request->body : "", request->body_len);
    call->at_ms = election.now_ms + election.latency_ms;
    call->timeout_at_ms = election.now_ms + request->timeout_ms;
    call->lost = process->cut_off;
    call->fn = fn;
    call->arg = arg;
    if (strcmp(request->method, "GET") == 0)
        process->reads++;
    else
        process->writes++;
    DL_APPEND(calls, call);
    if (ret_call)
        *ret_call = call;
    return 0;
}

void kube_call_cancel(struct kube_call *call)
{
    if (call)
        call->fn = NULL;
}

int reflector_new(struct kube_client *client, const struct reflector_options *options,
                  const struct reflector_handlers *handlers, void *arg,
                  struct reflector **ret_reflector, struct error *err)
{
    struct election_process *process = (struct election_process *)client;
    struct reflector *reflector = calloc(1, sizeof(*reflector));
    (void)err;
    assert_non_null(reflector);
    assert_string_equal(options->field_selector, "metadata.name=sandboxrun-controller");
    *reflector = (struct reflector){.process = process, .handlers = *handlers, .arg = arg};
    process->reflector = reflector;
    *ret_reflector = reflector;
    return 0;
}

void reflector_free(struct reflector *reflector)
{
    if (reflector)
        reflector->process->reflector = NULL;
    free(reflector);
}

/* The server. */

static void print_lease(char *text, size_t size)
{
    (void)snprintf(text, size,
                   "{\"metadata\":{\"name\":\"sandboxrun-controller\",\"resourceVersion\":\"%u\"},"
                   "\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":%lld,"
                   "\"leaseTransitions\":%lld,\"acquireTime\":\"%s\",\"renewTime\":\"%s\"}}",
                   election.version, election.holder, election.seconds, election.transitions,
                   election.acquired, election.renewed);
}

static void tell_watches(void)
{
    for (unsigned int i = 0; i < ELECTION_PROCESSES; i++) {
        struct election_process *process = &election.processes[i];
        if (!process->reflector || process->cut_off)
            continue;
        struct change *change = calloc(1, sizeof(*change));
        assert_non_null(change);
        change->process = process;
        change->at_ms = election.now_ms + election.latency_ms;
        change->deleted = !election.exists;
        print_lease(change->object, sizeof(change->object));
        DL_APPEND(changes, change);
    }
}

static void store(const cJSON *object)
{
    int64_t number = 0;
    election.exists = true;
    election.version++;
    (void)snprintf(election.holder, sizeof(election.holder), "%s",
                   json_get_string(object, "spec.holderIdentity"));
    (void)snprintf(election.renewed, sizeof(election.renewed), "%s",
                   json_get_string(object, "spec.renewTime"));
    (void)snprintf(election.acquired, sizeof(election.acquired), "%s",
                   json_get_string(object, "spec.acquireTime"));
    assert_int_equal(json_get_i64(object, "spec.leaseDurationSeconds", &number), 0);
    assert_true(number > 0);
    election.seconds = number;
    assert_int_equal(json_get_i64(object, "spec.leaseTransitions", &number), 0);
    assert_true(number >= 0 && number <= INT32_MAX);
    election.transitions = number;
    tell_watches();
}

static int serve(const struct kube_call *call)
{
    if (election.refusal)
        return election.refusal;
    if (strcmp(call->method, "GET") == 0)
        return election.exists ? 200 : 404;
    cleanup_json cJSON *object = NULL;
    struct error err = {0};
    assert_int_equal(json_parse(call->body, strlen(call->body), &object, &err), 0);
    const char *version = json_get_string(object, "metadata.resourceVersion");
    char current[16];
    (void)snprintf(current, sizeof(current), "%u", election.version);
    bool create = strcmp(call->method, "POST") == 0;
    if (create ? election.exists : !election.exists)
        return create ? 409 : 404;
    if (create)
        assert_null(version);
    else
        assert_non_null(version);
    if (!create && strcmp(version, current) != 0) {
        election.conflicts++;
        return 409;
    }
    store(object);
    return create ? 201 : 200;
}

/* Processes. */

static void on_started(void *arg)
{
    ((struct election_process *)arg)->started++;
}

static void on_stopped(void *arg)
{
    ((struct election_process *)arg)->ended++;
}

static void on_left(void *arg)
{
    ((struct election_process *)arg)->left = true;
}

void election_begin(void)
{
    election = (struct election){.latency_ms = 5, .version = 100, .random = 1};
    for (unsigned int i = 0; i < ARRAY_SIZE(metrics); i++)
        metrics[i] = (struct metric){.name = "m", .type = METRIC_GAUGE};
}

void election_start(unsigned int i)
{
    struct election_process *process = &election.processes[i];
    const struct leader_options options = {
        .name_space = "system",
        .times = {.lease_ms = 15000, .renew_ms = 10000, .retry_ms = 2000},
        .metrics = {&metrics[0], &metrics[1], &metrics[2]},
        .started = on_started,
        .stopped = on_stopped,
        .arg = process,
    };
    struct error err = {0};
    *process = (struct election_process){0};
    assert_int_equal(leader_new((struct kube_client *)process, &options, &process->leader, &err),
                     0);
    leader_join(process->leader);
}

void election_kill(unsigned int i)
{
    struct election_process *process = &election.processes[i];
    struct kube_call *call;
    leader_free(process->leader);
    process->leader = NULL;
    process->stopped = false;
    DL_FOREACH (calls, call) {
        if (call->process == process)
            call->fn = NULL;
    }
}

void election_stop(unsigned int i)
{
    election.processes[i].stopped = true;
}

void election_continue(unsigned int i)
{
    election.processes[i].stopped = false;
}

void election_leave(unsigned int i)
{
    leader_leave(election.processes[i].leader, on_left, &election.processes[i]);
}

int election_leader(void)
{
    int found = -1;
    for (unsigned int i = 0; i < ELECTION_PROCESSES; i++) {
        struct election_process *process = &election.processes[i];
        if (!process->leader || process->stopped || !leader_leads(process->leader))
            continue;
        if (found >= 0)
            fail_msg("%d and %u lead, at %llu ms", found, i, (unsigned long long)election.now_ms);
        found = (int)i;
    }
    return found;
}

/* One thing that is due; false: nothing is. */
static bool deliver_call(void)
{
    struct kube_call *call, *next;
    DL_FOREACH_SAFE (calls, call, next) {
        bool timed_out = call->timeout_at_ms <= election.now_ms;
        if (!call->lost && !call->answered && call->at_ms <= election.now_ms) {
            call->answered = true;
            call->status = serve(call);
            call->at_ms = election.now_ms + election.latency_ms;
            call->lost = call->process->cut_off;
            print_lease(call->answer, sizeof(call->answer));
            return true;
        }
        if (call->answered && !call->fn) {
            call_free(call);
            return true;
        }
        bool arrives = call->answered && !call->lost && call->at_ms <= election.now_ms;
        if (!call->fn && call->lost) {
            call_free(call);
            return true;
        }
        if (call->process->stopped || (!arrives && !timed_out) || !call->fn)
            continue;
        struct kube_response response = {.status = arrives ? call->status : 0};
        response.body = call->answer;
        response.body_len = strlen(call->answer);
        if (response.status < 200 || response.status > 299)
            (void)error_set(&response.error, EIO, "the answer was %d", response.status);
        kube_response_fn fn = call->fn;
        call->fn = NULL;
        /* A request whose time is over may still be on its way to the server. */
        call->answered = call->answered || call->lost;
        fn(&response, call->arg);
        return true;
    }
    return false;
}

static bool deliver_change(void)
{
    struct change *change, *next;
    DL_FOREACH_SAFE (changes, change, next) {
        struct election_process *process = change->process;
        if (change->at_ms > election.now_ms || process->stopped)
            continue;
        cleanup_json cJSON *object = NULL;
        struct error err = {0};
        assert_int_equal(json_parse(change->object, strlen(change->object), &object, &err), 0);
        DL_DELETE(changes, change);
        if (process->reflector && change->deleted)
            process->reflector->handlers.remove("system", LEADER_LEASE_NAME, "",
                                                process->reflector->arg);
        else if (process->reflector)
            process->reflector->handlers.upsert(object, 1000, process->reflector->arg);
        free(change);
        return true;
    }
    return false;
}

static bool fire_timer(void)
{
    struct loop_timer *timer;
    DL_FOREACH (timers, timer) {
        if (!timer->armed || timer->at_ms > election.now_ms || timer->process->stopped)
            continue;
        timer->armed = false;
        timer->fn(timer->arg);
        return true;
    }
    return false;
}

static uint64_t earlier(uint64_t a_ms, uint64_t b_ms)
{
    return b_ms > election.now_ms && b_ms < a_ms ? b_ms : a_ms;
}

/* The next moment at which something can happen, end_ms at the latest. Between two of them nobody
 * begins to lead. */
static uint64_t next_moment(uint64_t end_ms)
{
    const struct loop_timer *timer;
    const struct kube_call *call;
    const struct change *change;
    DL_FOREACH (timers, timer)
        end_ms = timer->armed ? earlier(end_ms, timer->at_ms) : end_ms;
    DL_FOREACH (calls, call)
        end_ms = earlier(earlier(end_ms, call->at_ms), call->timeout_at_ms);
    DL_FOREACH (changes, change)
        end_ms = earlier(end_ms, change->at_ms);
    return end_ms;
}

void election_run(uint64_t ms)
{
    for (uint64_t end_ms = election.now_ms + ms; election.now_ms < end_ms;
         election.now_ms = next_moment(end_ms)) {
        do {
            (void)election_leader();
        } while (fire_timer() || deliver_call() || deliver_change());
    }
}

void election_write(const char *holder, long long seconds, const char *renewed)
{
    election.exists = true;
    election.version++;
    election.seconds = seconds;
    (void)snprintf(election.holder, sizeof(election.holder), "%s", holder);
    (void)snprintf(election.renewed, sizeof(election.renewed), "%s", renewed);
    (void)snprintf(election.acquired, sizeof(election.acquired), "%s", renewed);
    tell_watches();
}

void election_delete(void)
{
    election.exists = false;
    election.version++;
    tell_watches();
}

void election_end(void)
{
    for (unsigned int i = 0; i < ELECTION_PROCESSES; i++)
        election_kill(i);
    while (calls)
        call_free(calls);
    while (changes) {
        struct change *change = changes;
        DL_DELETE(changes, change);
        free(change);
    }
    assert_null(timers);
}
