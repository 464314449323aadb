/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/privilege.h"
#include "tests/unit/common/cmocka_setup.h"

#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_choose(void **state)
{
    (void)state;
    static const struct {
        const char *uid, *gid;
        uid_t chosen_uid;
        gid_t chosen_gid;
    } cases[] = {
        {"1000", "1001", 1000, 1001},
        {"1000", NULL, 1000, 65532},
        {"1000", "0", 1000, 65532},
        {NULL, NULL, 65532, 65532},
        {NULL, "1001", 65532, 65532},
        {"0", "0", 65532, 65532},
        {"", "", 65532, 65532},
        {"-1", "-1", 65532, 65532},
        {"4294967295", "4294967295", 65532, 65532},
        {"4294967294", "4294967294", 4294967294u, 4294967294u},
        {"1000x", "1", 65532, 65532},
        {"18446744073709551616", "1", 65532, 65532},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct privilege_target target = privilege_choose(cases[i].uid, cases[i].gid);
        assert_int_equal(target.uid, cases[i].chosen_uid);
        assert_int_equal(target.gid, cases[i].chosen_gid);
    }
}

/* What /proc says about the process after the drop: line by line, since any of them would do. */
static int check_status(void)
{
    static const char *const wanted[] = {
        "Uid:\t4711\t4711\t4711\t4711\n",
        "Gid:\t4712\t4712\t4712\t4712\n",
        "Groups:\t \n",
        "CapInh:\t0000000000000000\n",
        "CapPrm:\t0000000000000000\n",
        "CapEff:\t0000000000000000\n",
        "CapBnd:\t0000000000000000\n",
        "CapAmb:\t0000000000000000\n",
        "NoNewPrivs:\t1\n",
    };
    char text[8192];
    FILE *file = fopen("/proc/self/status", "re");
    size_t len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    text[len] = '\0';
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (!strstr(text, wanted[i])) {
            (void)fprintf(stderr, "missing: %s%s", wanted[i], text);
            return 1;
        }
    }
    return 0;
}

static void test_drop(void **state)
{
    (void)state;
    struct error err;
    if (geteuid() != 0) {
        assert_int_equal(privilege_check(&err), -1);
        assert_non_null(strstr(err.text, "sudo"));
        skip();
    }
    assert_int_equal(privilege_check(NULL), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct privilege_target target = {.uid = 4711, .gid = 4712};
        const gid_t groups[] = {1, 4712};
        if (setgroups(2, groups) < 0 || privilege_drop(target, &err) < 0) {
            (void)fprintf(stderr, "%s\n", err.text);
            _exit(2);
        }
        _exit(check_status());
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
