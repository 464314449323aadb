/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/options.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

enum { OPTION_NAME = 1, OPTION_LEVEL, OPTION_HELP };

static const struct option long_options[] = {
    {"name", required_argument, NULL, OPTION_NAME},
    {"log-level", required_argument, NULL, OPTION_LEVEL},
    {"help", no_argument, NULL, OPTION_HELP},
    {0},
};

static const char *seen;
static enum log_level level;

static int set(int option, const char *name, struct error *err)
{
    if (option == OPTION_HELP)
        return 0;
    if (option == OPTION_LEVEL)
        return options_set_log_level(&level, err);
    assert_string_equal(name, "name");
    seen = optarg;
    return 1;
}

static void test_walk(void **state)
{
    (void)state;
    static const struct {
        const char *words[3];
        int result;
        const char *seen;
        const char *error;
    } cases[] = {
        {{NULL}, 1, NULL, ""},
        {{"--name=a", "--log-level=error"}, 1, "a", ""},
        {{"--name", "a"}, 1, "a", ""},
        {{"--name=a", "--help", "--none"}, 0, "a", ""},
        {{"--name"}, -EINVAL, NULL, "--name needs a value; see --help"},
        {{"--none"}, -EINVAL, NULL, "--none is no option; see --help"},
        {{"-n"}, -EINVAL, NULL, "-n is no option; see --help"},
        {{"--name=a", "b"}, -EINVAL, "a", "b: takes no arguments; see --help"},
        {{"--log-level=loud"},
         -EINVAL,
         NULL,
         "--log-level: \"loud\" is not one of debug, info, warn, error"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char words[4][32] = {"program"};
        char *argv[5] = {words[0]};
        struct error err = {0};
        int argc = 1;
        for (; argc < 4 && cases[i].words[argc - 1]; argc++) {
            memcpy(words[argc], cases[i].words[argc - 1], strlen(cases[i].words[argc - 1]));
            argv[argc] = words[argc];
        }
        optind = 0;
        seen = NULL;
        level = LOG_LEVEL_INFO;
        assert_int_equal(options_walk(argc, argv, long_options, set, &err), cases[i].result);
        assert_string_equal(err.text, cases[i].error);
        assert_int_equal(level, i == 1 ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO);
        if (cases[i].seen)
            assert_string_equal(seen, cases[i].seen);
        else
            assert_null(seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
