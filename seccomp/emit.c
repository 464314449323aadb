/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/emit.h"

#define PER_LINE 4

int emit_c(const struct compiled *compiled, const char *name, const char *symbol, struct buf *buf)
{
    int r;

    r = buf_printf(buf,
                   "/* SPDX-License-Identifier: Apache-2.0 */\n"
                   "/* Made by sandboxrun-seccomp from the policy \"%s\". */\n"
                   "#include \"seccomp/seccomp_policies.h\"\n\n"
                   "static const struct sock_filter filter[%zu] = {",
                   name, compiled->len);
    for (size_t i = 0; r == 0 && i < compiled->len; i++)
        r = buf_printf(buf, "%s{0x%02x, %u, %u, 0x%08x},", i % PER_LINE == 0 ? "\n    " : " ",
                       compiled->insns[i].code, compiled->insns[i].jt, compiled->insns[i].jf,
                       compiled->insns[i].k);
    if (r == 0)
        r = buf_printf(buf,
                       "\n};\n\n"
                       "const struct seccomp_policy %s = {\n"
                       "    .name = \"%s\", .filter = filter, .len = %zu};\n",
                       symbol, name, compiled->len);
    return r;
}

int emit_raw(const struct compiled *compiled, struct buf *buf)
{
    return buf_append(buf, compiled->insns, compiled->len * sizeof(*compiled->insns));
}
