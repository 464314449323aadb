/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/request.h"
#include "tests/unit/common/cmocka_setup.h"

#include "common/api/limits.h"
#include "common/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The variables that tell the limits: their names and their lengths on the wire. */
static size_t append_variable(char *at, const char *name, const char *value)
{
    const char *const texts[] = {name, value};
    size_t used = 0;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        size_t len = strlen(texts[i]);
        memcpy(at + used, (char[]){(char)len, 0, 0, 0}, 4);
        memcpy(at + used + 4, texts[i], len);
        used += 4 + len;
    }
    return used;
}

static size_t expect_limits(char *at, const char *threads, const char *memory, const char *cpu)
{
    size_t used = append_variable(at, "OMP_NUM_THREADS", threads);
    used += append_variable(at + used, "OPENBLAS_NUM_THREADS", threads);
    used += append_variable(at + used, "MKL_NUM_THREADS", threads);
    used += append_variable(at + used, "SANDBOXRUN_MEMORY_BYTES", memory);
    return used + append_variable(at + used, "SANDBOXRUN_CPU_MILLI", cpu);
}

static void test_bytes(void **state)
{
    (void)state;
    char *args[] = {(char[]){"a"}, (char[]){""}};
    struct run_env env[] = {{(char[]){"K"}, (char[]){"vw"}}};
    struct run_spec spec = {
        .code = (char[]){"print(1)"},
        .stdin_text = (char[]){"in"},
        .args = args,
        .arg_count = 2,
        .env = env,
        .env_count = 1,
        .cpu_milli = 1001,
        .memory_bytes = 512u << 20,
    };
    static const char head[] = "SBRQ"
                               "\1\0\0\0"  /* version */
                               "\1\0\0\0"  /* has stdin */
                               "\2\0\0\0"  /* args */
                               "\6\0\0\0"  /* env */
                               "\10\0\0\0" /* code */
                               "\2\0\0\0"  /* stdin */
                               "print(1)"
                               "in"
                               "\1\0\0\0"
                               "a"
                               "\0\0\0\0";
    char expected[512];
    memcpy(expected, head, sizeof(head) - 1);
    size_t len = sizeof(head) - 1;
    len += expect_limits(expected + len, "2", "536870912", "1001");
    /* The run's own come last, so that they count. */
    len += append_variable(expected + len, "K", "vw");
    cleanup_buf struct buf request = BUF_INIT(0);
    assert_int_equal(request_encode(&spec, &request, NULL), 0);
    assert_int_equal(request.len, len);
    assert_memory_equal(request.data, expected, len);
}

static void test_threads_are_the_cpus_rounded_up(void **state)
{
    (void)state;
    static const struct {
        uint32_t cpu_milli;
        const char *threads;
    } cases[] = {
        {1, "1"}, {999, "1"}, {1000, "1"}, {2000, "2"}, {2001, "3"}, {UINT32_MAX, "4294968"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct run_spec spec = {.code = (char[]){"x"}, .cpu_milli = cases[i].cpu_milli};
        char expected[512], cpu[16];
        (void)snprintf(cpu, sizeof(cpu), "%u", cases[i].cpu_milli);
        size_t len = expect_limits(expected, cases[i].threads, "0", cpu);
        cleanup_buf struct buf request = BUF_INIT(0);
        assert_int_equal(request_encode(&spec, &request, NULL), 0);
        assert_int_equal(request.len, 28 + 1 + len);
        assert_memory_equal(request.data + 29, expected, len);
    }
}

static void test_no_stdin_and_empty_stdin_differ(void **state)
{
    (void)state;
    struct run_spec spec = {.code = (char[]){"x"}};
    cleanup_buf struct buf without = BUF_INIT(0);
    cleanup_buf struct buf empty = BUF_INIT(0);
    assert_int_equal(request_encode(&spec, &without, NULL), 0);
    spec.stdin_text = (char[]){""};
    assert_int_equal(request_encode(&spec, &empty, NULL), 0);
    assert_int_equal(without.len, empty.len);
    assert_int_equal(without.data[8], 0);
    assert_int_equal(empty.data[8], 1);
}

static void test_env_without_value(void **state)
{
    (void)state;
    struct run_env env[] = {{(char[]){"K"}, NULL}};
    struct run_spec spec = {.code = (char[]){"x"}, .env = env, .env_count = 1};
    cleanup_buf struct buf request = BUF_INIT(0);
    assert_int_equal(request_encode(&spec, &request, NULL), 0);
    char limits[512];
    size_t len = 28 + 1 + expect_limits(limits, "0", "0", "0");
    assert_int_equal(request.len, len + 4 + 1 + 4);
}

/* The largest valid spec fits with every count at its bound, one byte more does not. */
static void test_bounds(void **state)
{
    (void)state;
    char empty[] = "";
    char *args[MAX_ARGS + 1];
    struct run_env env[MAX_ENV + 1];
    for (size_t i = 0; i < MAX_ARGS + 1; i++)
        args[i] = empty;
    for (size_t i = 0; i < MAX_ENV + 1; i++)
        env[i] = (struct run_env){empty, empty};
    char *code = malloc(MAX_REQUEST_BYTES + 2);
    memset(code, 'x', MAX_REQUEST_BYTES + 1);
    code[MAX_REQUEST_BYTES] = '\0';
    struct run_spec spec = {
        .code = code, .args = args, .arg_count = MAX_ARGS, .env = env, .env_count = MAX_ENV};
    cleanup_buf struct buf request = BUF_INIT(0);
    struct error err;
    assert_int_equal(request_encode(&spec, &request, &err), 0);
    assert_true(request.len > MAX_REQUEST_BYTES);

    cleanup_buf struct buf refused = BUF_INIT(0);
    spec.arg_count = MAX_ARGS + 1;
    assert_int_equal(request_encode(&spec, &refused, &err), -EMSGSIZE);
    spec.arg_count = 0;
    spec.env_count = MAX_ENV + 1;
    assert_int_equal(request_encode(&spec, &refused, &err), -EMSGSIZE);
    spec.env_count = 0;
    spec.stdin_text = code;
    assert_int_equal(request_encode(&spec, &refused, &err), -EMSGSIZE);
    assert_non_null(strstr(err.text, "together"));
    spec.stdin_text = NULL;
    code[MAX_REQUEST_BYTES] = 'x';
    code[MAX_REQUEST_BYTES + 1] = '\0';
    assert_int_equal(request_encode(&spec, &refused, &err), -EMSGSIZE);
    free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_threads_are_the_cpus_rounded_up),
        cmocka_unit_test(test_no_stdin_and_empty_stdin_differ),
        cmocka_unit_test(test_env_without_value),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
