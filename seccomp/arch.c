/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/arch.h"

#include "common/cleanup.h"

#include <seccomp.h>
#include <stdbool.h>
#include <string.h>

static const struct {
    const char *name;
    const char *policy_name;
    const char *include;
    uint32_t token;
} archs[ARCH_COUNT] = {
    [ARCH_X86_64] = {"x86_64", "SCMP_ARCH_X86_64", "amd64", SCMP_ARCH_X86_64},
    [ARCH_AARCH64] = {"aarch64", "SCMP_ARCH_AARCH64", "arm64", SCMP_ARCH_AARCH64},
};

/* Calls that came after Linux 5.17, where the oldest libseccomp in use (2.5.4) ends. They have one
 * number on all architectures (scripts/syscall.tbl of the kernel). */
static const struct {
    const char *name;
    int number;
} newer[] = {
    {"cachestat", 451},         {"fchmodat2", 452},        {"map_shadow_stack", 453},
    {"futex_wake", 454},        {"futex_wait", 455},       {"futex_requeue", 456},
    {"statmount", 457},         {"listmount", 458},        {"lsm_get_self_attr", 459},
    {"lsm_set_self_attr", 460}, {"lsm_list_modules", 461}, {"mseal", 462},
    {"setxattrat", 463},        {"getxattrat", 464},       {"listxattrat", 465},
    {"removexattrat", 466},     {"open_tree_attr", 467},   {"file_getattr", 468},
    {"file_setattr", 469},
};

const char *arch_name(enum arch arch)
{
    return archs[arch].name;
}

uint32_t arch_token(enum arch arch)
{
    return archs[arch].token;
}

int arch_from_name(const char *name, enum arch *ret_arch)
{
    for (int i = 0; i < ARCH_COUNT; i++) {
        if (strcmp(name, archs[i].name) == 0) {
            *ret_arch = (enum arch)i;
            return 0;
        }
    }
    return -ENOENT;
}

int arch_from_policy_name(const char *name, enum arch *ret_arch)
{
    for (int i = 0; i < ARCH_COUNT; i++) {
        if (strcmp(name, archs[i].policy_name) == 0) {
            *ret_arch = (enum arch)i;
            return 0;
        }
    }
    return -ENOENT;
}

int arch_from_include(const char *name, enum arch *ret_arch)
{
    for (int i = 0; i < ARCH_COUNT; i++) {
        if (strcmp(name, archs[i].include) == 0) {
            *ret_arch = (enum arch)i;
            return 0;
        }
    }
    return -ENOENT;
}

enum arch arch_native(void)
{
#if defined(__x86_64__)
    return ARCH_X86_64;
#elif defined(__aarch64__)
    return ARCH_AARCH64;
#else
#error "SandboxRun runs on x86-64 and arm64"
#endif
}

static const char *newer_name(int number)
{
    for (size_t i = 0; i < ARRAY_SIZE(newer); i++) {
        if (newer[i].number == number)
            return newer[i].name;
    }
    return NULL;
}

int arch_syscall_name(enum arch arch, int number, char ret_name[static MAX_SYSCALL_NAME])
{
    cleanup_free char *resolved = seccomp_syscall_resolve_num_arch(archs[arch].token, number);
    const char *name = resolved ? resolved : newer_name(number);

    if (!name)
        return -ENOENT;
    if (strlen(name) >= MAX_SYSCALL_NAME)
        return -ENAMETOOLONG;
    (void)snprintf(ret_name, MAX_SYSCALL_NAME, "%s", name);
    return 0;
}

static int newer_number(const char *name, int *ret_number)
{
    for (size_t i = 0; i < ARRAY_SIZE(newer); i++) {
        if (strcmp(name, newer[i].name) == 0) {
            *ret_number = newer[i].number;
            return 0;
        }
    }
    return -ENOENT;
}

int arch_syscall_number(enum arch arch, const char *name, int *ret_number)
{
    int number = seccomp_syscall_resolve_name_arch(archs[arch].token, name);

    if (number >= 0) {
        *ret_number = number;
        return 0;
    }
    if (newer_number(name, ret_number) == 0)
        return 0;
    /* libseccomp knows names of every architecture that it supports, 32-bit ones among them; a
     * name that none of ours has would be a rule without an effect. */
    for (int i = 0; i < ARCH_COUNT; i++) {
        if (seccomp_syscall_resolve_name_arch(archs[i].token, name) >= 0)
            return -ENOENT;
    }
    return -EINVAL;
}
