/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/offer.h"

#include "common/api/quantity.h"
#include "common/buf.h"

#include <errno.h>
#include <string.h>

#define MAX_LIST_BYTES 256u

static bool offers_profile(const struct proto_hello *hello, unsigned int profile)
{
    return (hello->profiles & (1u << profile)) != 0;
}

static int check_profile(const struct proto_hello *hello, const struct run_spec *spec,
                         struct error *err)
{
    if (offers_profile(hello, (unsigned int)spec->profile))
        return 0;
    cleanup_buf struct buf list = BUF_INIT(MAX_LIST_BYTES);
    for (unsigned int i = 0; i < PROFILE_COUNT; i++) {
        if (offers_profile(hello, i))
            (void)buf_printf(&list, "%s%s", list.len > 0 ? ", " : "",
                             profile_limits((enum profile)i)->name);
    }
    return error_set(err, EINVAL,
                     "spec.profile: %s is not offered by this machine's jailer, which offers %s",
                     profile_limits(spec->profile)->name, list.len > 0 ? buf_str(&list) : "none");
}

static int check_runtime(const struct proto_hello *hello, const struct run_spec *spec,
                         struct error *err)
{
    cleanup_buf struct buf list = BUF_INIT(MAX_LIST_BYTES);
    for (uint32_t i = 0; i < hello->runtime_count && i < PROTO_MAX_RUNTIMES; i++) {
        if (strcmp(hello->runtimes[i].name, spec->runtime) == 0)
            return 0;
        (void)buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", hello->runtimes[i].name);
    }
    return error_set(err, EINVAL,
                     "spec.runtime: this machine has no runtime %s; it has %s (make one with "
                     "hack/make-runtime.sh, or name another directory with --runtimes-dir)",
                     spec->runtime, list.len > 0 ? buf_str(&list) : "none");
}

int offer_check(const struct proto_hello *hello, const struct run_spec *spec, struct error *err)
{
    char have[QUANTITY_TEXT_SIZE];
    char want[QUANTITY_TEXT_SIZE];
    int r = check_profile(hello, spec, err);
    if (r >= 0)
        r = check_runtime(hello, spec, err);
    if (r < 0)
        return r;
    if (spec->memory_bytes > hello->memory_bytes) {
        quantity_format_bytes(spec->memory_bytes, want);
        quantity_format_bytes(hello->memory_bytes, have);
        return error_set(err, EINVAL,
                         "spec.resources.limits.memory: %s is more than all sandboxes of this "
                         "machine may have together (%s); ask for less",
                         want, have);
    }
    if (spec->cpu_milli > hello->cpu_milli) {
        quantity_format_milli(spec->cpu_milli, want);
        quantity_format_milli(hello->cpu_milli, have);
        return error_set(err, EINVAL,
                         "spec.resources.limits.cpu: %s is more than all sandboxes of this "
                         "machine may have together (%s); ask for less",
                         want, have);
    }
    return 0;
}

bool offer_has_room(const struct proto_hello *hello, const struct offer_use *use,
                    const struct run_spec *spec)
{
    return use->runs < hello->max_runs &&
           use->memory_bytes + spec->memory_bytes <= hello->memory_bytes;
}

void offer_take(struct offer_use *use, const struct run_spec *spec)
{
    use->runs++;
    use->memory_bytes += spec->memory_bytes;
}

void offer_give_back(struct offer_use *use, const struct run_spec *spec)
{
    use->runs--;
    use->memory_bytes -= spec->memory_bytes;
}
