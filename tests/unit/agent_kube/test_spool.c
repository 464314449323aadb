/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/agent_kube/full_disk.h"
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/spool.h"
#include "node-agent/agent/spool_record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ID_A "11111111-2222-4333-8444-555555555555"
#define ID_B "11111111-2222-4333-8444-666666666666"

static char directory[64];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/sandboxrun-spool-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

/* The files in the directory; with `remove_all` none are left. */
static unsigned int files(bool remove_all)
{
    unsigned int count = 0;
    DIR *dir = opendir(directory);

    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (remove_all)
            assert_int_equal(unlinkat(dirfd(dir), entry->d_name, 0), 0);
    }
    (void)closedir(dir);
    return count;
}

static int teardown(void **state)
{
    (void)state;
    (void)files(true);
    return rmdir(directory);
}

static struct spool *open_spool(void)
{
    struct spool *spool = NULL;
    struct error err = {0};

    if (spool_open(directory, &spool, &err) < 0)
        fail_msg("%s", err.text);
    return spool;
}

static void write_file(const char *name, const char *text, size_t len)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_full(fd, text, len), 0);
}

static struct spool_record record_of(const char *id)
{
    struct spool_record record = {
        .name_space = "team", .name = "hello", .uid = "u-1", .start_us = 1700000000123456};

    memcpy(record.sandbox_id, id, strlen(id));
    return record;
}

static void test_mark_store_remove(void **state)
{
    (void)state;
    struct spool_record record = record_of(ID_A);
    struct spool_record found = {0};
    struct error err = {0};
    char out[] = "h\xc3\xa4llo\n";
    struct spool *spool = open_spool();

    assert_false(spool_has(spool, ID_A));
    assert_int_equal(spool_load(spool, ID_A, &found, &err), -ENOENT);
    assert_int_equal(spool_store(spool, &record, &err), -ENOENT);
    assert_int_equal(spool_mark(spool, &record, &err), 0);
    assert_int_equal(spool_mark(spool, &record, &err), -EEXIST);
    assert_true(spool_has(spool, ID_A));
    assert_int_equal(spool_load(spool, ID_A, &found, &err), 0);
    assert_string_equal(found.name, "hello");
    assert_string_equal(found.name_space, "team");
    assert_string_equal(found.uid, "u-1");
    assert_int_equal(found.start_us, 1700000000123456);
    assert_false(found.has_result);
    record.has_result = true;
    record.status = (struct run_status){.phase = RUN_PHASE_SUCCEEDED,
                                        .reason = RUN_REASON_COMPLETED,
                                        .has_exit_code = true,
                                        .start_us = 1700000000123456,
                                        .stdout_text = out,
                                        .stdout_len = strlen(out),
                                        .stdout_bytes = strlen(out)};
    assert_int_equal(spool_store(spool, &record, &err), 0);
    assert_int_equal(spool_count(spool), 1);
    spool_free(spool);
    /* The next agent. */
    spool = open_spool();
    assert_true(spool_has(spool, ID_A));
    assert_int_equal(spool_load(spool, ID_A, &found, &err), 0);
    assert_true(found.has_result);
    assert_int_equal(found.status.reason, RUN_REASON_COMPLETED);
    assert_string_equal(found.status.stdout_text, out);
    spool_record_done(&found);
    spool_remove(spool, ID_A);
    spool_remove(spool, ID_A);
    assert_int_equal(spool_count(spool), 0);
    assert_int_equal(files(false), 0);
    spool_free(spool);
    spool_free(NULL);
}

static void test_a_mark_is_there_when_the_process_dies(void **state)
{
    (void)state;
    struct spool_record record = record_of(ID_B);
    struct spool *spool = open_spool();
    struct stat st;
    char path[256];

    assert_int_equal(spool_mark(spool, &record, NULL), 0);
    (void)snprintf(path, sizeof(path), "%s/run-" ID_B, directory);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(st.st_size > 0);
    spool_remove(spool, ID_B);
    spool_free(spool);
}

static void test_one_agent_at_a_time(void **state)
{
    (void)state;
    struct spool *spool = open_spool();
    struct spool *second;
    struct error err = {0};

    assert_int_equal(spool_open(directory, &second, &err), -EBUSY);
    assert_non_null(strstr(err.text, "another agent"));
    spool_free(spool);
    spool_free(open_spool());
}

static void test_instances(void **state)
{
    (void)state;
    struct spool *spool = open_spool();
    char instance[40];

    assert_false(spool_knows_instance(spool, "i-0"));
    for (unsigned int i = 0; i <= MAX_SPOOL_INSTANCES; i++) {
        (void)snprintf(instance, sizeof(instance), "i-%u", i);
        assert_int_equal(spool_enter(spool, instance, NULL), 0);
    }
    spool_free(spool);
    spool = open_spool();
    assert_false(spool_knows_instance(spool, "i-0"));
    assert_true(spool_knows_instance(spool, "i-1"));
    assert_true(spool_knows_instance(spool, instance));
    assert_false(spool_knows_instance(spool, ""));
    spool_free(spool);
}

static void count_id(const char *sandbox_id, void *arg)
{
    struct spool *spool = arg;

    spool_remove(spool, sandbox_id);
}

static void test_rubbish_in_the_directory(void **state)
{
    (void)state;
    static const char *const rubbish[] = {
        "",
        "{",
        "[]",
        "{\"version\":2}",
        "{\"version\":1,\"sandboxID\":\"" ID_B "\"}",
        "{\"version\":1,\"sandboxID\":\"" ID_A "\",\"namespace\":\"n\",\"name\":\"a\"}",
        "{\"version\":1,\"sandboxID\":\"" ID_A
        "\",\"namespace\":\"n\",\"name\":\"a\",\"uid\":\"u\","
        "\"startTime\":\"yesterday\"}",
        "{\"version\":1,\"sandboxID\":\"" ID_A
        "\",\"namespace\":\"n\",\"name\":\"a\",\"uid\":\"u\","
        "\"startTime\":\"2026-01-01T00:00:00Z\",\"status\":{\"phase\":\"Running\"}}",
        "{\"version\":1,\"sandboxID\":\"" ID_A
        "\",\"namespace\":\"n\",\"name\":\"a\",\"uid\":\"u\","
        "\"startTime\":\"2026-01-01T00:00:00Z\",\"status\":[]}",
    };

    write_file("new-" ID_A, "half", 4);
    write_file("notes.txt", "x", 1);
    for (size_t i = 0; i < ARRAY_SIZE(rubbish); i++) {
        struct spool_record record = {0};
        struct error err = {0};
        write_file("run-" ID_A, rubbish[i], strlen(rubbish[i]));
        struct spool *spool = open_spool();
        assert_int_equal(spool_count(spool), 1);
        if (spool_load(spool, ID_A, &record, &err) != -EBADMSG)
            fail_msg("case %zu was read", i);
        assert_non_null(strstr(err.text, ID_A));
        spool_each(spool, count_id, spool);
        assert_int_equal(spool_count(spool), 0);
        spool_free(spool);
    }
    /* What isn't ours stays. */
    assert_int_equal(files(false), 1);
}

static void test_ids_stay_in_the_directory(void **state)
{
    (void)state;
    static const char *const ids[] = {"../x", "a/b", "", ".", "a b"};
    struct spool *spool = open_spool();

    for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
        struct spool_record record = record_of(ids[i]);
        assert_int_equal(spool_mark(spool, &record, NULL), -EINVAL);
    }
    spool_free(spool);
}

static void test_bounded(void **state)
{
    (void)state;
    struct spool *spool = open_spool();
    struct error err = {0};

    for (unsigned int i = 0; i < MAX_SPOOL_ENTRIES; i++) {
        char id[40];
        (void)snprintf(id, sizeof(id), "id-%u", i);
        struct spool_record record = record_of(id);
        assert_true(spool_has_room(spool));
        assert_int_equal(spool_mark(spool, &record, &err), 0);
    }
    struct spool_record record = record_of(ID_A);
    assert_false(spool_has_room(spool));
    assert_int_equal(spool_mark(spool, &record, &err), -ENOSPC);
    assert_non_null(strstr(err.text, "4096"));
    spool_remove(spool, "id-7");
    assert_int_equal(spool_mark(spool, &record, &err), 0);
    spool_free(spool);
}

static void test_a_directory_that_is_not_ours(void **state)
{
    (void)state;
    struct spool *spool;
    struct error err = {0};
    char path[128];

    assert_int_equal(chmod(directory, 0777), 0);
    assert_int_equal(spool_open(directory, &spool, &err), -EPERM);
    assert_non_null(strstr(err.text, "mode 777"));
    assert_int_equal(chmod(directory, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/none", directory);
    assert_int_equal(spool_open(path, &spool, &err), -ENOENT);
    assert_non_null(strstr(err.text, "none"));
}

static void test_a_full_disk(void **state)
{
    (void)state;
    struct spool_record record = record_of(ID_A);
    struct spool_record other = record_of(ID_B);
    struct spool *spool = open_spool();
    struct error err = {0};

    assert_null(spool_failure(spool));
    assert_int_equal(spool_mark(spool, &record, &err), 0);
    full_disk = true;
    assert_int_equal(spool_mark(spool, &other, &err), -ENOSPC);
    assert_false(spool_has(spool, ID_B));
    assert_int_equal(files(false), 1);
    assert_non_null(strstr(spool_failure(spool)->text, "No space left on device"));
    assert_int_equal(spool_probe(spool, &err), -ENOSPC);
    /* The mark stays where the result has no room. */
    record.has_result = true;
    record.status.phase = RUN_PHASE_SUCCEEDED;
    assert_int_equal(spool_store(spool, &record, &err), -ENOSPC);
    assert_true(spool_has(spool, ID_A));
    spool_remove(spool, ID_A);
    assert_int_equal(files(false), 0);
    full_disk = false;
    /* Nothing but a probe says that it is over. */
    assert_non_null(spool_failure(spool));
    assert_int_equal(spool_probe(spool, &err), 0);
    assert_null(spool_failure(spool));
    assert_int_equal(files(false), 0);
    assert_int_equal(spool_mark(spool, &other, &err), 0);
    /* A mark that is there already says nothing about the disk. */
    assert_int_equal(spool_mark(spool, &other, &err), -EEXIST);
    assert_null(spool_failure(spool));
    spool_free(spool);
}

/* What this start has marked must be known to the next one. */
static void test_entered_later(void **state)
{
    (void)state;
    struct spool_record record = record_of(ID_A);
    struct spool *spool = open_spool();
    struct error err = {0};

    full_disk = true;
    assert_int_equal(spool_enter(spool, "i-1", &err), -ENOSPC);
    full_disk = false;
    assert_int_equal(spool_mark(spool, &record, &err), -ENOSPC);
    assert_int_equal(spool_probe(spool, &err), 0);
    assert_int_equal(spool_mark(spool, &record, &err), 0);
    spool_free(spool);
    spool = open_spool();
    assert_true(spool_knows_instance(spool, "i-1"));
    spool_free(spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_mark_store_remove, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_mark_is_there_when_the_process_dies, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_one_agent_at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_instances, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rubbish_in_the_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ids_stay_in_the_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_full_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_entered_later, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_directory_that_is_not_ours, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
