/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/kube/limits.h"
#include "common/kube/splitter.h"

#include <errno.h>
#include <string.h>

static int collect(const char *item, size_t len, bool oversized, void *arg)
{
    struct buf *out = arg;

    assert_int_equal(buf_append_char(out, oversized ? '!' : '<'), 0);
    assert_int_equal(buf_append(out, item, len), 0);
    assert_int_equal(buf_append_char(out, oversized ? '!' : '>'), 0);
    return 0;
}

struct splitter_case {
    const char *in;
    int feed; /* 0 or -errno of feeding */
    int end;  /* 0 or -errno of the end */
    const char *items;
    const char *metadata;
};

#define MAX_ITEM 12

static const struct splitter_case cases[] = {
    {"{\"items\":[],\"metadata\":{}}", 0, 0, "", "{}"},
    {"{\"items\":null,\"metadata\":{}}", 0, 0, "", "{}"},
    {"{\"kind\":\"L\",\"metadata\":{\"v\":\"]\"},\"items\":[{\"a\":1},{\"b\":[2]}]}", 0, 0,
     "<{\"a\":1}><{\"b\":[2]}>", "{\"v\":\"]\"}"},
    {" { \"items\" : [ {\"a\":1} , {} ] , \"metadata\" : { } } \n", 0, 0, "<{\"a\":1}><{}>", "{ }"},
    {"{\"items\":[1,\"x\",[],null],\"metadata\":{}}", 0, 0, "<1><\"x\"><[]><null>", "{}"},
    {"{\"x\":{\"items\":[1]},\"y\":[{\"metadata\":1}],\"z\":\"\\\"items\\\":[\",\"items\":[2],"
     "\"metadata\":{}}",
     0, 0, "<2>", "{}"},
    {"{\"items\":[{\"a\":\"0123456789\"},{\"b\":1}],\"metadata\":{}}", 0, 0,
     "!{\"a\":\"012345!<{\"b\":1}>", "{}"},
    {"{\"items\":[\"0123456789\",1],\"metadata\":{}}", 0, 0, "<\"0123456789\"><1>", "{}"},
    {"{\"itemsandmuchmore\":[1],\"items\":[2],\"metadata\":{}}", 0, 0, "<2>", "{}"},
    {"{\"items\":[\"\\\"\",\"\\\\\"],\"metadata\":{}}", 0, 0, "<\"\\\"\"><\"\\\\\">", "{}"},
    /* Cut off. */
    {"", 0, -EBADMSG, "", NULL},
    {"{\"items\":[{\"a\":1},{\"b\":", 0, -EBADMSG, "<{\"a\":1}>", NULL},
    {"{\"items\":[{\"a\":1}],\"metadata\":{}", 0, -EBADMSG, "<{\"a\":1}>", NULL},
    /* No list. */
    {"{}", 0, -EBADMSG, "", NULL},
    {"{\"kind\":\"Status\",\"metadata\":{}}", 0, -EBADMSG, "", NULL},
    {"{\"items\":[]}", 0, -EBADMSG, "", NULL},
    {"[]", -EBADMSG, 0, "", NULL},
    {"<html>", -EBADMSG, 0, "", NULL},
    {"{\"items\":{}}", -EBADMSG, 0, "", NULL},
    {"{\"items\":7}", -EBADMSG, 0, "", NULL},
    {"{\"items\":[1],\"items\":[2]}", -EBADMSG, 0, "<1>", NULL},
    {"{\"metadata\":{},\"metadata\":{}}", -EBADMSG, 0, "", NULL},
    {"{\"items\":[1 2]}", -EBADMSG, 0, "<1>", NULL},
    {"{\"items\":[,]}", -EBADMSG, 0, "", NULL},
    {"{\"items\" [1]}", -EBADMSG, 0, "", NULL},
    {"{\"items\":[],\"metadata\":{}}{", -EBADMSG, 0, "", NULL},
    {"{7:1}", -EBADMSG, 0, "", NULL},
    {"{\"a\":}", -EBADMSG, 0, "", NULL},
};

static void check(const struct splitter_case *c, size_t first, size_t second)
{
    cleanup_buf struct buf out = BUF_INIT(1024);
    size_t len = strlen(c->in);
    const struct buf *metadata = NULL;
    struct splitter splitter;

    splitter_init(&splitter, MAX_ITEM, collect, &out);
    int r = splitter_feed(&splitter, c->in, first, NULL);
    if (r == 0)
        r = splitter_feed(&splitter, c->in + first, second - first, NULL);
    if (r == 0)
        r = splitter_feed(&splitter, c->in + second, len - second, NULL);
    assert_int_equal(r, c->feed);
    assert_string_equal(buf_str(&out), c->items);
    if (c->feed == 0)
        assert_int_equal(splitter_end(&splitter, &metadata, NULL), c->end);
    assert_string_equal(metadata ? buf_str(metadata) : "", c->metadata ? c->metadata : "");
    splitter_done(&splitter);
}

static void test_every_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t len = strlen(cases[i].in);
        for (size_t first = 0; first <= len; first++) {
            for (size_t second = first; second <= len; second++)
                check(&cases[i], first, second);
        }
    }
}

static void test_byte_by_byte(void **state)
{
    (void)state;
    const struct splitter_case *c = &cases[2];
    cleanup_buf struct buf out = BUF_INIT(1024);
    const struct buf *metadata;
    struct splitter splitter;

    splitter_init(&splitter, MAX_ITEM, collect, &out);
    for (int page = 0; page < 2; page++) {
        for (size_t i = 0; i < strlen(c->in); i++)
            assert_int_equal(splitter_feed(&splitter, c->in + i, 1, NULL), 0);
        assert_int_equal(splitter_end(&splitter, &metadata, NULL), 0);
        assert_string_equal(buf_str(&out), c->items);
        splitter_reset(&splitter);
        buf_reset(&out);
    }
    splitter_done(&splitter);
}

static void test_metadata_is_bounded(void **state)
{
    (void)state;
    static char filler[MAX_KUBE_LIST_META];
    cleanup_buf struct buf out = BUF_INIT(1024);
    struct error err = {0};
    struct splitter splitter;

    memset(filler, 'x', sizeof(filler));
    splitter_init(&splitter, MAX_ITEM, collect, &out);
    assert_int_equal(splitter_feed(&splitter, "{\"metadata\":{\"a\":\"", 18, &err), 0);
    assert_int_equal(splitter_feed(&splitter, filler, sizeof(filler), &err), -EMSGSIZE);
    assert_non_null(strstr(err.text, "65536"));
    splitter_done(&splitter);
}

static int refuse(const char *item, size_t len, bool oversized, void *arg)
{
    (void)item;
    (void)len;
    (void)oversized;
    (void)arg;
    return -ECANCELED;
}

static void test_a_refusal_ends_the_splitting(void **state)
{
    (void)state;
    static const char *const texts[] = {"{\"items\":[1,2]", "{\"items\":[\"01234567890123456789"};

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct splitter splitter;
        splitter_init(&splitter, MAX_ITEM, refuse, NULL);
        assert_int_equal(splitter_feed(&splitter, texts[i], strlen(texts[i]), NULL), -ECANCELED);
        assert_int_equal(splitter.count, 1);
        splitter_done(&splitter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_split),
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_metadata_is_bounded),
        cmocka_unit_test(test_a_refusal_ends_the_splitting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
