/* SPDX-License-Identifier: Apache-2.0 */
#include "common/yaml_scalar.h"
#include "tests/unit/common/cmocka_setup.h"

static const struct {
    const char *text;
    enum yaml_scalar_type type;
    double number;
} scalars[] = {
    {"", YAML_SCALAR_NULL, 0},
    {"~", YAML_SCALAR_NULL, 0},
    {"null", YAML_SCALAR_NULL, 0},
    {"Null", YAML_SCALAR_NULL, 0},
    {"NULL", YAML_SCALAR_NULL, 0},
    {"nULL", YAML_SCALAR_STRING, 0},
    {"true", YAML_SCALAR_BOOL, 1},
    {"True", YAML_SCALAR_BOOL, 1},
    {"FALSE", YAML_SCALAR_BOOL, 0},
    {"tRUE", YAML_SCALAR_STRING, 0},
    {"yes", YAML_SCALAR_STRING, 0},
    {"off", YAML_SCALAR_STRING, 0},
    {"n", YAML_SCALAR_STRING, 0},
    {"0", YAML_SCALAR_NUMBER, 0},
    {"42", YAML_SCALAR_NUMBER, 42},
    {"-42", YAML_SCALAR_NUMBER, -42},
    {"+42", YAML_SCALAR_NUMBER, 42},
    {"1_000", YAML_SCALAR_NUMBER, 1000},
    {"_1", YAML_SCALAR_STRING, 0},
    {"0x1F", YAML_SCALAR_NUMBER, 31},
    {"-0x1f", YAML_SCALAR_NUMBER, -31},
    {"0x", YAML_SCALAR_STRING, 0},
    {"0xg", YAML_SCALAR_STRING, 0},
    {"0xFFFFFFFFFFFFFFFF", YAML_SCALAR_NUMBER, 18446744073709551615.0},
    {"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", YAML_SCALAR_STRING, 0},
    {"0o17", YAML_SCALAR_NUMBER, 15},
    {"017", YAML_SCALAR_NUMBER, 15},
    {"018", YAML_SCALAR_NUMBER, 18},
    {"0b101", YAML_SCALAR_NUMBER, 5},
    {"0b102", YAML_SCALAR_STRING, 0},
    {"1.5", YAML_SCALAR_NUMBER, 1.5},
    {".5", YAML_SCALAR_NUMBER, 0.5},
    {"5.", YAML_SCALAR_NUMBER, 5},
    {"-1.5e+3", YAML_SCALAR_NUMBER, -1500},
    {"1e3", YAML_SCALAR_NUMBER, 1000},
    {"1e", YAML_SCALAR_STRING, 0},
    {"e1", YAML_SCALAR_STRING, 0},
    {".", YAML_SCALAR_STRING, 0},
    {"-", YAML_SCALAR_STRING, 0},
    {"+.", YAML_SCALAR_STRING, 0},
    {"..", YAML_SCALAR_STRING, 0},
    {"1.2.3", YAML_SCALAR_STRING, 0},
    {"3.12", YAML_SCALAR_NUMBER, 3.12},
    {"1e400", YAML_SCALAR_NOT_FINITE, 0},
    {".inf", YAML_SCALAR_NOT_FINITE, 0},
    {"-.INF", YAML_SCALAR_NOT_FINITE, 0},
    {".nan", YAML_SCALAR_NOT_FINITE, 0},
    {".NAN", YAML_SCALAR_NOT_FINITE, 0},
    {"inf", YAML_SCALAR_STRING, 0},
    {"12:30:45", YAML_SCALAR_STRING, 0},
    {"2026-11-29", YAML_SCALAR_STRING, 0},
    {"512Mi", YAML_SCALAR_STRING, 0},
    {"500m", YAML_SCALAR_STRING, 0},
    {"1 000", YAML_SCALAR_STRING, 0},
    {"<<", YAML_SCALAR_STRING, 0},
};

static void test_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
        struct yaml_scalar scalar = yaml_scalar_resolve(scalars[i].text);
        bool same_number =
            scalars[i].type == YAML_SCALAR_NOT_FINITE || scalar.number == scalars[i].number;
        if (scalar.type != scalars[i].type || !same_number)
            fail_msg("\"%s\": type %d, %g", scalars[i].text, (int)scalar.type, scalar.number);
    }
}

static void test_needs_quotes(void **state)
{
    (void)state;
    static const char *const quoted[] = {
        "",         "~",    "null",       "true",  "False",
        "1",        "0x10", "1.5",        ".inf",  "yes",
        "NO",       "On",   "off",        "y",     "N",
        "<<",       "=",    "2026-11-29", "1:30",  "2026-11-29T22:17:14.123456Z",
        "12:30:45", "1e3",  "1_000",      "-1:30",
    };
    static const char *const plain[] = {"a",       "yes!",    "512Mi",      "500m",
                                        "nothing", "1.2.3",   "python3.12", "e3",
                                        "x=y",     "trueish", "0x",         "a:b"};
    for (size_t i = 0; i < sizeof(quoted) / sizeof(quoted[0]); i++) {
        if (!yaml_scalar_needs_quotes(quoted[i]))
            fail_msg("plain: \"%s\"", quoted[i]);
    }
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (yaml_scalar_needs_quotes(plain[i]))
            fail_msg("quoted: \"%s\"", plain[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_needs_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
