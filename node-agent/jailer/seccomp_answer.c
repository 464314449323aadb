/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/seccomp_answer.h"

#include "seccomp/seccomp_policies.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What stands for a program that says nothing, or isn't one. */
#define UNDECIDED (SECCOMP_RET_ERRNO | EPERM)

static uint32_t load_word(const struct seccomp_data *call, uint32_t offset)
{
    uint32_t word = 0;
    if (offset <= sizeof(*call) - sizeof(word))
        memcpy(&word, (const char *)call + offset, sizeof(word));
    return word;
}

static bool jump_holds(uint16_t operation, uint32_t accumulator, uint32_t k)
{
    switch (operation) {
    case BPF_JEQ:
        return accumulator == k;
    case BPF_JGT:
        return accumulator > k;
    case BPF_JGE:
        return accumulator >= k;
    default:
        return (accumulator & k) != 0; /* BPF_JSET */
    }
}

/* Every jump leads forward, so each instruction runs once at most. */
static uint32_t run_filter(const struct sock_filter *filter, size_t len,
                           const struct seccomp_data *call)
{
    uint32_t accumulator = 0;
    for (size_t at = 0; at < len; at++) {
        const struct sock_filter *insn = &filter[at];
        switch (insn->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            accumulator = load_word(call, insn->k);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            accumulator &= insn->k;
            break;
        case BPF_JMP | BPF_JA:
            at += insn->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
        case BPF_JMP | BPF_JGT | BPF_K:
        case BPF_JMP | BPF_JGE | BPF_K:
        case BPF_JMP | BPF_JSET | BPF_K:
            at += jump_holds(BPF_OP(insn->code), accumulator, insn->k) ? insn->jt : insn->jf;
            break;
        case BPF_RET | BPF_K:
            return insn->k;
        default:
            return UNDECIDED;
        }
    }
    return UNDECIDED;
}

int seccomp_answer(const struct seccomp_policy *policy, const struct seccomp_data *call)
{
    uint32_t answer = run_filter(policy->answers, policy->answers_len, call);
    uint32_t action = answer & SECCOMP_RET_ACTION_FULL;
    int errnum = (int)(answer & SECCOMP_RET_DATA);
    if (action == SECCOMP_RET_KILL_PROCESS)
        return 0;
    return action == SECCOMP_RET_ERRNO && errnum > 0 ? errnum : EPERM;
}
