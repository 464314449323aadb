/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/policy.h"

#include "common/cleanup.h"
#include "common/json.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ERRNO 4095

struct word {
    const char *text;
    int value;
};

static const struct word actions[] = {
    {"SCMP_ACT_ALLOW", POLICY_ACTION_ALLOW},
    {"SCMP_ACT_ERRNO", POLICY_ACTION_ERRNO},
    {"SCMP_ACT_KILL_PROCESS", POLICY_ACTION_KILL_PROCESS},
};

static const struct word compares[] = {
    {"SCMP_CMP_EQ", POLICY_COMPARE_EQ},
    {"SCMP_CMP_NE", POLICY_COMPARE_NE},
    {"SCMP_CMP_LT", POLICY_COMPARE_LT},
    {"SCMP_CMP_LE", POLICY_COMPARE_LE},
    {"SCMP_CMP_GT", POLICY_COMPARE_GT},
    {"SCMP_CMP_GE", POLICY_COMPARE_GE},
    {"SCMP_CMP_MASKED_EQ", POLICY_COMPARE_MASKED_EQ},
};

/* A place in the file for messages: "syscalls[3].args[0]". */
struct place {
    char text[48];
};

static struct place place_of_rule(size_t rule)
{
    struct place place;

    (void)snprintf(place.text, sizeof(place.text), "syscalls[%zu]", rule);
    return place;
}

static struct place place_of_arg(const struct place *rule, size_t arg)
{
    struct place place;

    (void)snprintf(place.text, sizeof(place.text), "%.32s.args[%zu]", rule->text, arg);
    return place;
}

static struct place place_of_includes(const struct place *rule)
{
    struct place place;

    (void)snprintf(place.text, sizeof(place.text), "%.32s.includes", rule->text);
    return place;
}

static const struct place top = {"the policy"};

static int check_members(const cJSON *object, const char *const *known, size_t n_known,
                         const struct place *place, struct error *err)
{
    const cJSON *member;

    if (!cJSON_IsObject(object))
        return error_set(err, EINVAL, "%s is not an object", place->text);
    cJSON_ArrayForEach (member, object) {
        bool found = false;

        for (size_t i = 0; i < n_known && !found; i++)
            found = strcmp(member->string, known[i]) == 0;
        if (!found)
            return error_set(err, EINVAL, "%s has an unknown member \"%.64s\"", place->text,
                             member->string);
    }
    return 0;
}

static int get_word(const cJSON *object, const char *key, const struct word *words, size_t n_words,
                    int *ret_value, const struct place *place, struct error *err)
{
    const char *text = json_get_string(object, key);

    if (!text)
        return error_set(err, EINVAL, "%s has no \"%s\", or it is no string", place->text, key);
    for (size_t i = 0; i < n_words; i++) {
        if (strcmp(text, words[i].text) == 0) {
            *ret_value = words[i].value;
            return 0;
        }
    }
    return error_set(err, EINVAL, "%s has \"%s\": \"%.64s\", which is none of those supported",
                     place->text, key, text);
}

static int get_number(const cJSON *object, const char *key, int64_t max, uint64_t *ret_value,
                      const struct place *place, struct error *err)
{
    int64_t value;

    if (json_get_i64(object, key, &value) < 0 || value < 0 || value > max)
        return error_set(err, EINVAL, "%s needs \"%s\", a whole number from 0 to %lld", place->text,
                         key, (long long)max);
    *ret_value = (uint64_t)value;
    return 0;
}

/* The reason is ours: other runtimes ignore it. */
static int get_comment(const cJSON *object, char **ret_comment, const struct place *place,
                       struct error *err)
{
    const char *text = json_get_string(object, "comment");

    if (!text || !*text)
        return error_set(err, EINVAL, "%s has no \"comment\", the reason for it", place->text);
    *ret_comment = strdup(text);
    return *ret_comment ? 0 : error_set(err, ENOMEM, "out of memory");
}

/* Ours too. A rule only ever says that it is an exception: what doesn't say so is reported. */
static int get_report(const cJSON *object, struct policy_rule *rule, const struct policy *policy,
                      const struct place *place, struct error *err)
{
    const cJSON *report = cJSON_GetObjectItemCaseSensitive(object, "report");

    if (!report)
        return 0;
    if (!cJSON_IsFalse(report))
        return error_set(err, EINVAL, "%s has a \"report\" that is not false", place->text);
    if (rule->action == POLICY_ACTION_ALLOW || !policy->report_refusals)
        return error_set(err, EINVAL, "%s has \"report\": false and nothing to report",
                         place->text);
    rule->unreported = true;
    return 0;
}

static int get_report_refusals(const cJSON *object, bool *ret_report, struct error *err)
{
    const cJSON *report = cJSON_GetObjectItemCaseSensitive(object, "reportRefusals");

    if (report && !cJSON_IsBool(report))
        return error_set(err, EINVAL, "%s has \"reportRefusals\" that is not true or false",
                         top.text);
    *ret_report = cJSON_IsTrue(report);
    return 0;
}

/* An action and, exactly with SCMP_ACT_ERRNO, its errno under errno_key. */
static int get_action(const cJSON *object, const char *key, const char *errno_key,
                      enum policy_action *ret_action, unsigned *ret_errno,
                      const struct place *place, struct error *err)
{
    int action = POLICY_ACTION_ERRNO;
    uint64_t number = 0;
    int r;

    r = get_word(object, key, actions, ARRAY_SIZE(actions), &action, place, err);
    if (r < 0)
        return r;
    if (action == POLICY_ACTION_ERRNO) {
        r = get_number(object, errno_key, MAX_ERRNO, &number, place, err);
        if (r < 0)
            return r;
    } else if (cJSON_HasObjectItem(object, errno_key)) {
        return error_set(err, EINVAL, "%s has \"%s\" without SCMP_ACT_ERRNO", place->text,
                         errno_key);
    }
    *ret_action = (enum policy_action)action;
    *ret_errno = (unsigned)number;
    return 0;
}

static int parse_arg(const cJSON *object, struct policy_arg *ret_arg, const struct place *place,
                     struct error *err)
{
    static const char *const known[] = {"index", "value", "valueTwo", "op"};
    struct policy_arg arg = {0};
    uint64_t index = 0;
    int compare = 0;
    int r;

    r = check_members(object, known, ARRAY_SIZE(known), place, err);
    if (r == 0)
        r = get_number(object, "index", MAX_POLICY_ARGS - 1, &index, place, err);
    if (r == 0)
        r = get_word(object, "op", compares, ARRAY_SIZE(compares), &compare, place, err);
    if (r == 0)
        r = get_number(object, "value", INT64_MAX, &arg.value, place, err);
    if (r == 0 && compare == POLICY_COMPARE_MASKED_EQ)
        r = get_number(object, "valueTwo", INT64_MAX, &arg.value_two, place, err);
    else if (r == 0 && cJSON_HasObjectItem(object, "valueTwo"))
        r = error_set(err, EINVAL, "%s has \"valueTwo\" without SCMP_CMP_MASKED_EQ", place->text);
    if (r < 0)
        return r;
    if (compare == POLICY_COMPARE_MASKED_EQ && (arg.value_two & ~arg.value) != 0)
        return error_set(err, EINVAL, "%s can't hold: \"valueTwo\" has bits outside the mask",
                         place->text);
    arg.index = (unsigned)index;
    arg.compare = (enum policy_compare)compare;
    *ret_arg = arg;
    return 0;
}

static int parse_args(const cJSON *array, struct policy_rule *rule, const struct place *place,
                      struct error *err)
{
    const cJSON *item;

    if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) == 0)
        return error_set(err, EINVAL, "%s has \"args\" that are no list, or an empty one",
                         place->text);
    cJSON_ArrayForEach (item, array) {
        struct place here = place_of_arg(place, rule->n_args);
        struct policy_arg arg = {0};
        int r;

        if (rule->n_args == MAX_POLICY_ARGS)
            return error_set(err, EINVAL, "%s has more than %d args", place->text, MAX_POLICY_ARGS);
        r = parse_arg(item, &arg, &here, err);
        if (r < 0)
            return r;
        for (size_t i = 0; i < rule->n_args; i++) {
            /* Runtimes differ: some take two comparisons of one argument for alternatives. */
            if (rule->args[i].index == arg.index)
                return error_set(err, EINVAL, "%s compares argument %u a second time", here.text,
                                 arg.index);
        }
        rule->args[rule->n_args++] = arg;
    }
    return 0;
}

/* For numbers that differ between the architectures, such as the flags of open(). */
static int parse_includes(const cJSON *object, const struct policy *policy,
                          struct policy_rule *rule, const struct place *place, struct error *err)
{
    static const char *const known[] = {"arches"};
    struct place here = place_of_includes(place);
    const cJSON *array, *item;
    enum arch arch;
    int r;

    r = check_members(object, known, ARRAY_SIZE(known), &here, err);
    if (r < 0)
        return r;
    array = json_get(object, "arches");
    if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) == 0)
        return error_set(err, EINVAL, "%s needs \"arches\", a list that isn't empty", here.text);
    cJSON_ArrayForEach (item, array) {
        if (!cJSON_IsString(item) || arch_from_include(item->valuestring, &arch) < 0)
            return error_set(err, EINVAL, "%s has an architecture other than amd64 and arm64",
                             here.text);
        if (!policy->archs[arch])
            return error_set(err, EINVAL, "%s names %s, which the policy is not for", here.text,
                             item->valuestring);
        if (rule->archs[arch])
            return error_set(err, EINVAL, "%s names %s twice", here.text, item->valuestring);
        rule->archs[arch] = true;
    }
    return 0;
}

static int parse_names(const cJSON *array, struct policy_rule *rule, const struct place *place,
                       struct error *err)
{
    const cJSON *item;
    int size = cJSON_IsArray(array) ? cJSON_GetArraySize(array) : 0;
    int number;

    if (size == 0 || size > MAX_POLICY_NAMES)
        return error_set(err, EINVAL, "%s needs \"names\", a list of 1 to %d names", place->text,
                         MAX_POLICY_NAMES);
    rule->names = calloc((size_t)size, sizeof(*rule->names));
    if (!rule->names)
        return error_set(err, ENOMEM, "out of memory");
    cJSON_ArrayForEach (item, array) {
        if (!cJSON_IsString(item))
            return error_set(err, EINVAL, "%s has a name that is no string", place->text);
        if (arch_syscall_number(ARCH_X86_64, item->valuestring, &number) == -EINVAL)
            return error_set(err, EINVAL, "%s: there is no system call \"%.64s\"", place->text,
                             item->valuestring);
        rule->names[rule->n_names] = strdup(item->valuestring);
        if (!rule->names[rule->n_names])
            return error_set(err, ENOMEM, "out of memory");
        rule->n_names++;
    }
    return 0;
}

/* An errno of 0 is success to a program, without the call having been made. That is honest only
 * where there is nothing to do: all files that a program can write are in memory. */
static int check_success(const struct policy *policy, const struct policy_rule *rule,
                         const struct place *place, struct error *err)
{
    static const char *const idle[] = {"fdatasync", "fsync"};

    if (policy_reports(policy, rule))
        return error_set(
            err, EINVAL,
            "%s has \"errnoRet\": 0 and needs \"report\": false: a success is no refusal",
            place->text);
    for (size_t i = 0; i < rule->n_names; i++) {
        bool found = false;

        for (size_t j = 0; j < ARRAY_SIZE(idle) && !found; j++)
            found = strcmp(rule->names[i], idle[j]) == 0;
        if (!found)
            return error_set(err, EINVAL,
                             "%s has \"errnoRet\": 0 for %s, which a program takes for success",
                             place->text, rule->names[i]);
    }
    return 0;
}

static int parse_rule(const cJSON *object, const struct policy *policy, struct policy_rule *rule,
                      const struct place *place, struct error *err)
{
    static const char *const known[] = {"comment", "names",    "action", "errnoRet",
                                        "report",  "includes", "args"};
    const cJSON *includes = cJSON_GetObjectItemCaseSensitive(object, "includes");
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(object, "args");
    int r;

    r = check_members(object, known, ARRAY_SIZE(known), place, err);
    if (r == 0)
        r = get_comment(object, &rule->comment, place, err);
    if (r == 0)
        r = get_action(object, "action", "errnoRet", &rule->action, &rule->errno_ret, place, err);
    if (r == 0)
        r = get_report(object, rule, policy, place, err);
    if (r == 0)
        r = parse_names(json_get(object, "names"), rule, place, err);
    if (r == 0 && rule->action == POLICY_ACTION_ERRNO && rule->errno_ret == 0)
        r = check_success(policy, rule, place, err);
    if (r == 0 && includes)
        r = parse_includes(includes, policy, rule, place, err);
    for (int i = 0; i < ARCH_COUNT && !includes; i++)
        rule->archs[i] = true;
    if (r == 0 && args)
        r = parse_args(args, rule, place, err);
    return r;
}

static bool args_equal(const struct policy_rule *a, const struct policy_rule *b)
{
    if (a->n_args != b->n_args)
        return false;
    for (size_t i = 0; i < a->n_args; i++) {
        bool found = false;

        for (size_t j = 0; j < b->n_args && !found; j++)
            found = a->args[i].index == b->args[j].index &&
                    a->args[i].compare == b->args[j].compare &&
                    a->args[i].value == b->args[j].value &&
                    a->args[i].value_two == b->args[j].value_two;
        if (!found)
            return false;
    }
    return true;
}

static bool archs_meet(const struct policy_rule *a, const struct policy_rule *b)
{
    bool meet = false;

    for (int i = 0; i < ARCH_COUNT; i++)
        meet = meet || (a->archs[i] && b->archs[i]);
    return meet;
}

/* One name in two rules is fine on different architectures, and while both have conditions and they
 * differ. libseccomp would let a rule without conditions swallow the others. */
static int check_pair(const struct policy_rule *a, const struct policy_rule *b, const char *name,
                      const struct place *place, struct error *err)
{
    if (a == b)
        return error_set(err, EINVAL, "%s names %s twice", place->text, name);
    if (!archs_meet(a, b))
        return 0;
    if (a->n_args == 0 || b->n_args == 0)
        return error_set(err, EINVAL, "%s: another rule for %s, and one of them has no conditions",
                         place->text, name);
    if (args_equal(a, b))
        return error_set(err, EINVAL, "%s: another rule for %s has the same conditions",
                         place->text, name);
    return 0;
}

static int check_name(const struct policy *policy, size_t rule, size_t name, struct error *err)
{
    const struct policy_rule *here = &policy->rules[rule];
    struct place place = place_of_rule(rule);

    for (size_t i = 0; i <= rule; i++) {
        const struct policy_rule *other = &policy->rules[i];
        size_t end = i == rule ? name : other->n_names;

        for (size_t j = 0; j < end; j++) {
            int r;

            if (strcmp(other->names[j], here->names[name]) != 0)
                continue;
            r = check_pair(other, here, here->names[name], &place, err);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int parse_rules(const cJSON *array, struct policy *policy, struct error *err)
{
    const cJSON *item;
    int size = cJSON_IsArray(array) ? cJSON_GetArraySize(array) : 0;

    if (size == 0 || size > MAX_POLICY_RULES)
        return error_set(err, EINVAL, "%s needs \"syscalls\", a list of 1 to %d rules", top.text,
                         MAX_POLICY_RULES);
    policy->rules = calloc((size_t)size, sizeof(*policy->rules));
    if (!policy->rules)
        return error_set(err, ENOMEM, "out of memory");
    cJSON_ArrayForEach (item, array) {
        size_t index = policy->n_rules++; /* counted first, so that policy_free() sees it */
        struct place place = place_of_rule(index);
        int r = parse_rule(item, policy, &policy->rules[index], &place, err);

        for (size_t i = 0; r == 0 && i < policy->rules[index].n_names; i++)
            r = check_name(policy, index, i, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int parse_archs(const cJSON *array, struct policy *policy, struct error *err)
{
    const cJSON *item;
    enum arch arch;

    if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) == 0)
        return error_set(err, EINVAL, "%s needs \"architectures\", a list", top.text);
    cJSON_ArrayForEach (item, array) {
        if (!cJSON_IsString(item) || arch_from_policy_name(item->valuestring, &arch) < 0)
            return error_set(err, EINVAL,
                             "%s has an architecture other than SCMP_ARCH_X86_64 and "
                             "SCMP_ARCH_AARCH64",
                             top.text);
        if (policy->archs[arch])
            return error_set(err, EINVAL, "%s names the architecture %s twice", top.text,
                             item->valuestring);
        policy->archs[arch] = true;
    }
    return 0;
}

int policy_parse(const char *bytes, size_t len, struct policy **ret_policy, struct error *err)
{
    static const char *const known[] = {"comment",        "defaultAction", "defaultErrnoRet",
                                        "reportRefusals", "architectures", "syscalls"};
    cleanup_policy struct policy *policy = NULL;
    cleanup_json cJSON *tree = NULL;
    int r;

    if (len > MAX_POLICY_BYTES)
        return error_set(err, EINVAL, "%s is longer than %zu bytes", top.text, MAX_POLICY_BYTES);
    r = json_parse(bytes, len, &tree, err);
    if (r < 0)
        return r;
    policy = calloc(1, sizeof(*policy));
    if (!policy)
        return error_set(err, ENOMEM, "out of memory");
    r = check_members(tree, known, ARRAY_SIZE(known), &top, err);
    if (r == 0)
        r = get_comment(tree, &policy->comment, &top, err);
    if (r == 0)
        r = get_action(tree, "defaultAction", "defaultErrnoRet", &policy->default_action,
                       &policy->default_errno, &top, err);
    if (r == 0 && policy->default_action == POLICY_ACTION_ERRNO && policy->default_errno == 0)
        r = error_set(err, EINVAL,
                      "%s has \"defaultErrnoRet\": 0, which a program takes for success", top.text);
    if (r == 0 && policy->default_action == POLICY_ACTION_ALLOW)
        r = error_set(err, EINVAL, "%s allows what it doesn't name", top.text);
    if (r == 0)
        r = get_report_refusals(tree, &policy->report_refusals, err);
    if (r == 0)
        r = parse_archs(json_get(tree, "architectures"), policy, err);
    if (r == 0)
        r = parse_rules(json_get(tree, "syscalls"), policy, err);
    if (r < 0)
        return r;
    *ret_policy = TAKE_PTR(policy);
    return 0;
}

void policy_free(struct policy *policy)
{
    if (!policy)
        return;
    for (size_t i = 0; i < policy->n_rules; i++) {
        for (size_t j = 0; j < policy->rules[i].n_names; j++)
            free(policy->rules[i].names[j]);
        free(policy->rules[i].names);
        free(policy->rules[i].comment);
    }
    free(policy->rules);
    free(policy->comment);
    free(policy);
}

bool policy_reports(const struct policy *policy, const struct policy_rule *rule)
{
    enum policy_action action = rule ? rule->action : policy->default_action;

    return policy->report_refusals && action != POLICY_ACTION_ALLOW && !(rule && rule->unreported);
}

bool policy_rule_everywhere(const struct policy *policy, const struct policy_rule *rule)
{
    bool everywhere = true;

    for (int i = 0; i < ARCH_COUNT; i++)
        everywhere = everywhere && (rule->archs[i] || !policy->archs[i]);
    return everywhere;
}

static bool allows_on(const struct policy_rule *rule, enum arch arch)
{
    return rule->action == POLICY_ACTION_ALLOW && rule->archs[arch];
}

/* Whether an earlier rule allows the name too. */
static bool counted_before(const struct policy *policy, size_t rule, const char *name,
                           enum arch arch)
{
    for (size_t i = 0; i < rule; i++) {
        if (!allows_on(&policy->rules[i], arch))
            continue;
        for (size_t j = 0; j < policy->rules[i].n_names; j++) {
            if (strcmp(policy->rules[i].names[j], name) == 0)
                return true;
        }
    }
    return false;
}

size_t policy_count_allowed(const struct policy *policy, enum arch arch)
{
    size_t count = 0;
    int number;

    for (size_t i = 0; i < policy->n_rules; i++) {
        const struct policy_rule *rule = &policy->rules[i];

        for (size_t j = 0; allows_on(rule, arch) && j < rule->n_names; j++)
            count += arch_syscall_number(arch, rule->names[j], &number) == 0 &&
                     !counted_before(policy, i, rule->names[j], arch);
    }
    return count;
}
