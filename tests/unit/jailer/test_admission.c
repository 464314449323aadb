/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/jailer/admission.h"
#include "tests/unit/common/cmocka_setup.h"

#include <string.h>

#define MIB (1ull << 20)

static struct jailer make_jailer(void)
{
    return (struct jailer){
        .max_runs = 4,
        .memory_capacity_bytes = 600 * MIB,
        .cpu_capacity_milli = 1000,
        .runtimes = {.count = 1, .entries = {{.name = "python3.12"}}},
    };
}

static struct proto_create make_create(void)
{
    return (struct proto_create){
        .runtime = "python3.12", .cpu_milli = 1000, .memory_bytes = 512 * MIB};
}

static void expect(const struct jailer *jailer, const struct proto_create *create, int result,
                   const char *names)
{
    struct error err = {0};
    int r = admission_check(jailer, create, &err);
    if (r != result || !strstr(err.text, names))
        fail_msg("%s: %d \"%s\"", names, r, err.text);
}

static void test_what_can_never_be(void **state)
{
    (void)state;
    struct jailer jailer = make_jailer();
    struct proto_create create = make_create();
    expect(&jailer, &create, 0, "");
    create.memory_bytes = 513 * MIB;
    expect(&jailer, &create, -EINVAL, "ceiling");
    create = make_create();
    memcpy(create.runtime, "python3.13", 11);
    expect(&jailer, &create, -EINVAL, "python3.13");
    create = make_create();
    jailer.memory_capacity_bytes = 400 * MIB;
    expect(&jailer, &create, -EINVAL, "419430400");
    jailer = make_jailer();
    jailer.cpu_capacity_milli = 999;
    expect(&jailer, &create, -EINVAL, "CPU");
}

static void test_what_could_be_later(void **state)
{
    (void)state;
    struct jailer jailer = make_jailer();
    struct proto_create create = make_create();
    jailer.sandbox_count = 3;
    expect(&jailer, &create, 0, "");
    jailer.sandbox_count = 4;
    expect(&jailer, &create, -ENOSPC, "4 places");
    jailer = make_jailer();
    jailer.memory_in_use_bytes = 88 * MIB;
    expect(&jailer, &create, 0, "");
    jailer.memory_in_use_bytes++;
    expect(&jailer, &create, -ENOSPC, "memory");
    jailer.memory_in_use_bytes = jailer.memory_capacity_bytes;
    expect(&jailer, &create, -ENOSPC, "memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_can_never_be),
        cmocka_unit_test(test_what_could_be_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
