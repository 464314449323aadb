/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/assignments.h"

#include "common/api/run_status_decode.h"
#include "common/api/sandboxrun.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/kube/reflector.h"
#include "common/log.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/assignment.h"
#include "node-agent/agent/assignment_plan.h"
#include "node-agent/agent/status_patch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US_PER_MS  1000
#define COLLECTION "/apis/" SANDBOXRUN_GROUP_VERSION "/sandboxruns"

/* An object as the watch has shown it. */
struct sighting {
    const cJSON *tree;
    const char *uid;
    const char *version;
    bool deleting;
    struct run_status status;
};

static struct assignment *find(const struct assignments *assignments, const char *sandbox_id)
{
    struct assignment *assignment = NULL;

    HASH_FIND(hh, assignments->table, sandbox_id, strlen(sandbox_id), assignment);
    return assignment;
}

static struct assignment *add(struct assignments *assignments, const struct sighting *sighting)
{
    struct assignment *assignment = calloc(1, sizeof(*assignment));
    const char *name = json_get_string(sighting->tree, "metadata.name");
    const char *name_space = json_get_string(sighting->tree, "metadata.namespace");

    if (!assignment)
        return NULL;
    struct status_target *target = &assignment->target;
    (void)snprintf(target->name, sizeof(target->name), "%s", name ? name : "");
    (void)snprintf(target->name_space, sizeof(target->name_space), "%s",
                   name_space ? name_space : "");
    (void)snprintf(target->uid, sizeof(target->uid), "%s", sighting->uid);
    (void)snprintf(target->sandbox_id, sizeof(target->sandbox_id), "%s",
                   sighting->status.sandbox_id);
    (void)json_get_i64(sighting->tree, "metadata.generation", &target->generation);
    target->room = status_patch_room(sighting->tree);
    assignment->owner = assignments;
    assignment->seen_us = clock_realtime_us();
    assignment->scheduled_us = sighting->status.scheduled_us;
    HASH_ADD(hh, assignments->table, target.sandbox_id, strlen(target->sandbox_id), assignment);
    if (!assignment->hh.tbl) {
        free(assignment);
        return NULL;
    }
    return assignment;
}

/* Cut off in the middle it would be another version. */
static void set_version(struct status_target *target, const char *version)
{
    size_t len = strlen(version);

    if (len >= sizeof(target->resource_version))
        len = 0;
    memcpy(target->resource_version, version, len);
    target->resource_version[len] = '\0';
}

static bool fits(const struct assignments *assignments, const struct sandboxrun *object)
{
    const struct proto_hello *hello = jailer_client_hello(assignments->options.jailer);
    const struct node_resources *used = &assignments->allocated;
    const struct run_spec *spec = &object->spec;

    if (!hello || assignments->unsure || !spool_has_room(assignments->options.spool) ||
        spool_failure(assignments->options.spool) ||
        !node_lease_is_fresh(assignments->options.lease))
        return false;
    /* What fits on no day is for the jailer to refuse, with its reason. */
    if (used->runs == 0)
        return true;
    return used->runs < hello->max_runs && used->cpu_milli + spec->cpu_milli <= hello->cpu_milli &&
           used->memory_bytes + spec->memory_bytes <= hello->memory_bytes;
}

static void gather(const struct assignments *assignments, const struct sighting *sighting,
                   const struct assignment *assignment, struct assignment_facts *facts)
{
    const char *id = sighting->status.sandbox_id;
    const char *instance = sighting->status.agent_instance;
    bool writing = status_writer_has(assignments->options.writer, id);

    *facts = (struct assignment_facts){
        .phase = sighting->status.phase,
        .deleting = sighting->deleting,
        .own = strcmp(instance, assignments->options.instance) == 0,
        .known = spool_knows_instance(assignments->options.spool, instance),
        .seen = seen_ids_has(assignments->seen, id),
        .spooled = writing,
        .marked = !writing && spool_has(assignments->options.spool, id),
        .draining = assignments->draining,
        .can_hold =
            assignments->held_count < MAX_HELD_RUNS && !spool_failure(assignments->options.spool),
        .state = assignment ? assignment->state : ASSIGNMENT_UNSEEN,
    };
}

/* Decoded only when it may be started: most of what the watch shows is no news. */
static bool wants_object(const struct assignment_facts *facts)
{
    return facts->state == ASSIGNMENT_UNSEEN && facts->phase == RUN_PHASE_SCHEDULED && facts->own &&
           !facts->deleting && !facts->draining && !facts->seen && !facts->spooled &&
           !facts->marked;
}

static void act_unseen(struct assignments *assignments, const struct sighting *sighting,
                       enum assignment_action action, struct sandboxrun *object)
{
    struct assignment *assignment = add(assignments, sighting);

    if (!assignment) {
        log_event(LOG_LEVEL_ERROR, "out of memory for a run that is assigned to this node",
                  LOG_TEXT("namespace", json_get_string(sighting->tree, "metadata.namespace")),
                  LOG_TEXT("run", json_get_string(sighting->tree, "metadata.name")),
                  LOG_TEXT("uid", sighting->uid), LOG_TEXT("sandbox", sighting->status.sandbox_id));
        return;
    }
    set_version(&assignment->target, sighting->version);
    switch (action) {
    case ASSIGNMENT_START:
        assignment_start(assignment, object);
        break;
    case ASSIGNMENT_HOLD:
        assignment_hold(assignment, object);
        break;
    case ASSIGNMENT_GIVE_BACK:
        assignment_give_back(assignment);
        break;
    case ASSIGNMENT_CANCEL:
        assignment_fail(assignment, &sighting->status, RUN_REASON_CANCELLED,
                        "deleted before it was started");
        break;
    case ASSIGNMENT_LOSE:
        assignment_fail(assignment, &sighting->status, RUN_REASON_AGENT_RESTARTED,
                        "the node agent restarted and doesn't know whether the run was started");
        break;
    case ASSIGNMENT_IGNORE:
    case ASSIGNMENT_KILL:
    case ASSIGNMENT_ABANDON:
    case ASSIGNMENT_FORGET:
        assignment_drop(assignment);
        break;
    }
}

static void act_seen(struct assignment *assignment, const struct sighting *sighting,
                     enum assignment_action action)
{
    switch (action) {
    case ASSIGNMENT_KILL:
        run_kill(assignment->run, RUN_REASON_CANCELLED, "deleted while it was running");
        break;
    case ASSIGNMENT_ABANDON:
        run_kill(assignment->run, RUN_REASON_CANCELLED, "ended by somebody else");
        break;
    case ASSIGNMENT_CANCEL:
        assignment_unhold(assignment);
        assignment_fail(assignment, &sighting->status, RUN_REASON_CANCELLED,
                        "deleted before it was started");
        break;
    case ASSIGNMENT_GIVE_BACK:
        assignment_give_back(assignment);
        break;
    case ASSIGNMENT_FORGET:
        assignment_drop(assignment);
        break;
    case ASSIGNMENT_IGNORE:
    case ASSIGNMENT_START:
    case ASSIGNMENT_HOLD:
    case ASSIGNMENT_LOSE:
        break;
    }
}

/* What is told may be old: what the watch has yet to deliver may say that the controller has ended
 * the run. */
static void list_anew(struct assignments *assignments)
{
    assignments->unsure = true;
    reflector_relist(assignments->reflector);
}

/* By the API server's clock, which dates assignments. Whatever that shows, after one more list
 * there is nothing older. */
static void doubt_old(struct assignments *assignments, const struct sighting *sighting)
{
    int64_t now_us = kube_client_server_time_us(assignments->options.client);
    int64_t age_us = now_us - sighting->status.scheduled_us;

    if (!assignments->listed || assignments->unsure || now_us == 0 ||
        age_us < (int64_t)ASSIGNMENT_OLD_MS * US_PER_MS)
        return;
    log_event(LOG_LEVEL_INFO, "an assignment comes late, listing the node's runs anew",
              LOG_TEXT("uid", sighting->uid), LOG_TEXT("sandbox", sighting->status.sandbox_id),
              LOG_NUMBER("ageMs", age_us / US_PER_MS));
    list_anew(assignments);
}

static void sight_unseen(struct assignments *assignments, const struct sighting *sighting,
                         struct assignment_facts *facts)
{
    struct sandboxrun object = {0};
    struct error err = {0};
    int r = 0;

    if (wants_object(facts)) {
        doubt_old(assignments, sighting);
        r = sandboxrun_decode(sighting->tree, SANDBOXRUN_LENIENT, &object, &err);
        if (r == 0)
            r = sandboxrun_validate(&object, &err);
        facts->room = r == 0 && assignments->held_count == 0 && fits(assignments, &object);
    }
    if (r == 0) {
        enum assignment_action action = assignment_decide(facts);
        if (action != ASSIGNMENT_IGNORE && action != ASSIGNMENT_FORGET)
            act_unseen(assignments, sighting, action, &object);
    } else {
        struct assignment *assignment = add(assignments, sighting);
        if (assignment) {
            set_version(&assignment->target, sighting->version);
            assignment_fail(assignment, &sighting->status, RUN_REASON_INVALID_SPEC, err.text);
        }
    }
    sandboxrun_done(&object);
}

/* Earlier assignments of the same object that nobody will speak of again. */
static void drop_earlier(struct assignments *assignments, const struct sighting *sighting)
{
    struct assignment *assignment;
    struct assignment *next;

    HASH_ITER (hh, assignments->table, assignment, next) {
        if (strcmp(assignment->target.uid, sighting->uid) != 0 ||
            strcmp(assignment->target.sandbox_id, sighting->status.sandbox_id) == 0)
            continue;
        if (assignment->state == ASSIGNMENT_ACTIVE)
            run_kill(assignment->run, RUN_REASON_CANCELLED, "assigned anew by somebody else");
        else if (assignment->state == ASSIGNMENT_HELD || assignment->state == ASSIGNMENT_WRITTEN)
            assignment_drop(assignment);
        else
            assignment->over = true;
    }
}

static void sight(struct assignments *assignments, const struct sighting *sighting)
{
    const char *id = sighting->status.sandbox_id;
    struct assignment *assignment = find(assignments, id);
    struct assignment_facts facts;

    drop_earlier(assignments, sighting);
    status_writer_saw(assignments->options.writer, id, sighting->version);
    gather(assignments, sighting, assignment, &facts);
    if (!assignment) {
        sight_unseen(assignments, sighting, &facts);
        return;
    }
    set_version(&assignment->target, sighting->version);
    assignment->over |= run_phase_is_terminal(facts.phase);
    act_seen(assignment, sighting, assignment_decide(&facts));
}

static void on_upsert(const cJSON *object, size_t bytes, void *arg)
{
    (void)bytes;
    struct assignments *assignments = arg;
    struct sighting sighting = {
        .tree = object,
        .uid = json_get_string(object, "metadata.uid"),
        .version = json_get_string(object, "metadata.resourceVersion"),
        .deleting = json_get_path(object, "metadata.deletionTimestamp"),
    };
    struct error err = {0};

    /* An object that could not be read comes without its status; what runs of it goes on, and its
     * writer copes. One that never was readable the controller doesn't assign. */
    if (sighting.uid && assignments->options.retained)
        retained_saw(assignments->options.retained, sighting.uid);
    if (sighting.uid && sighting.version && json_get(object, "status")) {
        if (run_status_decode(json_get(object, "status"), &sighting.status, &err) < 0)
            log_event(LOG_LEVEL_WARN, "ignoring a run whose status makes no sense",
                      LOG_TEXT("namespace", json_get_string(object, "metadata.namespace")),
                      LOG_TEXT("run", json_get_string(object, "metadata.name")),
                      LOG_TEXT("uid", sighting.uid), LOG_TEXT("error", err.text));
        else if (sighting.status.sandbox_id[0])
            sight(assignments, &sighting);
    }
    run_status_done(&sighting.status);
}

static void on_remove(const char *name_space, const char *name, const char *uid, void *arg)
{
    struct assignments *assignments = arg;
    struct assignment *assignment;
    struct assignment *next;

    (void)name_space;
    (void)name;
    /* The next owner of that name must not be given it. */
    if (assignments->options.retained)
        retained_forget(assignments->options.retained, uid);
    HASH_ITER (hh, assignments->table, assignment, next) {
        if (strcmp(assignment->target.uid, uid) != 0)
            continue;
        assignment->over = true;
        if (assignment->state == ASSIGNMENT_ACTIVE)
            run_kill(assignment->run, RUN_REASON_CANCELLED, "deleted while it was running");
        else if (assignment->state == ASSIGNMENT_HELD || assignment->state == ASSIGNMENT_WRITTEN)
            assignment_drop(assignment);
    }
}

/* A mark that can't be read has its file's name only. If the list didn't show its run, that is
 * gone. */
static void forget_mark(const char *sandbox_id, void *arg)
{
    struct assignments *assignments = arg;

    if (find(assignments, sandbox_id) || status_writer_has(assignments->options.writer, sandbox_id))
        return;
    log_event(LOG_LEVEL_WARN, "dropping a mark of a run that is gone",
              LOG_TEXT("sandbox", sandbox_id));
    spool_remove(assignments->options.spool, sandbox_id);
}

static void on_synced(void *arg)
{
    struct assignments *assignments = arg;

    spool_each(assignments->options.spool, forget_mark, assignments);
    if (assignments->options.retained)
        retained_settle(assignments->options.retained);
    status_writer_settle(assignments->options.writer);
    log_event(LOG_LEVEL_DEBUG, "runs of this node are listed",
              LOG_NUMBER("active", assignments->allocated.runs));
    assignments->listed = true;
    assignments->unsure = false;
    assignments_start_held(assignments);
}

void assignments_start_held(struct assignments *assignments)
{
    while (assignments->held && !assignments->draining &&
           fits(assignments, &assignments->held->object))
        assignment_start_held(assignments->held);
}

void assignments_written(struct assignments *assignments, const struct status_target *target,
                         enum status_write write, enum status_step step)
{
    struct assignment *assignment = find(assignments, target->sandbox_id);

    if (assignment && write == STATUS_WRITE_RUNNING) {
        if (step == STATUS_STEP_WRITTEN)
            set_version(&assignment->target, target->resource_version);
    } else if (assignment) {
        /* Until the watch shows it, an old event must not look like a run that nobody has seen. */
        assignment->state = ASSIGNMENT_WRITTEN;
        if (assignment->over)
            assignment_drop(assignment);
    }
    /* Room in the spool, or the last write of all. */
    assignments_start_held(assignments);
    assignments->changed(assignments->arg);
}

void assignments_renewed(struct assignments *assignments, bool lapsed)
{
    while (lapsed && assignments->held)
        assignment_give_back(assignments->held);
    if (lapsed)
        list_anew(assignments);
    assignments_start_held(assignments);
}

void assignments_spool_changed(struct assignments *assignments)
{
    while (spool_failure(assignments->options.spool) && assignments->held)
        assignment_give_back(assignments->held);
    assignments_start_held(assignments);
}

void assignments_drain(struct assignments *assignments)
{
    struct assignment *assignment;
    struct assignment *next;

    assignments->draining = true;
    HASH_ITER (hh, assignments->table, assignment, next) {
        if (assignment->state == ASSIGNMENT_HELD ||
            (assignment->state == ASSIGNMENT_ACTIVE && !assignment->marked))
            assignment_give_back(assignment);
    }
}

void assignments_allocated(const struct assignments *assignments,
                           struct node_resources *ret_allocated)
{
    *ret_allocated = assignments->allocated;
}

unsigned int assignments_active(const struct assignments *assignments)
{
    return assignments->allocated.runs;
}

unsigned int assignments_held(const struct assignments *assignments)
{
    return assignments->held_count;
}

bool assignments_is_healthy(const struct assignments *assignments)
{
    return reflector_is_healthy(assignments->reflector);
}

int assignments_new(const struct assignments_options *options, assignments_changed_fn changed,
                    void *arg, struct assignments **ret_assignments, struct error *err)
{
    static const struct reflector_handlers handlers = {
        .upsert = on_upsert, .remove = on_remove, .synced = on_synced};
    char selector[MAX_RUN_NAME + 32];
    const struct reflector_options watch = {
        .path = COLLECTION, .field_selector = selector, .name = "sandboxruns"};
    struct assignments *assignments = calloc(1, sizeof(*assignments));

    if (!assignments)
        return error_set_errno(err, ENOMEM, "can't watch the runs of this node");
    assignments->options = *options;
    assignments->changed = changed;
    assignments->arg = arg;
    (void)snprintf(selector, sizeof(selector), "status.nodeName=%s", options->node_name);
    int r = seen_ids_new(&assignments->seen, err);
    if (r == 0)
        r = reflector_new(options->client, &watch, &handlers, assignments, &assignments->reflector,
                          err);
    if (r < 0) {
        seen_ids_free(assignments->seen);
        free(assignments);
        return r;
    }
    *ret_assignments = assignments;
    return 0;
}

void assignments_free(struct assignments *assignments)
{
    struct assignment *assignment;
    struct assignment *next;

    if (!assignments)
        return;
    reflector_free(assignments->reflector);
    HASH_ITER (hh, assignments->table, assignment, next)
        assignment_drop(assignment);
    seen_ids_free(assignments->seen);
    free(assignments);
}
