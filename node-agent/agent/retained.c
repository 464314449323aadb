/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/retained.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/path.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/retained_plan.h"
#include "node-agent/agent/retained_record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <utlist.h>

#define RECORD_SUFFIX ".run"
#define NAME_SIZE     64

static const char *const stream_suffixes[RUN_STREAM_COUNT] = {".stdout", ".stderr"};

struct retained_run {
    UT_hash_handle hh; /* by sandbox id */
    struct retained_run *prev;
    struct retained_run *next;
    struct retained *owner;
    struct retained_record record;
    bool ended;
    bool unconfirmed; /* of an earlier agent; its object hasn't been seen */
    bool lost;
    uint64_t max_bytes;
    int fds[RUN_STREAM_COUNT]; /* while it runs; -1 until there is a byte */
};

struct retained {
    int dir;
    uint64_t keep_ms;
    struct retained_load load;
    struct retained_run *table;
    struct retained_run *ended; /* the oldest first */
    size_t unconfirmed;
    struct loop_timer *timer;
};

static void make_name(char ret_name[static NAME_SIZE], const char *id, const char *suffix)
{
    (void)snprintf(ret_name, NAME_SIZE, "%s%s", id, suffix);
}

static void remove_files(int dir, const char *id)
{
    char name[NAME_SIZE];

    /* The record first: without it the rest is what nobody owns. */
    make_name(name, id, RECORD_SUFFIX);
    (void)unlinkat(dir, name, 0);
    for (size_t i = 0; i < RUN_STREAM_COUNT; i++) {
        make_name(name, id, stream_suffixes[i]);
        (void)unlinkat(dir, name, 0);
    }
}

/* On disk, with the record. */
static uint64_t disk_bytes(const struct retained_run *run)
{
    return retained_plan_disk_bytes(run->record.bytes[RUN_STDOUT]) +
           retained_plan_disk_bytes(run->record.bytes[RUN_STDERR]) + retained_plan_disk_bytes(1);
}

static void close_streams(struct retained_run *run)
{
    for (size_t i = 0; i < RUN_STREAM_COUNT; i++)
        run->fds[i] = fd_close(run->fds[i]);
}

/* Only of what is in memory; the files are left. */
static void forget(struct retained_run *run)
{
    struct retained *retained = run->owner;

    close_streams(run);
    if (run->ended)
        DL_DELETE(retained->ended, run);
    if (run->unconfirmed)
        retained->unconfirmed--;
    if (!run->lost) {
        retained->load.bytes -= disk_bytes(run);
        retained->load.runs--;
    }
    HASH_DEL(retained->table, run);
    free(run);
}

static void drop(struct retained_run *run)
{
    if (!run->lost)
        remove_files(run->owner->dir, run->record.sandbox_id);
    forget(run);
}

static void arm_timer(struct retained *retained)
{
    if (!retained->ended) {
        loop_timer_disarm(retained->timer);
        return;
    }
    uint64_t wait_ms = retained_plan_wait_ms(retained->ended->record.ended_us, clock_realtime_us(),
                                             retained->keep_ms);
    /* A millisecond is lost by rounding, and the clock may be set in between. */
    (void)loop_timer_arm(retained->timer,
                         wait_ms < RETAINED_LOOK_MS ? wait_ms + 1 : RETAINED_LOOK_MS);
}

static void drop_expired(struct retained *retained)
{
    int64_t now_us = clock_realtime_us();

    while (retained->ended &&
           retained_plan_wait_ms(retained->ended->record.ended_us, now_us, retained->keep_ms) == 0)
        drop(retained->ended);
    arm_timer(retained);
}

static void on_timer(void *arg)
{
    drop_expired(arg);
}

static struct retained_run *add(struct retained *retained, const struct retained_record *record)
{
    struct retained_run *run = calloc(1, sizeof(*run));

    if (!run)
        return NULL;
    run->owner = retained;
    run->record = *record;
    for (size_t i = 0; i < RUN_STREAM_COUNT; i++)
        run->fds[i] = -1;
    HASH_ADD(hh, retained->table, record.sandbox_id, strlen(run->record.sandbox_id), run);
    if (!run->hh.tbl) {
        free(run);
        return NULL;
    }
    retained->load.bytes += disk_bytes(run);
    retained->load.runs++;
    return run;
}

static bool make_room(struct retained *retained, uint64_t need, bool further_run)
{
    while (retained_plan_is_full(&retained->load, need, further_run)) {
        if (!retained->ended)
            return false;
        drop(retained->ended);
    }
    return true;
}

static struct retained_run *find(const struct retained *retained, const char *id)
{
    struct retained_run *run = NULL;

    HASH_FIND(hh, retained->table, id, strlen(id), run);
    return run;
}

static bool fill_record(const struct retained_owner *owner, struct retained_record *record)
{
    const struct {
        const char *text;
        char *field;
        size_t size;
    } fields[] = {
        {owner->sandbox_id, record->sandbox_id, sizeof(record->sandbox_id)},
        {owner->name_space, record->name_space, sizeof(record->name_space)},
        {owner->name, record->name, sizeof(record->name)},
        {owner->uid, record->uid, sizeof(record->uid)},
    };

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        size_t len = strlen(fields[i].text);
        if (len == 0 || len >= fields[i].size)
            return false;
        memcpy(fields[i].field, fields[i].text, len + 1);
    }
    /* It goes into file names. */
    return !strchr(record->sandbox_id, '/') && record->sandbox_id[0] != '.';
}

struct retained_run *retained_begin(struct retained *retained, const struct retained_owner *owner,
                                    uint64_t max_bytes)
{
    struct retained_record record = {0};

    if (!fill_record(owner, &record) || find(retained, record.sandbox_id))
        return NULL;
    if (!make_room(retained, retained_plan_disk_bytes(1), true)) {
        log_event(LOG_LEVEL_WARN, "no room to keep the output of a run",
                  LOG_TEXT("namespace", owner->name_space), LOG_TEXT("run", owner->name),
                  LOG_TEXT("uid", owner->uid), LOG_TEXT("sandbox", owner->sandbox_id));
        return NULL;
    }
    struct retained_run *run = add(retained, &record);
    if (run)
        run->max_bytes = max_bytes;
    return run;
}

/* The copy is gone, the run goes on. Logged once: nothing is tried after that. */
static void lose(struct retained_run *run, const char *why)
{
    struct retained *retained = run->owner;

    log_event(LOG_LEVEL_WARN, "can't keep the output of a run",
              LOG_TEXT("namespace", run->record.name_space), LOG_TEXT("run", run->record.name),
              LOG_TEXT("uid", run->record.uid), LOG_TEXT("sandbox", run->record.sandbox_id),
              LOG_TEXT("error", why));
    close_streams(run);
    remove_files(retained->dir, run->record.sandbox_id);
    retained->load.bytes -= disk_bytes(run);
    retained->load.runs--;
    run->lost = true;
}

static int write_stream(struct retained_run *run, enum run_stream stream, const char *bytes,
                        size_t len)
{
    char name[NAME_SIZE];

    if (run->fds[stream] < 0) {
        make_name(name, run->record.sandbox_id, stream_suffixes[stream]);
        run->fds[stream] = openat(run->owner->dir, name,
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (run->fds[stream] < 0)
            return -errno;
    }
    return fd_write_full(run->fds[stream], bytes, len);
}

void retained_append(struct retained_run *run, enum run_stream stream, const char *bytes,
                     size_t len)
{
    uint64_t *kept = run->record.bytes;

    if (run->lost)
        return;
    size_t taken = retained_plan_take(kept[RUN_STDOUT] + kept[RUN_STDERR], run->max_bytes, len);
    if (taken == 0)
        return;
    uint64_t need =
        retained_plan_disk_bytes(kept[stream] + taken) - retained_plan_disk_bytes(kept[stream]);
    if (!make_room(run->owner, need, false)) {
        lose(run, "--retain-output-bytes is used up by runs that are still going");
        return;
    }
    int r = write_stream(run, stream, bytes, taken);
    if (r < 0) {
        lose(run, strerror(-r));
        return;
    }
    kept[stream] += taken;
    run->owner->load.bytes += need;
}

static int write_record(const struct retained_run *run)
{
    cleanup_buf struct buf json = BUF_INIT(MAX_RETAINED_RECORD);
    char name[NAME_SIZE];
    int r = retained_record_encode(&run->record, &json);

    if (r < 0)
        return r;
    make_name(name, run->record.sandbox_id, RECORD_SUFFIX);
    cleanup_close int fd =
        openat(run->owner->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fd_write_full(fd, json.data, json.len);
}

void retained_end(struct retained_run *run)
{
    if (!run)
        return;
    struct retained *retained = run->owner;

    close_streams(run);
    run->record.ended_us = clock_realtime_us();
    if (!run->lost) {
        int r = write_record(run);
        if (r < 0)
            lose(run, strerror(-r));
    }
    if (run->lost) {
        forget(run);
        return;
    }
    run->ended = true;
    DL_APPEND(retained->ended, run);
    arm_timer(retained);
}

void retained_abandon(struct retained_run *run)
{
    if (run)
        drop(run);
}

void retained_saw(struct retained *retained, const char *uid)
{
    struct retained_run *run;

    if (retained->unconfirmed == 0)
        return;
    DL_FOREACH (retained->ended, run) {
        if (run->unconfirmed && strcmp(run->record.uid, uid) == 0) {
            run->unconfirmed = false;
            retained->unconfirmed--;
        }
    }
}

void retained_settle(struct retained *retained)
{
    struct retained_run *run;
    struct retained_run *next;

    DL_FOREACH_SAFE (retained->ended, run, next) {
        if (run->unconfirmed)
            drop(run);
    }
    arm_timer(retained);
}

void retained_forget(struct retained *retained, const char *uid)
{
    struct retained_run *run;
    struct retained_run *next;

    DL_FOREACH_SAFE (retained->ended, run, next) {
        if (strcmp(run->record.uid, uid) == 0)
            drop(run);
    }
    arm_timer(retained);
}

int retained_find(const struct retained *retained, const char *name_space, const char *name,
                  enum run_stream stream, int *ret_fd, uint64_t *ret_bytes)
{
    const struct retained_run *found = NULL;
    const struct retained_run *run;
    char file[NAME_SIZE];

    /* The last one of that name. */
    DL_FOREACH (retained->ended, run) {
        if (strcmp(run->record.name, name) == 0 && strcmp(run->record.name_space, name_space) == 0)
            found = run;
    }
    if (!found)
        return -ENOENT;
    int fd = -1;
    if (found->record.bytes[stream] > 0) {
        make_name(file, found->record.sandbox_id, stream_suffixes[stream]);
        fd = openat(retained->dir, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            return -errno;
    }
    *ret_fd = fd;
    *ret_bytes = found->record.bytes[stream];
    return 0;
}

void retained_counts(const struct retained *retained, size_t *ret_runs, uint64_t *ret_bytes)
{
    *ret_runs = retained->load.runs;
    *ret_bytes = retained->load.bytes;
}

/* The sandbox id that a name with this suffix begins with. */
static bool split_name(const char *name, const char *suffix, char ret_id[static NAME_SIZE])
{
    size_t len = strlen(name);
    size_t suffix_len = strlen(suffix);

    if (len <= suffix_len || len >= NAME_SIZE || strcmp(name + len - suffix_len, suffix) != 0)
        return false;
    memcpy(ret_id, name, len - suffix_len);
    ret_id[len - suffix_len] = '\0';
    return true;
}

static bool has_size(int dir, const char *id, const char *suffix, uint64_t bytes)
{
    char name[NAME_SIZE];
    struct stat st;

    make_name(name, id, suffix);
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT && bytes == 0;
    return S_ISREG(st.st_mode) && (uint64_t)st.st_size == bytes;
}

/* What a crash of the machine has cut doesn't have the size that its record tells. */
static void take_record(struct retained *retained, const char *name)
{
    cleanup_buf struct buf json = BUF_INIT(MAX_RETAINED_RECORD);
    struct retained_record record;
    char id[NAME_SIZE];

    if (!split_name(name, RECORD_SUFFIX, id) ||
        fd_read_file(retained->dir, name, true, &json) < 0 ||
        retained_record_decode(buf_str(&json), json.len, id, &record) < 0)
        return;
    for (size_t i = 0; i < RUN_STREAM_COUNT; i++) {
        if (!has_size(retained->dir, id, stream_suffixes[i], record.bytes[i]))
            return;
    }
    /* By a clock that was set back since. */
    if (record.ended_us > clock_realtime_us())
        record.ended_us = clock_realtime_us();
    struct retained_run *run =
        retained->load.runs < MAX_RETAINED_RUNS ? add(retained, &record) : NULL;
    if (!run)
        return;
    run->ended = true;
    run->unconfirmed = true;
    retained->unconfirmed++;
    DL_APPEND(retained->ended, run);
}

static void remove_orphan(struct retained *retained, const char *name)
{
    char id[NAME_SIZE];
    bool ours = split_name(name, RECORD_SUFFIX, id) && find(retained, id);

    for (size_t i = 0; i < RUN_STREAM_COUNT; i++)
        ours |= split_name(name, stream_suffixes[i], id) && find(retained, id);
    if (!ours)
        (void)unlinkat(retained->dir, name, 0);
}

static int each_file(struct retained *retained,
                     void (*fn)(struct retained *retained, const char *name))
{
    int fd = openat(retained->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (!dir) {
        int r = -errno;
        (void)fd_close(fd);
        return r;
    }
    int r = 0;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry) {
            r = -errno;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            fn(retained, entry->d_name);
    }
    (void)closedir(dir);
    return r;
}

static int by_end(const struct retained_run *a, const struct retained_run *b)
{
    if (a->record.ended_us == b->record.ended_us)
        return 0;
    return a->record.ended_us < b->record.ended_us ? -1 : 1;
}

static int open_dir(const char *spool_dir)
{
    char path[PATH_MAX];
    int r = path_join(path, sizeof(path), spool_dir, RETAINED_DIR);

    if (r == 0)
        r = path_make_dirs(path, 0700);
    return r < 0 ? r : path_open_dir(path);
}

static int take_over(struct retained *retained)
{
    int r = each_file(retained, take_record);

    if (r == 0)
        r = each_file(retained, remove_orphan);
    if (r < 0)
        return r;
    /* The list that the macro takes apart and joins again is never empty on its way. */
    /* cppcheck-suppress nullPointer */
    DL_SORT(retained->ended, by_end);
    /* The bounds may have become narrower. */
    (void)make_room(retained, 0, false);
    drop_expired(retained);
    return 0;
}

int retained_open(struct loop *loop, const struct retained_options *options,
                  struct retained **ret_retained, struct error *err)
{
    struct retained *retained = calloc(1, sizeof(*retained));

    if (!retained)
        return error_set_errno(err, ENOMEM, "can't keep output");
    retained->keep_ms = options->keep_ms;
    retained->load.max_bytes = options->max_bytes;
    retained->load.max_runs = MAX_RETAINED_RUNS;
    retained->dir = open_dir(options->spool_dir);
    int r = retained->dir < 0 ? retained->dir
                              : loop_timer_new(loop, on_timer, retained, &retained->timer);
    if (r == 0)
        r = take_over(retained);
    if (r < 0) {
        retained_free(retained);
        return error_set_errno(err, -r, "can't use %s/" RETAINED_DIR, options->spool_dir);
    }
    *ret_retained = retained;
    return 0;
}

void retained_free(struct retained *retained)
{
    struct retained_run *run;
    struct retained_run *next;

    if (!retained)
        return;
    HASH_ITER (hh, retained->table, run, next) {
        if (run->ended)
            forget(run);
        else
            drop(run);
    }
    loop_timer_free(retained->timer);
    (void)fd_close(retained->dir);
    free(retained);
}
