/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/kube/auth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECOND UINT64_C(1000000000)

static char directory[64];
static char token_path[96];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/sandboxrun-auth-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    (void)snprintf(token_path, sizeof(token_path), "%s/token", directory);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(token_path);
    return rmdir(directory);
}

/* With a time of its own, so that the file looks the same or another at will. */
static void write_token(const char *text, time_t mtime)
{
    const struct timespec times[2] = {{.tv_sec = mtime}, {.tv_sec = mtime}};
    cleanup_close int fd = open(token_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(fd_write_full(fd, text, strlen(text)), 0);
    assert_int_equal(futimens(fd, times), 0);
}

static void expect_token(const struct auth *auth, const char *text)
{
    const char *token;
    size_t len;

    assert_true(auth_token(auth, &token, &len));
    assert_int_equal(len, strlen(text));
    assert_memory_equal(token, text, len);
}

static void test_rotation(void **state)
{
    (void)state;
    struct kube_config config = {.token_file = token_path};
    struct error err = {0};
    struct auth auth;

    assert_int_equal(auth_init(&auth, &config), 0);
    assert_int_equal(auth_refresh(&auth, 100 * SECOND, &err), -ENOENT);
    write_token(" one \n", 1);
    assert_int_equal(auth_refresh(&auth, 102 * SECOND, &err), 0);
    expect_token(&auth, "one");
    /* Another look within a second isn't taken. */
    write_token("two", 2);
    assert_int_equal(auth_refresh(&auth, 102 * SECOND + SECOND / 2, &err), 0);
    expect_token(&auth, "one");
    assert_int_equal(auth_refresh(&auth, 104 * SECOND, &err), 0);
    expect_token(&auth, "two");
    /* A file that looks the same is read again after a minute. */
    write_token("six", 2);
    assert_int_equal(auth_refresh(&auth, 163 * SECOND, &err), 0);
    expect_token(&auth, "two");
    assert_int_equal(auth_refresh(&auth, 164 * SECOND, &err), 0);
    expect_token(&auth, "six");
    /* Or at once when the server has refused it. */
    write_token("ten", 2);
    auth_expire(&auth);
    assert_int_equal(auth_refresh(&auth, 164 * SECOND, &err), 0);
    expect_token(&auth, "ten");
    auth_done(&auth);
}

static void test_a_file_that_goes_away_is_not_missed(void **state)
{
    (void)state;
    struct kube_config config = {.token_file = token_path};
    struct error err = {0};
    struct auth auth;

    write_token("one", 1);
    assert_int_equal(auth_init(&auth, &config), 0);
    assert_int_equal(auth_refresh(&auth, 100 * SECOND, &err), 0);
    write_token("", 2);
    assert_int_equal(auth_refresh(&auth, 200 * SECOND, &err), 0);
    expect_token(&auth, "one");
    assert_int_equal(unlink(token_path), 0);
    assert_int_equal(auth_refresh(&auth, 300 * SECOND, &err), 0);
    expect_token(&auth, "one");
    auth_done(&auth);
}

static void test_tokens_that_can_not_go_into_a_header(void **state)
{
    (void)state;
    char large[17 * 1024];
    const char *const tokens[] = {"a\nX: b", "a b", "\xc3\xa4", "  \n", large};

    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(tokens); i++) {
        struct kube_config config = {.token_file = token_path};
        struct error err = {0};
        struct auth auth;
        write_token(tokens[i], 1);
        assert_int_equal(auth_init(&auth, &config), 0);
        assert_true(auth_refresh(&auth, 100 * SECOND, &err) < 0);
        assert_true(err.text[0]);
        auth_done(&auth);
    }
}

static void test_inline(void **state)
{
    (void)state;
    char token[] = "abc";
    char pem[] = "CA";
    struct kube_config config = {.token = token, .ca_pem = pem};
    struct kube_config none = {0};
    struct error err = {0};
    struct auth auth;
    const char *text;
    size_t len;

    assert_int_equal(auth_init(&auth, &config), 0);
    assert_int_equal(auth_refresh(&auth, SECOND, &err), 0);
    expect_token(&auth, "abc");
    assert_true(auth_ca(&auth, &text, &len));
    assert_string_equal(text, "CA");
    auth_expire(&auth);
    auth_done(&auth);
    assert_int_equal(auth_init(&auth, &none), 0);
    assert_int_equal(auth_refresh(&auth, SECOND, &err), 0);
    assert_false(auth_token(&auth, &text, &len));
    assert_false(auth_ca(&auth, &text, &len));
    auth_done(&auth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_a_file_that_goes_away_is_not_missed),
        cmocka_unit_test(test_tokens_that_can_not_go_into_a_header),
        cmocka_unit_test(test_inline),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
