/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/emit.h"

#include <errno.h>

#define PER_LINE 4

/* No architecture numbers its calls higher. */
#define MAX_NUMBER 1023

#define MADE_HERE "/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by sandboxrun-seccomp"

static int emit_array(const struct compiled *compiled, const char *name, struct buf *buf)
{
    int r = buf_printf(buf, "static const struct sock_filter %s[%zu] = {", name, compiled->len);

    for (size_t i = 0; r == 0 && i < compiled->len; i++)
        r = buf_printf(buf, "%s{0x%02x, %u, %u, 0x%08x},", i % PER_LINE == 0 ? "\n    " : " ",
                       compiled->insns[i].code, compiled->insns[i].jt, compiled->insns[i].jf,
                       compiled->insns[i].k);
    return r == 0 ? buf_append_str(buf, "\n};\n\n") : r;
}

int emit_c(const struct compiled *filter, const struct compiled *answers, const char *name,
           const char *symbol, struct buf *buf)
{
    int r = buf_printf(buf,
                       MADE_HERE " from the policy \"%s\". */\n"
                                 "#include \"seccomp/seccomp_policies.h\"\n\n",
                       name);

    if (r == 0)
        r = emit_array(filter, "filter", buf);
    if (r == 0 && answers)
        r = emit_array(answers, "answers", buf);
    if (r == 0)
        r = buf_printf(buf,
                       "const struct seccomp_policy %s = {\n"
                       "    .name = \"%s\", .filter = filter, .len = %zu",
                       symbol, name, filter->len);
    if (r == 0 && answers)
        r = buf_printf(buf, ",\n    .answers = answers, .answers_len = %zu", answers->len);
    return r == 0 ? buf_append_str(buf, "};\n") : r;
}

int emit_names(enum arch arch, struct buf *buf)
{
    int r = buf_printf(buf,
                       MADE_HERE " for %s. */\n"
                                 "#include \"seccomp/syscall_names.h\"\n\n"
                                 "const char *const syscall_names[] = {\n",
                       arch_name(arch));
    int count = 0;

    for (int number = 0; r == 0 && number <= MAX_NUMBER; number++) {
        char name[MAX_SYSCALL_NAME];
        int found = arch_syscall_name(arch, number, name);

        if (found == -ENOENT)
            continue;
        if (found < 0)
            return found;
        r = buf_printf(buf, "    [%d] = \"%s\",\n", number, name);
        count = number + 1;
    }
    if (r == 0)
        r = buf_printf(buf, "};\n\nconst size_t syscall_names_count = %d;\n", count);
    return r;
}

int emit_raw(const struct compiled *compiled, struct buf *buf)
{
    return buf_append(buf, compiled->insns, compiled->len * sizeof(*compiled->insns));
}
