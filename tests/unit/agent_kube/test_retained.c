/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/agent/retained.h"
#include "node-agent/agent/retained_record.h"
#include "tests/unit/common/scratch_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define KEEP_MS 60000u
#define MIB     (1u << 20)

static struct retained_owner owner_of(const char *id, const char *name)
{
    return (struct retained_owner){
        .sandbox_id = id, .name_space = "team", .name = name, .uid = name};
}

static struct loop *new_loop(void)
{
    struct loop *loop = NULL;
    assert_int_equal(loop_new(&loop, NULL), 0);
    return loop;
}

static struct retained *open_with(struct loop *loop, const struct scratch_dir *dir,
                                  uint64_t keep_ms, uint64_t max_bytes)
{
    const struct retained_options options = {
        .spool_dir = dir->path, .keep_ms = keep_ms, .max_bytes = max_bytes};
    struct retained *retained = NULL;
    struct error err = {0};
    if (retained_open(loop, &options, &retained, &err) < 0)
        fail_msg("%s", err.text);
    return retained;
}

static unsigned int files(const struct scratch_dir *dir)
{
    char path[128];
    unsigned int count = 0;
    (void)snprintf(path, sizeof(path), "%s/" RETAINED_DIR, dir->path);
    DIR *opened = opendir(path);
    assert_non_null(opened);
    for (const struct dirent *entry; (entry = readdir(opened));)
        count += entry->d_name[0] != '.';
    (void)closedir(opened);
    return count;
}

/* What is found of a stream; NULL if nothing is. The caller frees it. */
static char *found(const struct retained *retained, const char *name, enum run_stream stream)
{
    cleanup_close int fd = -1;
    uint64_t bytes = 0;
    struct buf text = BUF_INIT(16 * MIB);
    int r = retained_find(retained, "team", name, stream, &fd, &bytes);
    if (r < 0) {
        assert_int_equal(r, -ENOENT);
        return NULL;
    }
    if (fd >= 0)
        assert_int_equal(fd_read_all(fd, &text), 0);
    assert_int_equal(text.len, bytes);
    return buf_take(&text);
}

static void assert_found(const struct retained *retained, const char *name, enum run_stream stream,
                         const char *expected)
{
    cleanup_free char *text = found(retained, name, stream);
    if (!expected) {
        assert_null(text);
        return;
    }
    assert_non_null(text);
    assert_string_equal(text, expected);
}

static void keep(struct retained *retained, const char *id, const char *name, const char *text)
{
    const struct retained_owner owner = owner_of(id, name);
    struct retained_run *run = retained_begin(retained, &owner, 8 * MIB);
    assert_non_null(run);
    retained_append(run, RUN_STDOUT, text, strlen(text));
    retained_end(run);
}

static void test_kept_whole(void **state)
{
    const struct scratch_dir *dir = *state;
    struct loop *loop = new_loop();
    struct retained *retained = open_with(loop, dir, KEEP_MS, 64 * MIB);
    const struct retained_owner owner = owner_of("id-1", "a");
    struct retained_run *run = retained_begin(retained, &owner, 8 * MIB);
    size_t runs;
    uint64_t bytes;

    assert_non_null(run);
    assert_null(retained_begin(retained, &owner, 8 * MIB));
    retained_append(run, RUN_STDOUT, "out1 ", 5);
    retained_append(run, RUN_STDERR, "err", 3);
    retained_append(run, RUN_STDOUT, "out2", 4);
    /* Only what has ended is there. */
    assert_found(retained, "a", RUN_STDOUT, NULL);
    retained_end(run);
    assert_found(retained, "a", RUN_STDOUT, "out1 out2");
    assert_found(retained, "a", RUN_STDERR, "err");
    assert_found(retained, "b", RUN_STDOUT, NULL);
    int fd;
    assert_int_equal(retained_find(retained, "other", "a", RUN_STDOUT, &fd, &bytes), -ENOENT);
    retained_counts(retained, &runs, &bytes);
    assert_int_equal(runs, 1);
    assert_int_equal(bytes, 3 * 4096);
    /* Nobody else can read it. */
    char path[160];
    struct stat st;
    (void)snprintf(path, sizeof(path), "%s/" RETAINED_DIR "/id-1.stdout", dir->path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    (void)snprintf(path, sizeof(path), "%s/" RETAINED_DIR, dir->path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    /* A later run of that name. */
    keep(retained, "id-2", "a", "newer");
    assert_found(retained, "a", RUN_STDOUT, "newer");
    assert_found(retained, "a", RUN_STDERR, "");
    retained_free(retained);
    loop_free(loop);
}

static void test_no_more_than_the_profile_promises(void **state)
{
    struct loop *loop = new_loop();
    struct retained *retained = open_with(loop, *state, KEEP_MS, 64 * MIB);
    const struct retained_owner owner = owner_of("id-1", "a");
    struct retained_run *run = retained_begin(retained, &owner, 10);

    retained_append(run, RUN_STDOUT, "1234", 4);
    retained_append(run, RUN_STDERR, "abcd", 4);
    retained_append(run, RUN_STDOUT, "5678", 4);
    retained_append(run, RUN_STDERR, "efgh", 4);
    retained_end(run);
    assert_found(retained, "a", RUN_STDOUT, "123456");
    assert_found(retained, "a", RUN_STDERR, "abcd");
    retained_free(retained);
    loop_free(loop);
}

/* The oldest go for what comes; what still runs never goes, and then the new one is lost. */
static void test_room(void **state)
{
    struct loop *loop = new_loop();
    struct retained *retained = open_with(loop, *state, KEEP_MS, 8 * 4096);
    static const char block[4096] = {0};

    keep(retained, "id-1", "a", "1");
    keep(retained, "id-2", "b", "2");
    keep(retained, "id-3", "c", "3");
    keep(retained, "id-4", "d", "4");
    keep(retained, "id-5", "e", "5");
    assert_found(retained, "a", RUN_STDOUT, NULL);
    assert_found(retained, "b", RUN_STDOUT, "2");
    assert_int_equal(files(*state), 8);
    const struct retained_owner owner = owner_of("id-6", "f");
    struct retained_run *run = retained_begin(retained, &owner, 8 * MIB);
    for (int i = 0; i < 7; i++)
        retained_append(run, RUN_STDERR, block, sizeof(block));
    size_t runs;
    uint64_t bytes;
    retained_counts(retained, &runs, &bytes);
    assert_int_equal(runs, 1);
    assert_int_equal(bytes, 8 * 4096);
    assert_int_equal(files(*state), 1);
    retained_append(run, RUN_STDERR, "x", 1);
    retained_append(run, RUN_STDERR, "y", 1);
    assert_int_equal(files(*state), 0);
    retained_counts(retained, &runs, &bytes);
    assert_int_equal(runs, 0);
    assert_int_equal(bytes, 0);
    retained_end(run);
    assert_found(retained, "f", RUN_STDERR, NULL);
    retained_free(retained);
    loop_free(loop);
}

static void stop(void *arg)
{
    loop_stop(arg);
}

static void run_for(struct loop *loop, unsigned int ms)
{
    struct loop_timer *timer = NULL;
    assert_int_equal(loop_timer_new(loop, stop, loop, &timer), 0);
    assert_int_equal(loop_timer_arm(timer, ms), 0);
    assert_int_equal(loop_run(loop, NULL), 0);
    loop_timer_free(timer);
}

static void test_expiry(void **state)
{
    struct loop *loop = new_loop();
    struct retained *retained = open_with(loop, *state, 300, 64 * MIB);

    keep(retained, "id-1", "a", "1");
    run_for(loop, 150);
    keep(retained, "id-2", "b", "2");
    assert_found(retained, "a", RUN_STDOUT, "1");
    run_for(loop, 200);
    assert_found(retained, "a", RUN_STDOUT, NULL);
    assert_found(retained, "b", RUN_STDOUT, "2");
    run_for(loop, 200);
    assert_int_equal(files(*state), 0);
    retained_free(retained);
    loop_free(loop);
}

static void put(const struct scratch_dir *dir, const char *name, const char *text)
{
    char path[160];
    (void)snprintf(path, sizeof(path), "%s/" RETAINED_DIR "/%s", dir->path, name);
    cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_full(fd, text, strlen(text)), 0);
}

static void test_the_next_agent(void **state)
{
    const struct scratch_dir *dir = *state;
    struct loop *loop = new_loop();
    struct retained *retained = open_with(loop, dir, KEEP_MS, 64 * MIB);
    const struct retained_owner owner = owner_of("id-3", "c");

    keep(retained, "id-1", "a", "1");
    keep(retained, "id-2", "b", "2");
    keep(retained, "id-4", "d", "");
    struct retained_run *run = retained_begin(retained, &owner, 8 * MIB);
    retained_append(run, RUN_STDOUT, "half", 4);
    retained_free(retained);
    /* What was not ended is gone. So is what a crash may leave: cut, without record, or nonsense.
     */
    assert_int_equal(files(dir), 5);
    put(dir, "id-5.stdout", "nobody's");
    put(dir, "id-6.run", "{\"version\":1");
    put(dir, "id-7.run", "");
    put(dir, "strange", "");
    put(dir, "id-2.stdout", "cut off? no: longer");
    retained = open_with(loop, dir, KEEP_MS, 64 * MIB);
    assert_int_equal(files(dir), 3);
    assert_found(retained, "a", RUN_STDOUT, "1");
    assert_found(retained, "b", RUN_STDOUT, NULL);
    assert_found(retained, "d", RUN_STDOUT, "");
    /* Of which the first list shows one. */
    retained_saw(retained, "x");
    retained_saw(retained, "a");
    retained_settle(retained);
    assert_found(retained, "a", RUN_STDOUT, "1");
    assert_found(retained, "d", RUN_STDOUT, NULL);
    /* A second list drops nothing. */
    keep(retained, "id-8", "e", "8");
    retained_settle(retained);
    assert_found(retained, "a", RUN_STDOUT, "1");
    assert_found(retained, "e", RUN_STDOUT, "8");
    retained_free(retained);
    /* An agent that keeps for a shorter time, or less. */
    retained = open_with(loop, dir, KEEP_MS, 2 * 4096);
    assert_found(retained, "a", RUN_STDOUT, NULL);
    assert_found(retained, "e", RUN_STDOUT, "8");
    retained_free(retained);
    run_for(loop, 20);
    retained = open_with(loop, dir, 10, 64 * MIB);
    assert_int_equal(files(dir), 0);
    retained_free(retained);
    loop_free(loop);
}

static void test_deletion(void **state)
{
    struct loop *loop = new_loop();
    struct retained *retained = open_with(loop, *state, KEEP_MS, 64 * MIB);
    int fd = -1;
    uint64_t bytes = 0;
    char byte = 0;

    keep(retained, "id-1", "a", "1");
    keep(retained, "id-2", "b", "2");
    assert_int_equal(retained_find(retained, "team", "a", RUN_STDOUT, &fd, &bytes), 0);
    retained_forget(retained, "a");
    assert_found(retained, "a", RUN_STDOUT, NULL);
    assert_found(retained, "b", RUN_STDOUT, "2");
    assert_int_equal(files(*state), 2);
    /* Who reads it already, does so to the end. */
    assert_int_equal(read(fd, &byte, 1), 1);
    assert_int_equal(byte, '1');
    (void)fd_close(fd);
    retained_free(retained);
    loop_free(loop);
}

/* A disk that takes no more: here a limit on the size of files. */
static void test_a_full_disk(void **state)
{
    struct loop *loop = new_loop();
    struct retained *retained = open_with(loop, *state, KEEP_MS, 64 * MIB);
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    const struct retained_owner owner = owner_of("id-1", "a");
    struct rlimit before, small;
    cleanup_free char *bytes = calloc(1, 20000);
    size_t runs;
    uint64_t disk;

    assert_non_null(bytes);
    (void)sigaction(SIGXFSZ, &ignore, NULL);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 10000;
    struct retained_run *run = retained_begin(retained, &owner, 8 * MIB);
    retained_append(run, RUN_STDERR, "kept", 4);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    retained_append(run, RUN_STDOUT, bytes, 20000);
    retained_append(run, RUN_STDOUT, bytes, 10);
    retained_end(run);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_found(retained, "a", RUN_STDOUT, NULL);
    assert_int_equal(files(*state), 0);
    retained_counts(retained, &runs, &disk);
    assert_int_equal(runs, 0);
    assert_int_equal(disk, 0);
    keep(retained, "id-2", "b", "2");
    assert_found(retained, "b", RUN_STDOUT, "2");
    retained_free(retained);
    loop_free(loop);
}

static void test_names_that_can_t_be_files(void **state)
{
    struct loop *loop = new_loop();
    struct retained *retained = open_with(loop, *state, KEEP_MS, 64 * MIB);
    static const char *const ids[] = {"", "../x", ".", "a/b",
                                      "0123456789012345678901234567890123456789"};

    for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
        const struct retained_owner owner = owner_of(ids[i], "a");
        assert_null(retained_begin(retained, &owner, 10));
    }
    retained_free(retained);
    loop_free(loop);
}

static void test_records(void **state)
{
    (void)state;
    static const struct retained_record record = {.sandbox_id = "id-1",
                                                  .name_space = "team",
                                                  .name = "a\"b",
                                                  .uid = "u",
                                                  .ended_us = 1795990634000001,
                                                  .bytes = {1, 2}};
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"version\":2,\"sandboxID\":\"i\",\"namespace\":\"n\",\"name\":\"m\",\"uid\":\"u\","
        "\"ended\":\"2026-01-01T00:00:00Z\",\"stdoutBytes\":1,\"stderrBytes\":1}",
        "{\"version\":1,\"sandboxID\":\"i\",\"namespace\":\"n\",\"name\":\"m\",\"uid\":\"u\","
        "\"ended\":\"yesterday\",\"stdoutBytes\":1,\"stderrBytes\":1}",
        "{\"version\":1,\"sandboxID\":\"i\",\"namespace\":\"n\",\"name\":\"m\",\"uid\":\"u\","
        "\"ended\":\"2026-01-01T00:00:00Z\",\"stdoutBytes\":-1,\"stderrBytes\":1}",
        "{\"version\":1,\"sandboxID\":\"j\",\"namespace\":\"n\",\"name\":\"m\",\"uid\":\"u\","
        "\"ended\":\"2026-01-01T00:00:00Z\",\"stdoutBytes\":1,\"stderrBytes\":1}",
        "{\"version\":1,\"sandboxID\":\"i\",\"namespace\":\"\",\"name\":\"m\",\"uid\":\"u\","
        "\"ended\":\"2026-01-01T00:00:00Z\",\"stdoutBytes\":1,\"stderrBytes\":1}",
    };
    cleanup_buf struct buf json = BUF_INIT(4096);
    struct retained_record back;

    assert_int_equal(retained_record_encode(&record, &json), 0);
    assert_int_equal(retained_record_decode(buf_str(&json), json.len, "id-1", &back), 0);
    assert_string_equal(back.name, record.name);
    assert_int_equal(back.ended_us, record.ended_us);
    assert_int_equal(back.bytes[RUN_STDERR], 2);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_int_equal(retained_record_decode(bad[i], strlen(bad[i]), "i", &back), -EBADMSG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_dir_setup, scratch_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_kept_whole),
        TEST(test_no_more_than_the_profile_promises),
        TEST(test_room),
        TEST(test_expiry),
        TEST(test_the_next_agent),
        TEST(test_deletion),
        TEST(test_a_full_disk),
        TEST(test_names_that_can_t_be_files),
        cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
