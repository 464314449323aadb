/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/shape.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"

static const struct shape_field leaf[] = {
    {.name = "name", .type = SHAPE_STRING, .required = true},
    {.name = "number", .type = SHAPE_INTEGER},
    {.name = "old", .refused = "it is gone"},
    {0},
};

static const struct shape_field root[] = {
    {.name = "text", .type = SHAPE_STRING},
    {.name = "timeoutSeconds", .type = SHAPE_INTEGER},
    {.name = "flag", .type = SHAPE_BOOLEAN},
    {.name = "size", .type = SHAPE_QUANTITY},
    {.name = "leaf", .type = SHAPE_OBJECT, .fields = leaf},
    {.name = "leaves", .type = SHAPE_OBJECT, .list = true, .fields = leaf},
    {.name = "words", .type = SHAPE_STRING, .list = true},
    {.name = "labels", .type = SHAPE_STRING_MAP},
    {.name = "anything", .type = SHAPE_ANY},
    {.name = "open", .type = SHAPE_OBJECT},
    {0},
};

struct shape_case {
    const char *json;
    const char *lenient; /* NULL: fine */
    const char *strict;
};

static const struct shape_case cases[] = {
    {"{}", NULL, NULL},
    {"[]", "x: must be an object, got list", "x: must be an object, got list"},
    {"{\"text\":\"a\",\"timeoutSeconds\":1,\"flag\":true,\"size\":\"1Mi\",\"words\":[],"
     "\"labels\":{\"a\":\"b\"},\"anything\":[1],\"open\":{\"a\":1}}",
     NULL, NULL},
    {"{\"text\":null,\"leaf\":null,\"words\":null}", NULL, NULL},
    {"{\"text\":1}", "x.text: must be a string, got number",
     "x.text: must be a string, got number"},
    {"{\"flag\":\"yes\"}", "x.flag: must be true or false, got string",
     "x.flag: must be true or false, got string"},
    {"{\"timeoutSeconds\":\"20\"}", "x.timeoutSeconds: must be a whole number, got string",
     "x.timeoutSeconds: must be a whole number, got string"},
    {"{\"timeoutSeconds\":1.5}", "x.timeoutSeconds: must be a whole number, got 1.5",
     "x.timeoutSeconds: must be a whole number, got 1.5"},
    {"{\"timeoutSeconds\":1e300}",
     "x.timeoutSeconds: must be a whole number, got 1.0000000000000001e+300",
     "x.timeoutSeconds: must be a whole number, got 1.0000000000000001e+300"},
    {"{\"size\":1}", NULL, NULL},
    {"{\"size\":0.5}",
     "x.size: must be a whole number, got 0.5; a quantity with a fraction is written in quotes",
     "x.size: must be a whole number, got 0.5; a quantity with a fraction is written in quotes"},
    {"{\"size\":true}", "x.size: must be a quantity such as \"500m\" or \"256Mi\", got boolean",
     "x.size: must be a quantity such as \"500m\" or \"256Mi\", got boolean"},
    {"{\"words\":\"a\"}", "x.words: must be a list, got string",
     "x.words: must be a list, got string"},
    {"{\"words\":[\"a\",\"b\",null]}", "x.words[2]: must be a string, got null",
     "x.words[2]: must be a string, got null"},
    {"{\"words\":[[]]}", "x.words[0]: must be a string, got list",
     "x.words[0]: must be a string, got list"},
    {"{\"labels\":{\"a\":\"b\",\"c\":1}}", "x.labels.c: must be a string, got number",
     "x.labels.c: must be a string, got number"},
    {"{\"labels\":[]}", "x.labels: must be an object of strings, got list",
     "x.labels: must be an object of strings, got list"},
    {"{\"leaf\":{}}", "x.leaf.name: is required", "x.leaf.name: is required"},
    {"{\"leaf\":{\"name\":null}}", "x.leaf.name: is required", "x.leaf.name: is required"},
    {"{\"leaves\":[{\"name\":\"a\"},{\"name\":\"b\",\"number\":{}}]}",
     "x.leaves[1].number: must be a whole number, got object",
     "x.leaves[1].number: must be a whole number, got object"},
    {"{\"leaf\":{\"name\":\"a\",\"old\":1}}", NULL, "x.leaf.old: unknown field; it is gone"},
    {"{\"timeOutSeconds\":1}", NULL,
     "x.timeOutSeconds: unknown field; did you mean timeoutSeconds?"},
    {"{\"timeout\":1}", NULL, "x.timeout: unknown field"},
    {"{\"worsd\":1}", NULL, "x.worsd: unknown field"},
    {"{\"word\":1}", NULL, "x.word: unknown field; did you mean words?"},
    {"{\"\":1}", NULL, "x: unknown field"},
    {"{\"a\\u001b[2Jb\":1}", NULL, "x.a?[2Jb: unknown field"},
    {"{\"leaves\":[{\"name\":\"a\",\"nmae\":1}]}", NULL, "x.leaves[0].nmae: unknown field"},
    {"{\"leaves\":[{\"name\":\"a\",\"nam\":1}]}", NULL,
     "x.leaves[0].nam: unknown field; did you mean name?"},
};

static void check(const struct shape_case *c, bool strict)
{
    cleanup_json cJSON *tree = NULL;
    struct error err = {0};
    const char *wanted = strict ? c->strict : c->lenient;
    assert_int_equal(json_parse(c->json, strlen(c->json), &tree, &err), 0);
    int r = shape_check(tree, "x", root, strict, &err);
    if (!wanted && r != 0)
        fail_msg("%s: %s", c->json, err.text);
    if (wanted) {
        assert_int_equal(r, -EINVAL);
        assert_string_equal(err.text, wanted);
    }
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        check(&cases[i], false);
        check(&cases[i], true);
    }
}

/* A key and a nesting of any length leave a message of bounded size. */
static void test_long_keys(void **state)
{
    (void)state;
    char key[1500], json[2048];
    memset(key, 'k', sizeof(key));
    (void)snprintf(json, sizeof(json), "{\"%.*s\":1}", (int)sizeof(key), key);
    cleanup_json cJSON *tree = NULL;
    struct error err = {0};
    assert_int_equal(json_parse(json, strlen(json), &tree, &err), 0);
    assert_int_equal(shape_check(tree, "x", root, true, &err), -EINVAL);
    assert_non_null(strstr(err.text, "kkk: unknown field"));
    assert_true(strlen(err.text) < 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_long_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
