/* SPDX-License-Identifier: Apache-2.0 */

/* The table as text: word by word for two slots (nft_text.nft), and what must hold for all. */
#include "common/fd.h"
#include "common/net/forbidden.h"
#include "node-agent/jailer/net/nft_text.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static void plan_of(uint32_t jailer, uint32_t slots, struct net_plan *plan)
{
    struct ip_prefix range4, range6;
    assert_int_equal(ip_prefix_parse(NET_DEFAULT_RANGE4, true, &range4, NULL), 0);
    assert_int_equal(ip_prefix_parse(NET_DEFAULT_RANGE6, true, &range6, NULL), 0);
    assert_int_equal(net_plan_init(plan, jailer, slots, &range4, &range6, NULL), 0);
}

static void forbid(struct net_plan *plan, const char *text)
{
    assert_int_equal(ip_prefix_parse(text, true, &plan->forbidden[plan->forbidden_count++], NULL),
                     0);
}

static void test_word_by_word(void **state)
{
    (void)state;
    struct net_plan plan;
    plan_of(3, 2, &plan);
    forbid(&plan, "203.0.114.0/24");
    forbid(&plan, "2600:1f00::/24");
    cleanup_buf struct buf text = BUF_INIT(NFT_MAX_TEXT);
    cleanup_buf struct buf wanted = BUF_INIT(NFT_MAX_TEXT);
    assert_int_equal(nft_text_print(&plan, &text), 0);
    assert_int_equal(fd_read_file(AT_FDCWD, TEST_SOURCE_DIR "/nft_text.nft", false, &wanted), 0);
    assert_string_equal(buf_str(&text), buf_str(&wanted));
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        count++;
    return count;
}

/* The jailer's own list is in the set, all of it, and so are the ranges of all jailers' slots. */
static void test_every_forbidden_range_is_in_a_set(void **state)
{
    (void)state;
    struct net_plan plan;
    plan_of(0, 1, &plan);
    cleanup_buf struct buf text = BUF_INIT(NFT_MAX_TEXT);
    assert_int_equal(nft_text_print(&plan, &text), 0);
    const struct forbidden_range *range = NULL;
    size_t count = 0;
    for (size_t i = 0; (range = forbidden_range(i)); i++, count++) {
        struct ip_prefix prefix;
        char word[IP_PREFIX_TEXT_SIZE + 4], printed[IP_PREFIX_TEXT_SIZE];
        assert_int_equal(ip_prefix_parse(range->prefix, true, &prefix, NULL), 0);
        ip_prefix_print(&prefix, printed);
        (void)snprintf(word, sizeof(word), " %s,", printed);
        assert_non_null(strstr(buf_str(&text), word));
    }
    assert_true(count > 20);
    assert_non_null(strstr(buf_str(&text), " 198.19.192.0/18,"));
    assert_non_null(strstr(buf_str(&text), " fd53:6272::/112,"));
}

/* One set of each kind for each slot, and the order of the judgement. */
static void test_the_largest_table(void **state)
{
    (void)state;
    struct net_plan plan;
    plan_of(63, NET_MAX_SLOTS, &plan);
    while (plan.forbidden_count < NET_MAX_FORBIDDEN)
        forbid(&plan, "2001:db8:aaaa:bbbb:cccc:dddd:eeee:0/112");
    cleanup_buf struct buf text = BUF_INIT(NFT_MAX_TEXT);
    assert_int_equal(nft_text_print(&plan, &text), 0);
    static const char *const kinds[] = {"set allow4_",  "set allow6_",  "set names4_",
                                        "set names6_",  "set denied4_", "set denied6_",
                                        "chain rules_", "chain refuse_"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        assert_int_equal(count_of(buf_str(&text), kinds[i]), NET_MAX_SLOTS);
    const char *judge = strstr(buf_str(&text), "chain judge {");
    assert_non_null(judge);
    static const char *const order[] = {"hdrlength", "@gateways4",    "@forbidden4", "@forbidden6",
                                        "fib daddr", "established",   "@starts",     "@flows",
                                        "@policies", "goto refuse\n}"};
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        judge = strstr(judge, order[i]);
        assert_non_null(judge);
    }
}

static void test_no_room(void **state)
{
    (void)state;
    struct net_plan plan;
    plan_of(0, NET_MAX_SLOTS, &plan);
    cleanup_buf struct buf text = BUF_INIT(4096);
    assert_int_equal(nft_text_print(&plan, &text), -EMSGSIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_by_word),
        cmocka_unit_test(test_every_forbidden_range_is_in_a_set),
        cmocka_unit_test(test_the_largest_table),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
