/* SPDX-License-Identifier: Apache-2.0 */
#include "common/token_bucket.h"
#include "tests/unit/common/cmocka_setup.h"

#define BURST  50u
#define SPACE  100u
#define SECOND 1000u

static unsigned int take(struct token_bucket *bucket, uint64_t now)
{
    unsigned int count = 0;
    while (count <= BURST && token_bucket_take(bucket, now, BURST, SPACE))
        count++;
    return count;
}

static void test_burst_then_rate(void **state)
{
    (void)state;
    struct token_bucket bucket = {0};
    uint64_t now = 7 * SECOND;
    assert_int_equal(take(&bucket, now), BURST);
    assert_int_equal(take(&bucket, now + SPACE - 1), 0);
    assert_int_equal(take(&bucket, now + SPACE), 1);
    now += SECOND;
    assert_int_equal(take(&bucket, now), 9);
    /* Time that passes unused is saved up to the burst. */
    now += 1000 * SECOND;
    assert_int_equal(take(&bucket, now), BURST);
}

static void test_ends_of_the_clock(void **state)
{
    (void)state;
    struct token_bucket bucket = {0};
    assert_int_equal(take(&bucket, 0), BURST);
    assert_int_equal(take(&bucket, 0), 0);
    assert_int_equal(take(&bucket, UINT64_MAX), BURST);
    /* Backwards no time passes. */
    assert_int_equal(take(&bucket, 5 * SECOND), 0);
    assert_int_equal(take(&bucket, 5 * SECOND + SPACE), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_burst_then_rate),
        cmocka_unit_test(test_ends_of_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
