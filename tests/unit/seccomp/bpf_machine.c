/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

static uint32_t load(const struct seccomp_data *data, uint32_t offset)
{
    uint32_t word;

    assert_true(offset % sizeof(word) == 0 && offset < sizeof(*data));
    memcpy(&word, (const char *)data + offset, sizeof(word));
    return word;
}

static bool holds(uint16_t operation, uint32_t a, uint32_t k)
{
    switch (operation) {
    case BPF_JEQ:
        return a == k;
    case BPF_JGT:
        return a > k;
    case BPF_JGE:
        return a >= k;
    case BPF_JSET:
        return (a & k) != 0;
    default:
        fail_msg("jump %#x", operation);
        return false;
    }
}

uint32_t bpf_machine_run(const struct sock_filter *filter, size_t len,
                         const struct seccomp_data *data)
{
    uint32_t a = 0;

    for (size_t pc = 0; pc < len; pc++) {
        const struct sock_filter *insn = &filter[pc];

        switch (insn->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            a = load(data, insn->k);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= insn->k;
            break;
        case BPF_JMP | BPF_JA:
            pc += insn->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
        case BPF_JMP | BPF_JGT | BPF_K:
        case BPF_JMP | BPF_JGE | BPF_K:
        case BPF_JMP | BPF_JSET | BPF_K:
            pc += holds(BPF_OP(insn->code), a, insn->k) ? insn->jt : insn->jf;
            break;
        case BPF_RET | BPF_K:
            return insn->k;
        default:
            fail_msg("instruction %zu is %#x", pc, insn->code);
        }
    }
    fail_msg("the program ends without an answer");
    return 0;
}
