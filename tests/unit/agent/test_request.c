/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/request.h"
#include "tests/unit/common/cmocka_setup.h"

#include "common/api/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    };
    static const char expected[] = "SBRQ"
                                   "\1\0\0\0"  /* version */
                                   "\1\0\0\0"  /* has stdin */
                                   "\2\0\0\0"  /* args */
                                   "\1\0\0\0"  /* env */
                                   "\10\0\0\0" /* code */
                                   "\2\0\0\0"  /* stdin */
                                   "print(1)"
                                   "in"
                                   "\1\0\0\0"
                                   "a"
                                   "\0\0\0\0"
                                   "\1\0\0\0"
                                   "K"
                                   "\2\0\0\0"
                                   "vw";
    cleanup_buf struct buf request = BUF_INIT(0);
    assert_int_equal(request_encode(&spec, &request, NULL), 0);
    assert_int_equal(request.len, sizeof(expected) - 1);
    assert_memory_equal(request.data, expected, request.len);
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
    assert_int_equal(request.len, 28 + 1 + 4 + 1 + 4);
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
        cmocka_unit_test(test_no_stdin_and_empty_stdin_differ),
        cmocka_unit_test(test_env_without_value),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
