/* SPDX-License-Identifier: Apache-2.0 */

/* Bytes -> tree -> run, both ways of reading, then validate, encode the status at several sizes,
 * and decode what was encoded: it must be readable, and the same. */
#include "common/api/run_status_decode.h"
#include "common/api/sandboxrun.h"
#include "common/json.h"
#include "common/net/name_pattern.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void need(int condition)
{
    if (!condition)
        abort();
}

static void round_trip(const struct run_status *status, size_t max_bytes)
{
    cleanup_buf struct buf json = BUF_INIT(8u << 20);
    cleanup_json cJSON *tree = NULL;
    struct run_status back = {0};
    struct error err = {0};
    need(run_status_encode(status, max_bytes, &json, &err) == 0);
    need(json_parse(json.data, json.len, &tree, &err) == 0);
    need(run_status_decode(tree, &back, &err) == 0);
    need(back.phase == status->phase && back.reason == status->reason);
    need(back.has_exit_code == status->has_exit_code && back.exit_code == status->exit_code);
    need(strcmp(back.sandbox_id, status->sandbox_id) == 0);
    need(strcmp(back.node_name, status->node_name) == 0);
    need(strcmp(back.agent_instance, status->agent_instance) == 0);
    need(back.denied_count == status->denied_count);
    for (size_t i = 0; i < back.denied_count; i++)
        need(back.denied[i].kind == status->denied[i].kind &&
             back.denied[i].count == status->denied[i].count &&
             strcmp(back.denied[i].target, status->denied[i].target) == 0);
    need(status->stdout_len == 0 || back.stdout_truncated || !status->stdout_truncated);
    if (max_bytes == 0 && status->stdout_text && status->stdout_len <= MAX_STATUS_STREAM)
        need(strcmp(back.stdout_text, status->stdout_text) == 0);
    run_status_done(&back);
}

static void read_again(const cJSON *tree, const struct run_status *status)
{
    cleanup_json cJSON *object = NULL;
    struct sandboxrun run;
    struct error err = {0};
    need(sandboxrun_with_status(tree, status, &object, &err) == 0);
    need(sandboxrun_decode(object, SANDBOXRUN_LENIENT, &run, &err) == 0);
    need(run.status.phase == status->phase);
    sandboxrun_done(&run);
}

static void check_prefixes(const struct egress_rules *rules)
{
    for (size_t i = 0; i < rules->prefix_count; i++) {
        const struct egress_prefix *entry = &rules->prefixes[i];
        need(ip_prefix_is_valid(&entry->prefix));
        need(entry->ports != 0 && (entry->ports & ~EGRESS_PORTS_ALL) == 0);
        for (size_t j = 0; j < i; j++)
            need((entry->ports & rules->prefixes[j].ports) == 0 ||
                 !ip_prefix_overlaps(&entry->prefix, &rules->prefixes[j].prefix));
    }
}

/* What struct egress_rules promises to those who rely on it. */
static void check_egress(const struct egress_rules *rules)
{
    size_t end = 0;
    need(rules->prefix_count <= MAX_EGRESS_PREFIXES && rules->name_count <= MAX_EGRESS_NAMES);
    check_prefixes(rules);
    for (size_t i = 0; i < rules->name_count; i++) {
        const char *pattern = rules->name_text + rules->names[i].offset;
        need(rules->names[i].offset == end && name_pattern_is_valid(pattern));
        need(rules->names[i].ports != 0 && (rules->names[i].ports & ~EGRESS_PORTS_ALL) == 0);
        for (size_t j = 0; j < i; j++)
            need(strcmp(pattern, rules->name_text + rules->names[j].offset) != 0);
        end += strlen(pattern) + 1;
    }
    need(end == rules->name_bytes && end <= sizeof(rules->name_text));
}

static void try_decode(const cJSON *tree, enum sandboxrun_strictness strictness)
{
    struct sandboxrun run;
    struct error err = {0};
    if (sandboxrun_decode(tree, strictness, &run, &err) < 0) {
        need(err.code > 0 && err.text[0]);
        return;
    }
    err = (struct error){0};
    if (run.spec.egress)
        check_egress(run.spec.egress);
    int r = sandboxrun_validate(&run, &err);
    need((r == 0) == (err.code == 0));
    if (r == 0) {
        const struct profile_limits *limits = profile_limits(run.spec.profile);
        need(run.spec.timeout_seconds > 0 &&
             run.spec.timeout_seconds <= limits->timeout_max_seconds);
        need(run.spec.memory_bytes > 0 && run.spec.memory_bytes <= limits->memory_max_bytes);
        need(run.spec.cpu_milli > 0 && run.spec.cpu_milli <= limits->cpu_max_milli);
    }
    static const size_t sizes[] = {0, 1, 700, 1100, 5000, MAX_OBJECT_BYTES};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        round_trip(&run.status, sizes[i]);
    read_again(tree, &run.status);
    sandboxrun_done(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    cleanup_json cJSON *tree = NULL;
    struct error err = {0};
    if (json_parse((const char *)bytes, len, &tree, &err) < 0) {
        need(err.code > 0 && err.text[0]);
        return 0;
    }
    try_decode(tree, SANDBOXRUN_LENIENT);
    try_decode(tree, SANDBOXRUN_STRICT);
    return 0;
}
