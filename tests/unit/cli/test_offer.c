/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/offer.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

static const struct proto_hello hello = {
    .profiles = 1u << PROFILE_SNIPPET,
    .max_runs = 3,
    .memory_bytes = 1u << 30,
    .cpu_milli = 2000,
    .runtime_count = 2,
    .runtimes = {{.name = "python3.12"}, {.name = "python3.13"}},
};

static char python312[] = "python3.12";
static char python313[] = "python3.13";
static char node20[] = "node20";

static void test_check(void **state)
{
    (void)state;
    static const struct {
        struct run_spec spec;
        const char *message; /* NULL: offered */
    } cases[] = {
        {{.runtime = python313, .cpu_milli = 2000, .memory_bytes = 1u << 30}, NULL},
        {{.profile = PROFILE_TOOL_CALL, .runtime = python312},
         "spec.profile: ToolCall is not offered by this machine's jailer, which offers Snippet"},
        {{.runtime = node20},
         "spec.runtime: this machine has no runtime node20; it has python3.12, python3.13 (make "
         "one with hack/make-runtime.sh, or name another directory with --runtimes-dir)"},
        {{.runtime = python312, .memory_bytes = 2ull << 30},
         "spec.resources.limits.memory: 2Gi is more than all sandboxes of this machine may have "
         "together (1Gi); ask for less"},
        {{.runtime = python312, .cpu_milli = 2001},
         "spec.resources.limits.cpu: 2001m is more than all sandboxes of this machine may have "
         "together (2); ask for less"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = {0};
        int r = offer_check(&hello, &cases[i].spec, &err);
        assert_int_equal(r, cases[i].message ? -EINVAL : 0);
        assert_string_equal(err.text, cases[i].message ? cases[i].message : "");
    }
    struct error err = {0};
    assert_int_equal(offer_check(&(struct proto_hello){0}, &cases[0].spec, &err), -EINVAL);
    assert_non_null(strstr(err.text, "offers none"));
}

static void test_room(void **state)
{
    (void)state;
    const struct run_spec small = {.cpu_milli = 100, .memory_bytes = 64u << 20};
    const struct run_spec wide = {.cpu_milli = 2000, .memory_bytes = 64u << 20};
    const struct run_spec large = {.cpu_milli = 100, .memory_bytes = 961u << 20};
    struct offer_use use = {0};
    assert_true(offer_has_room(&hello, &use, &wide));
    assert_true(offer_has_room(&hello, &use, &large));
    offer_take(&use, &small);
    assert_true(offer_has_room(&hello, &use, &wide));
    assert_false(offer_has_room(&hello, &use, &large));
    offer_take(&use, &small);
    assert_true(offer_has_room(&hello, &use, &small));
    offer_take(&use, &small);
    assert_false(offer_has_room(&hello, &use, &small));
    for (int i = 0; i < 3; i++)
        offer_give_back(&use, &small);
    assert_true(offer_has_room(&hello, &use, &large));
    assert_int_equal(use.runs + use.memory_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
