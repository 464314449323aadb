/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/options.h"

#include "common/api/quantity.h"
#include "common/cleanup.h"
#include "common/net/ip_prefix.h"
#include "common/options.h"
#include "common/parse.h"

#include <errno.h>
#include <stdio.h>

#define DEFAULT_RETAIN_MS      (10u * 60 * 1000)
#define DEFAULT_RETAIN_BYTES   (256ull << 20)
#define DEFAULT_OUTPUT_ADDRESS ":8443"

/* The least holds one whole output with what belongs to it; nobody keeps one for longer. */
#define MIN_RETAIN_BYTES (16ull << 20)
#define MAX_RETAIN_BYTES (1ull << 50)
#define MAX_RETAIN_MS    (7ull * 24 * 3600 * 1000)

const char *arg_node_name;
const char *arg_jailer_socket;
const char *arg_spool_dir;
const char *arg_kubeconfig;
enum log_level arg_log_level = LOG_LEVEL_INFO;
const char *arg_health_address;
uint64_t arg_retain_output_ms = DEFAULT_RETAIN_MS;
uint64_t arg_retain_output_bytes = DEFAULT_RETAIN_BYTES;
const char *arg_output_address = DEFAULT_OUTPUT_ADDRESS;
const char *arg_output_host;
const char *arg_output_cert;
const char *arg_output_key;
const char *arg_lease_namespace;
struct lease_times arg_lease_times = {.duration_ms = DEFAULT_LEASE_DURATION_MS,
                                      .renew_ms = DEFAULT_LEASE_RENEW_MS};

static const char help[] =
    "sandboxrun-agent: runs the SandboxRuns that are assigned to one node.\n"
    "\n"
    "  --node-name NAME         name of the node, and of its SandboxNode\n"
    "  --jailer-socket PATH     Unix socket of the node's jailer\n"
    "  --spool-dir DIR          where started runs and results outlive the agent; the jailer\n"
    "                           makes it (its --spool-dir)\n"
    "  --kubeconfig FILE        how to reach the API server (default: as a Pod of its cluster)\n"
    "  --log-level LEVEL        debug, info, warn or error (info)\n"
    "  --health-address ADDR    serve /healthz, /readyz and /metrics there: :PORT,\n"
    "                           1.2.3.4:PORT or [::1]:PORT (default: nowhere)\n"
    "\n"
    "The whole output of ToolCall runs, up to 8 MiB each, is kept for a while after their end:\n"
    "  --retain-output DURATION for how long: 10m, 90s; 0: not at all (10m)\n"
    "  --retain-output-bytes QUANTITY\n"
    "                           how much of it on disk, in the spool; the oldest goes first\n"
    "                           (256Mi)\n"
    "  --output-address ADDR    serve it there over TLS, to bearers of tokens of the audience\n"
    "                           sandboxrun.dev who may get sandboxruns/log; \"\": nowhere (:8443)\n"
    "  --output-host HOST       name or address under which clients reach that port\n"
    "  --output-cert FILE, --output-key FILE\n"
    "                           its certificate, PEM, read again when it changes (default: one\n"
    "                           that is made at start and told in the SandboxNode's status.output)\n"
    "\n"
    "The node's heartbeat is a Lease of its name. Without it nothing is started here, and the\n"
    "controller gives up the node's runs; it must be given the same two durations:\n"
    "  --lease-renew-interval DURATION\n"
    "                           how often it is renewed; no run is started later than 1.5 times\n"
    "                           that after a renewal (10s)\n"
    "  --lease-duration DURATION\n"
    "                           after how long without it the node gets no new runs; at least\n"
    "                           three times the interval (40s)\n"
    "  --lease-namespace NAME   where it is (default: the namespace of the token, or of the\n"
    "                           kubeconfig's context)\n"
    "  --help, --version\n"
    "\n"
    "Needs no privilege. SIGTERM: no new work, what runs ends, results are written, exit.\n"
    "Exit status: 0 told to stop, 1 something is missing or the jailer was lost, 2 usage.\n";

enum option_id {
    OPTION_NODE_NAME = 1,
    OPTION_JAILER_SOCKET,
    OPTION_SPOOL_DIR,
    OPTION_KUBECONFIG,
    OPTION_LOG_LEVEL,
    OPTION_HEALTH,
    OPTION_RETAIN,
    OPTION_RETAIN_BYTES,
    OPTION_OUTPUT,
    OPTION_OUTPUT_HOST,
    OPTION_OUTPUT_CERT,
    OPTION_OUTPUT_KEY,
    OPTION_LEASE_NAMESPACE,
    OPTION_LEASE_DURATION,
    OPTION_LEASE_RENEW,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option_text {
    enum option_id option;
    const char **arg;
} texts[] = {
    {OPTION_NODE_NAME, &arg_node_name},
    {OPTION_JAILER_SOCKET, &arg_jailer_socket},
    {OPTION_SPOOL_DIR, &arg_spool_dir},
    {OPTION_KUBECONFIG, &arg_kubeconfig},
    {OPTION_HEALTH, &arg_health_address},
    {OPTION_OUTPUT_HOST, &arg_output_host},
    {OPTION_OUTPUT_CERT, &arg_output_cert},
    {OPTION_OUTPUT_KEY, &arg_output_key},
    {OPTION_LEASE_NAMESPACE, &arg_lease_namespace},
};

static const struct option long_options[] = {
    {"node-name", required_argument, NULL, OPTION_NODE_NAME},
    {"jailer-socket", required_argument, NULL, OPTION_JAILER_SOCKET},
    {"spool-dir", required_argument, NULL, OPTION_SPOOL_DIR},
    {"kubeconfig", required_argument, NULL, OPTION_KUBECONFIG},
    {"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
    {"health-address", required_argument, NULL, OPTION_HEALTH},
    {"retain-output", required_argument, NULL, OPTION_RETAIN},
    {"retain-output-bytes", required_argument, NULL, OPTION_RETAIN_BYTES},
    {"output-address", required_argument, NULL, OPTION_OUTPUT},
    {"output-host", required_argument, NULL, OPTION_OUTPUT_HOST},
    {"output-cert", required_argument, NULL, OPTION_OUTPUT_CERT},
    {"output-key", required_argument, NULL, OPTION_OUTPUT_KEY},
    {"lease-namespace", required_argument, NULL, OPTION_LEASE_NAMESPACE},
    {"lease-duration", required_argument, NULL, OPTION_LEASE_DURATION},
    {"lease-renew-interval", required_argument, NULL, OPTION_LEASE_RENEW},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

static int set_retain(struct error *err)
{
    uint64_t ms;

    if (parse_duration_ms(optarg, &ms) < 0 || ms > MAX_RETAIN_MS)
        return error_set(err, EINVAL,
                         "--retain-output: \"%.64s\" is not a duration such as 10m or 90s, of at "
                         "most 7 days; 0 keeps nothing",
                         optarg);
    arg_retain_output_ms = ms;
    return 1;
}

static int set_retain_bytes(struct error *err)
{
    uint64_t bytes;

    if (quantity_parse_bytes(optarg, &bytes) < 0 || bytes < MIN_RETAIN_BYTES ||
        bytes > MAX_RETAIN_BYTES)
        return error_set(err, EINVAL,
                         "--retain-output-bytes: \"%.64s\" is not a quantity such as 256Mi, of at "
                         "least 16Mi",
                         optarg);
    arg_retain_output_bytes = bytes;
    return 1;
}

static int set_option(int option, const char *name, struct error *err)
{
    if (option == OPTION_HELP) {
        (void)fputs(help, stdout);
        return 0;
    }
    if (option == OPTION_VERSION) {
        (void)puts("sandboxrun-agent " SANDBOXRUN_VERSION);
        return 0;
    }
    if (option == OPTION_LOG_LEVEL)
        return options_set_log_level(&arg_log_level, err);
    if (option == OPTION_RETAIN)
        return set_retain(err);
    if (option == OPTION_RETAIN_BYTES)
        return set_retain_bytes(err);
    if (option == OPTION_LEASE_DURATION || option == OPTION_LEASE_RENEW) {
        uint64_t *ms =
            option == OPTION_LEASE_RENEW ? &arg_lease_times.renew_ms : &arg_lease_times.duration_ms;
        int r = lease_times_parse(name, optarg, ms, err);
        return r < 0 ? r : 1;
    }
    if (option == OPTION_OUTPUT) {
        arg_output_address = optarg[0] ? optarg : NULL;
        return 1;
    }
    if (!optarg[0])
        return error_set(err, EINVAL, "--%s can't be empty", name);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        if ((int)texts[i].option == option)
            *texts[i].arg = optarg;
    }
    return 1;
}

static int check_output(struct error *err)
{
    struct ip_address address;

    if (!arg_output_cert != !arg_output_key)
        return error_set(err, EINVAL, "--output-cert and --output-key go together");
    if (arg_output_host && !parse_is_dns_subdomain(arg_output_host) &&
        ip_address_parse(arg_output_host, &address) < 0)
        return error_set(err, EINVAL, "--output-host: \"%.64s\" is no host name and no address",
                         arg_output_host);
    return 1;
}

static int check(struct error *err)
{
    static const struct {
        const char **arg;
        const char *name;
    } required[] = {
        {&arg_node_name, "--node-name"},
        {&arg_jailer_socket, "--jailer-socket"},
        {&arg_spool_dir, "--spool-dir"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(required); i++) {
        if (!*required[i].arg)
            return error_set(err, EINVAL, "%s is missing; see --help", required[i].name);
    }
    if (!parse_is_dns_subdomain(arg_node_name))
        return error_set(err, EINVAL,
                         "--node-name: \"%.64s\" is no name of a node: lower case letters, digits, "
                         "'-' and '.', at most 253",
                         arg_node_name);
    if (arg_lease_namespace && !parse_is_dns_label(arg_lease_namespace))
        return error_set(err, EINVAL, "--lease-namespace: \"%.64s\" is no name of a namespace",
                         arg_lease_namespace);
    int r = lease_times_check(&arg_lease_times, err);
    return r < 0 ? r : check_output(err);
}

int options_parse(int argc, char **argv, struct error *err)
{
    int r = options_walk(argc, argv, long_options, set_option, err);
    return r == 1 ? check(err) : r;
}
