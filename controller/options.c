/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/options.h"

#include "common/api/limits.h"
#include "common/options.h"
#include "common/parse.h"
#include "controller/options_bounds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_TTL_SECONDS 600

const char *arg_kubeconfig;
const char *arg_health_address;
const char *arg_lease_namespace;
struct lease_times arg_lease_times = {.duration_ms = DEFAULT_LEASE_DURATION_MS,
                                      .renew_ms = DEFAULT_LEASE_RENEW_MS};
bool arg_leader_elect = true;
struct leader_times arg_leader_times = {.lease_ms = DEFAULT_LEADER_LEASE_MS,
                                        .renew_ms = DEFAULT_LEADER_RENEW_MS,
                                        .retry_ms = DEFAULT_LEADER_RETRY_MS};
int64_t arg_ttl_seconds = DEFAULT_TTL_SECONDS;
enum log_level arg_log_level = LOG_LEVEL_INFO;

enum {
    OPTION_KUBECONFIG = 256,
    OPTION_TTL,
    OPTION_BOUND,
    OPTION_LOG_LEVEL,
    OPTION_HEALTH,
    OPTION_LEASE_NAMESPACE,
    OPTION_LEASE_DURATION,
    OPTION_LEASE_RENEW,
    OPTION_LEADER_ELECT,
    OPTION_LEADER_LEASE,
    OPTION_LEADER_RENEW,
    OPTION_LEADER_RETRY,
    OPTION_HELP,
    OPTION_VERSION
};

static const char help[] =
    "sandboxrun-controller - assigns SandboxRuns to nodes and deletes finished ones\n"
    "\n"
    "Usage: sandboxrun-controller [OPTION]...\n"
    "\n"
    "  --kubeconfig FILE       API server and credentials; default: in-cluster configuration\n"
    "  --ttl-seconds-after-finished N\n"
    "                          when a finished run is deleted that doesn't say so itself by\n"
    "                          spec.ttlSecondsAfterFinished; default: 600\n" OPTIONS_BOUNDS_HELP
    "  --health-address ADDR   serve /healthz, /readyz and /metrics at HOST:PORT or :PORT;\n"
    "                          default: not served\n"
    "  --lease-namespace NAME  where the agents' heartbeats are, Leases of their nodes' names;\n"
    "                          default: the namespace of the token, or of the kubeconfig's context\n"
    "  --lease-duration DURATION\n"
    "                          a node whose lease has not changed for so long gets no new runs;\n"
    "                          its runs fail as NodeLost when they must be over too; at least three\n"
    "                          times the interval; default: 40s\n"
    "  --lease-renew-interval DURATION\n"
    "                          how often agents renew. Both must be what the agents are given;\n"
    "                          default: 10s\n"
    "  --leader-elect[=BOOL]   of several controllers one writes, and another stands by to take over;\n"
    "                          false: there is no other one; default: true\n"
    "  --leader-elect-lease-duration DURATION\n"
    "                          a leader not heard of for so long is replaced; default: 15s\n"
    "  --leader-elect-renew-deadline DURATION\n"
    "                          a leader that could not renew its lease for so long stops writing;\n"
    "                          shorter than the duration; default: 10s\n"
    "  --leader-elect-retry-period DURATION\n"
    "                          how often a leader renews, and others look; default: 2s. All three\n"
    "                          must be what the other controllers are given\n"
    "  --log-level LEVEL       debug, info, warn or error; default: info\n"
    "  --help                  print this text\n"
    "  --version               print the version\n"
    "\n"
    "Exit status: 0 after SIGTERM or SIGINT, 1 if it could not start, 2 for a wrong command line.\n";

static const struct option long_options[] = {
    {"kubeconfig", required_argument, NULL, OPTION_KUBECONFIG},
    {"ttl-seconds-after-finished", required_argument, NULL, OPTION_TTL},
    OPTIONS_BOUNDS(OPTION_BOUND){"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
    {"health-address", required_argument, NULL, OPTION_HEALTH},
    {"lease-namespace", required_argument, NULL, OPTION_LEASE_NAMESPACE},
    {"lease-duration", required_argument, NULL, OPTION_LEASE_DURATION},
    {"lease-renew-interval", required_argument, NULL, OPTION_LEASE_RENEW},
    {"leader-elect", optional_argument, NULL, OPTION_LEADER_ELECT},
    {"leader-elect-lease-duration", required_argument, NULL, OPTION_LEADER_LEASE},
    {"leader-elect-renew-deadline", required_argument, NULL, OPTION_LEADER_RENEW},
    {"leader-elect-retry-period", required_argument, NULL, OPTION_LEADER_RETRY},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

static int set_duration(const char *name, uint64_t *ms, struct error *err)
{
    int r = lease_times_parse(name, optarg, ms, err);
    return r < 0 ? r : 1;
}

static int set_leader_elect(struct error *err)
{
    arg_leader_elect = !optarg || strcmp(optarg, "true") == 0;
    if (!arg_leader_elect && strcmp(optarg, "false") != 0)
        return error_set(err, EINVAL, "--leader-elect: \"%.64s\" is neither true nor false",
                         optarg);
    return 1;
}

static int set_option(int option, const char *name, struct error *err)
{
    switch (option) {
    case OPTION_KUBECONFIG:
        arg_kubeconfig = optarg;
        return 1;
    case OPTION_TTL:
        if (parse_i64(optarg, 0, MAX_TTL_SECONDS, &arg_ttl_seconds) < 0)
            return error_set(err, EINVAL,
                             "--ttl-seconds-after-finished: \"%.64s\" is no whole number from 0 to "
                             "%d",
                             optarg, MAX_TTL_SECONDS);
        return 1;
    case OPTION_BOUND:
        return options_set_bound(name, optarg, err);
    case OPTION_LOG_LEVEL:
        return options_set_log_level(&arg_log_level, err);
    case OPTION_HEALTH:
        arg_health_address = optarg;
        return 1;
    case OPTION_LEASE_NAMESPACE:
        if (!parse_is_dns_label(optarg))
            return error_set(err, EINVAL, "--lease-namespace: \"%.64s\" is no name of a namespace",
                             optarg);
        arg_lease_namespace = optarg;
        return 1;
    case OPTION_LEASE_DURATION:
        return set_duration(name, &arg_lease_times.duration_ms, err);
    case OPTION_LEASE_RENEW:
        return set_duration(name, &arg_lease_times.renew_ms, err);
    case OPTION_LEADER_ELECT:
        return set_leader_elect(err);
    case OPTION_LEADER_LEASE:
        return set_duration(name, &arg_leader_times.lease_ms, err);
    case OPTION_LEADER_RENEW:
        return set_duration(name, &arg_leader_times.renew_ms, err);
    case OPTION_LEADER_RETRY:
        return set_duration(name, &arg_leader_times.retry_ms, err);
    case OPTION_HELP:
        (void)fputs(help, stdout);
        return 0;
    case OPTION_VERSION:
        (void)puts("sandboxrun-controller " SANDBOXRUN_VERSION);
        return 0;
    default:
        return -EINVAL;
    }
}

int options_parse(int argc, char **argv, struct error *err)
{
    int r = options_walk(argc, argv, long_options, set_option, err);
    if (r == 1 && (lease_times_check(&arg_lease_times, err) < 0 ||
                   leader_times_check(&arg_leader_times, err) < 0))
        return -EINVAL;
    return r;
}
