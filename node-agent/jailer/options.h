/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/log.h"
#include "common/net/ip_prefix.h"
#include "node-agent/jailer/net/net_plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct options {
    const char *socket_path; /* NULL in local mode */
    int fd;                  /* -1 without --fd */
    bool check;              /* send the checks to fd and end */
    bool has_peer_uid;
    uid_t peer_uid;
    const char *runtimes_dir;
    const char *spool_dir; /* NULL: none */
    const char *cgroup_parent;
    uint32_t uid_base, uid_count;
    uint32_t max_runs;
    uint32_t pool_min, pool_max;
    bool forks;                 /* --pool-mode fork */
    const char *zygote_modules; /* to import, between commas */
    uint32_t zygote_forks;
    uint64_t memory_capacity_bytes; /* 0: found out */
    uint64_t cpu_capacity_milli;    /* 0: found out */
    uint32_t slots;                 /* network slots that are made ahead */
    struct ip_prefix slot_range, slot_range6;
    uint32_t forbidden_count;
    struct ip_prefix forbidden[NET_MAX_FORBIDDEN];
    const char *resolver_socket; /* NULL: none */
    bool has_resolver_uid;
    uid_t resolver_uid;
    int resolver_fd; /* -1 without --resolver-fd */
    enum log_level log_level;
    enum log_format log_format;
};

enum options_action { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION };

extern const char options_help[];

/* An enum options_action, or -EINVAL with what is wrong. The strings are argv's own. */
int options_parse(int argc, char *argv[], struct options *ret_options, struct error *err);

/* "512Mi", "2Gi", "1073741824": bytes. "2", "1500m": thousandths of a CPU. -EINVAL, -ERANGE. */
int options_parse_bytes(const char *text, uint64_t *ret_bytes);
int options_parse_cpu(const char *text, uint64_t *ret_milli);
