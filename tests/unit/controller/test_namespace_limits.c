/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/namespace_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/cleanup.h"

#define MI(n) ((uint64_t)(n) << 20)

struct limit_case {
    struct node_resources limit, used;
    uint64_t memory_bytes; /* of the run */
    uint32_t cpu_milli;
    enum limit_verdict verdict;
    const char *text;
};

static const struct limit_case cases[] = {
    {{0}, {0}, MI(512), 1000, LIMIT_NONE, NULL},
    {{0}, {UINT32_MAX, UINT64_MAX, UINT64_MAX}, UINT64_MAX, UINT32_MAX, LIMIT_NONE, NULL},
    {{.runs = 5}, {4, MI(9), 9}, MI(512), 1000, LIMIT_NONE, NULL},
    {{.runs = 5},
     {5, MI(9), 9},
     MI(512),
     1000,
     LIMIT_RUNS,
     "5 of at most 5 runs of the namespace are scheduled or running (--max-runs-per-namespace)"},
    {{.memory_bytes = MI(1024)}, {1, MI(512), 9}, MI(512), 1000, LIMIT_NONE, NULL},
    {{.memory_bytes = MI(1024)},
     {1, MI(513), 9},
     MI(512),
     1000,
     LIMIT_MEMORY,
     "the namespace's runs have memory 513Mi of at most 1Gi (--max-memory-per-namespace), and this "
     "one asks for 512Mi"},
    {{.cpu_milli = 2000}, {1, MI(512), 1000}, MI(512), 1000, LIMIT_NONE, NULL},
    {{.cpu_milli = 2000},
     {1, MI(512), 1500},
     MI(512),
     1000,
     LIMIT_CPU,
     "the namespace's runs have cpu 1500m of at most 2 (--max-cpu-per-namespace), and this one "
     "asks for 1"},
    {{.memory_bytes = MI(256)},
     {0},
     MI(512),
     1000,
     LIMIT_TOO_LARGE,
     "the namespace's runs have memory 0 of at most 256Mi (--max-memory-per-namespace), and this "
     "one asks for 512Mi"},
    {{.cpu_milli = 500},
     {0},
     MI(512),
     1000,
     LIMIT_TOO_LARGE,
     "the namespace's runs have cpu 0 of at most 500m (--max-cpu-per-namespace), and this one asks "
     "for 1"},
    /* A lower limit than what is used already, and figures at their ends. */
    {{.runs = 5}, {9, 0, 0}, MI(512), 1000, LIMIT_RUNS, NULL},
    {{.memory_bytes = MI(600)}, {9, UINT64_MAX, 0}, MI(512), 1000, LIMIT_MEMORY, NULL},
    {{.memory_bytes = UINT64_MAX}, {9, UINT64_MAX - 1, 0}, 2, 1, LIMIT_MEMORY, NULL},
    {{.cpu_milli = UINT64_MAX}, {9, 0, UINT64_MAX}, 2, UINT32_MAX, LIMIT_CPU, NULL},
};

static void test_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct limit_case *c = &cases[i];
        const struct namespace_limits limits = {.used = c->limit};
        const struct run_request request = {.memory_bytes = c->memory_bytes,
                                            .cpu_milli = c->cpu_milli};
        char text[256];
        enum limit_verdict verdict = limits_check(&limits, &c->used, &request);
        if (verdict != c->verdict)
            fail_msg("case %zu: %d", i, (int)verdict);
        if (!c->text)
            continue;
        limits_explain(&limits, &c->used, &request, text, sizeof(text));
        assert_string_equal(text, c->text);
    }
}

static void test_queue(void **state)
{
    (void)state;
    const struct namespace_limits limits = {.queued = 100};
    char text[256];
    limits_explain_queue(&limits, 100, text, sizeof(text));
    assert_string_equal(text, "100 runs of the namespace wait, and at most 100 may "
                              "(--max-queued-per-namespace): create it again when fewer wait");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits), cmocka_unit_test(test_queue)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
