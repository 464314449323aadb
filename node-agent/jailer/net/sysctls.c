/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net/sysctls.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"

#include <assert.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>

struct setting {
    const char *name;
    const char *value;
    bool ipv6;
    bool saved_only; /* another setting changes it, and what it was is put back */
};

/*
 * In this order; it is put back in the reverse one. Of Linux, Documentation/networking/ip-sysctl:
 * forwarding changes whether redirects are accepted. An error that tells a sandbox of a refusal
 * must not fall to a limit that all of them share: nftables has one for each.
 */
static const struct setting settings[] = {
    {"sys/net/ipv4/conf/all/accept_redirects", NULL, false, true},
    {"sys/net/ipv4/icmp_ratemask", "0", false, false},
    {"sys/net/ipv4/icmp_ratelimit", "0", false, false},
    {"sys/net/ipv4/ip_forward", "1", false, false},
    {"sys/net/ipv6/icmp/ratelimit", "0", true, false},
    {"sys/net/ipv6/icmp/ratemask", "", true, false},
    {"sys/net/ipv6/conf/all/forwarding", "1", true, false},
};

static_assert(ARRAY_SIZE(settings) == SYSCTLS_MAX, "room for what each was before");

int sysctls_open(struct sysctls *ret_sysctls, struct error *err)
{
    *ret_sysctls = SYSCTLS_INIT;
    cleanup_close int fs_fd = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);
    if (fs_fd < 0 || syscall(SYS_fsconfig, fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return error_set_errno(err, errno, "make a procfs");
    ret_sysctls->proc_fd = (int)syscall(SYS_fsmount, fs_fd, FSMOUNT_CLOEXEC,
                                        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    if (ret_sysctls->proc_fd < 0)
        return error_set_errno(err, errno, "mount a procfs");
    return 0;
}

static int write_value(int proc_fd, const char *name, const char *value)
{
    char line[SYSCTLS_VALUE_SIZE + 1];
    /* An empty list is an empty line: nothing at all would not be a write. */
    (void)snprintf(line, sizeof(line), "%s\n", value);
    return fd_write_attr(proc_fd, name, line);
}

static int apply_one(struct sysctls *sysctls, size_t index, struct error *err)
{
    const struct setting *setting = &settings[index];
    char before[SYSCTLS_VALUE_SIZE], after[SYSCTLS_VALUE_SIZE];
    const char *shown = setting->name + sizeof("sys/") - 1;
    int r = fd_read_attr(sysctls->proc_fd, setting->name, before, sizeof(before));
    if (r < 0)
        return error_set_errno(err, -r, "read sysctl %s", shown);
    if (!setting->saved_only && strcmp(before, setting->value) == 0)
        return 0;
    sysctls->before[index].known = true;
    memcpy(sysctls->before[index].value, before, sizeof(before));
    if (setting->saved_only)
        return 0;
    r = write_value(sysctls->proc_fd, setting->name, setting->value);
    if (r < 0)
        return error_set_errno(err, -r, "set sysctl %s to \"%s\"", shown, setting->value);
    r = fd_read_attr(sysctls->proc_fd, setting->name, after, sizeof(after));
    if (r < 0 || strcmp(after, setting->value) != 0)
        return error_set(err, EPERM, "sysctl %s was set to \"%s\" and reads differently", shown,
                         setting->value);
    return 0;
}

bool sysctls_has_ipv6(int proc_fd)
{
    char disabled[8];
    return fd_read_attr(proc_fd, "sys/net/ipv6/conf/default/disable_ipv6", disabled,
                        sizeof(disabled)) >= 0 &&
           strcmp(disabled, "0") == 0;
}

int sysctls_apply(struct sysctls *sysctls, bool with_ipv6, struct error *err)
{
    sysctls->ipv6 = with_ipv6 && sysctls_has_ipv6(sysctls->proc_fd);
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        if (settings[i].ipv6 && !sysctls->ipv6)
            continue;
        int r = apply_one(sysctls, i, err);
        if (r < 0) {
            sysctls_restore(sysctls);
            return r;
        }
    }
    return 0;
}

/* Lines of NAME, a blank and the value, which may be empty. */
int sysctls_print(const struct sysctls *sysctls, struct buf *text)
{
    int r = 0;
    for (size_t i = 0; i < ARRAY_SIZE(settings) && r >= 0; i++) {
        if (sysctls->before[i].known)
            r = buf_printf(text, "%s %s\n", settings[i].name, sysctls->before[i].value);
    }
    return r;
}

static void remember_line(struct sysctls *sysctls, const char *line, size_t len)
{
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        size_t at = strlen(settings[i].name) + 1;
        if (len < at || len - at >= SYSCTLS_VALUE_SIZE || line[at - 1] != ' ' ||
            strncmp(line, settings[i].name, at - 1) != 0)
            continue;
        sysctls->before[i].known = true;
        memcpy(sysctls->before[i].value, line + at, len - at);
        sysctls->before[i].value[len - at] = '\0';
    }
}

void sysctls_remember(struct sysctls *sysctls, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        remember_line(sysctls, text, len);
        text += len + (text[len] == '\n');
    }
}

uint32_t sysctls_tracked(const struct sysctls *sysctls)
{
    char text[32];
    uint64_t value = 0;
    if (fd_read_attr(sysctls->proc_fd, "sys/net/netfilter/nf_conntrack_max", text, sizeof(text)) <
            0 ||
        parse_u64(text, 0, UINT32_MAX, &value) < 0)
        return 0;
    return (uint32_t)value;
}

void sysctls_restore(struct sysctls *sysctls)
{
    for (size_t i = ARRAY_SIZE(settings); i-- > 0;) {
        const struct setting *setting = &settings[i];
        char now[SYSCTLS_VALUE_SIZE];
        if (!sysctls->before[i].known)
            continue;
        sysctls->before[i].known = false;
        if (setting->saved_only ||
            (fd_read_attr(sysctls->proc_fd, setting->name, now, sizeof(now)) >= 0 &&
             strcmp(now, setting->value) == 0))
            (void)write_value(sysctls->proc_fd, setting->name, sysctls->before[i].value);
    }
}

void sysctls_close(struct sysctls *sysctls)
{
    sysctls->proc_fd = fd_close(sysctls->proc_fd);
}

int sysctls_seal_slot(int proc_fd, bool ipv6, struct error *err)
{
    static const struct slot_setting {
        const char *name;
        const char *value;
        bool ipv6;
        bool newer; /* than some kernels are */
    } wanted[] = {
        {"sys/net/ipv6/conf/default/accept_ra", "0", true, false},
        {"sys/net/ipv6/conf/default/autoconf", "0", true, false},
        /* A connection whose program has ended keeps the namespace as long as it waits for answers,
         * which no one gives any more: it is to give up after one try, and to try soon. The second
         * since Linux 6.15. */
        {"sys/net/ipv4/tcp_orphan_retries", "1", false, false},
        {"sys/net/ipv4/tcp_rto_max_ms", "5000", false, true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        if (wanted[i].ipv6 && !ipv6)
            continue;
        int r = write_value(proc_fd, wanted[i].name, wanted[i].value);
        if (r < 0 && !(wanted[i].newer && r == -ENOENT))
            return error_set_errno(err, -r, "set sysctl %s of a slot",
                                   wanted[i].name + sizeof("sys/") - 1);
    }
    return 0;
}
