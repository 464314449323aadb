/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "controller/limits.h"
#include "objects.h"

struct reflector reflectors[COLLECTIONS];
static unsigned int reflectors_alive;

/* What controller.c is linked against. */

int reflector_new(struct kube_client *client, const struct reflector_options *options,
                  const struct reflector_handlers *handlers, void *arg,
                  struct reflector **ret_reflector, struct error *err)
{
    static const char *const paths[] = {
        [RUNS] = "/apis/sandboxrun.dev/v1alpha1/sandboxruns",
        [AGENTS] = "/apis/sandboxrun.dev/v1alpha1/sandboxnodes",
        [NODES] = "/api/v1/nodes",
        [LEASES] = "/apis/coordination.k8s.io/v1/namespaces/system/leases",
    };
    (void)client;
    (void)err;
    for (unsigned int i = 0; i < COLLECTIONS; i++) {
        if (strcmp(options->path, paths[i]) == 0) {
            if (i == LEASES)
                assert_string_equal(options->label_selector, "sandboxrun.dev/lease=node");
            reflectors[i] = (struct reflector){*handlers, arg, true};
            reflectors_alive++;
            *ret_reflector = &reflectors[i];
            return 0;
        }
    }
    fail_msg("unexpected path %s", options->path);
    return -EINVAL;
}

void reflector_free(struct reflector *reflector)
{
    if (reflector)
        reflectors_alive--;
}

bool reflector_is_healthy(const struct reflector *reflector)
{
    return reflector->healthy;
}

struct reflector_stats reflector_stats(const struct reflector *reflector)
{
    (void)reflector;
    return (struct reflector_stats){0};
}

/* What tests add to the time that has really passed. */
uint64_t skipped_ns;
int64_t wall_ahead_us;

/* The names that the linker's --wrap goes by are reserved, so they are given as labels. */
uint64_t real_clock(void) __asm__("__real_clock_monotonic_ns");
uint64_t wrap_clock(void) __asm__("__wrap_clock_monotonic_ns");
int64_t real_wall(void) __asm__("__real_clock_realtime_us");
int64_t wrap_wall(void) __asm__("__wrap_clock_realtime_us");

int64_t wrap_wall(void)
{
    return real_wall() + (int64_t)(skipped_ns / 1000) + wall_ahead_us;
}

uint64_t wrap_clock(void)
{
    return real_clock() + skipped_ns;
}

int64_t kube_client_server_time_us(const struct kube_client *client)
{
    (void)client;
    return wrap_wall() - wall_ahead_us;
}

/* The tests' means. */

static void stop(void *arg)
{
    loop_stop(arg);
}

void run_loop(struct world *world, uint64_t for_ms)
{
    struct error err = {0};
    assert_int_equal(loop_timer_arm(world->stop_timer, for_ms), 0);
    assert_int_equal(loop_run(world->client.loop, &err), 0);
}

/* Runs the loop until what is due has been done. */
void turn(struct world *world)
{
    run_loop(world, 5);
}

/* Longer than the first pause after a write that failed. */
void outwait_backoff(struct world *world)
{
    run_loop(world, BACKOFF_FIRST_MS + 50);
}

static int set_up(void **state, bool leader_elect)
{
    static struct world world;
    const struct controller_options options = {
        .ttl_seconds = 600,
        .finished = {.runs = 1000, .runs_per_namespace = 1000, .bytes = 1 << 20},
        .lease_namespace = "system",
        .lease_times = {.duration_ms = DURATION_MS, .renew_ms = RENEW_MS},
        .leader_elect = leader_elect,
    };
    struct error err = {0};
    world = (struct world){0};
    assert_int_equal(loop_new(&world.client.loop, &err), 0);
    assert_int_equal(loop_timer_new(world.client.loop, stop, world.client.loop, &world.stop_timer),
                     0);
    assert_int_equal(controller_new(&world.client, &options, &world.controller, &err), 0);
    assert_int_equal(reflectors_alive, COLLECTIONS);
    *state = &world;
    return 0;
}

int setup(void **state)
{
    return set_up(state, false);
}

int setup_election(void **state)
{
    return set_up(state, true);
}

int teardown(void **state)
{
    struct world *world = *state;
    controller_free(world->controller);
    assert_int_equal(reflectors_alive, 0);
    fake_client_done(&world->client);
    loop_timer_free(world->stop_timer);
    loop_free(world->client.loop);
    return 0;
}

void upsert(unsigned int collection, cJSON *object)
{
    reflectors[collection].handlers.upsert(object, RUN_BYTES, reflectors[collection].arg);
    json_free(object);
}

void sync_all(void)
{
    for (unsigned int i = 0; i < COLLECTIONS; i++)
        reflectors[i].handlers.synced(reflectors[i].arg);
}

void watch_run(const char *name, const char *version, const char *spec, const char *status)
{
    upsert(RUNS, parse_object("{'metadata':{'namespace':'a','name':'%s','uid':'uid-%s',"
                              "'resourceVersion':'%s','creationTimestamp':'2036-01-01T00:00:00Z'},"
                              "'spec':{'code':'x'%s},'status':{%s}}",
                              name, name, version, spec, status));
}

void watch_short_run(void)
{
    watch_run("r", "7", ",'timeoutSeconds':1",
              "'phase':'Running','nodeName':'n','agentInstance':'i','sandboxID':'s'");
}

static cJSON *make_lease(const char *holder)
{
    char renewed[CLOCK_TEXT_SIZE];
    clock_format_micro(clock_realtime_us(), renewed);
    return parse_object("{'metadata':{'name':'n','resourceVersion':'1'},'spec':{'holderIdentity':"
                        "'%s','renewTime':'%s'}}",
                        holder, renewed);
}

void watch_agent(const char *instance, unsigned int runs)
{
    upsert(LEASES, make_lease(instance));
    upsert(AGENTS, parse_object("{'metadata':{'name':'n'},'status':{'instance':'%s',"
                                "'capacity':{'runs':%u,'memory':'1000Gi','cpu':'1000'},"
                                "'runtimes':[{'name':'python3.12'}],'profiles':['Snippet'],"
                                "'conditions':[{'type':'Ready','status':'True'}]}}",
                                instance, runs));
}

struct kube_call *last_call(struct world *world)
{
    return fake_client_last(&world->client);
}

/* Lets time pass in steps that are none too long, with a plan at each. */
void pass(struct world *world, unsigned int ms)
{
    for (unsigned int i = 0; i < ms; i += RENEW_MS) {
        skipped_ns += RENEW_MS * UINT64_C(1000000);
        reflectors[NODES].handlers.synced(reflectors[NODES].arg);
        turn(world);
    }
}

void ended(void *arg)
{
    *(bool *)arg = true;
}
