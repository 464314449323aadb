/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/options.h"

#include "common/cleanup.h"
#include "common/parse.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

const char *arg_node_name;
const char *arg_jailer_socket;
const char *arg_spool_dir;
const char *arg_kubeconfig;
enum log_level arg_log_level = LOG_LEVEL_INFO;
const char *arg_health_address;

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
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option_text {
    enum option_id option;
    const char **arg;
} texts[] = {
    {OPTION_NODE_NAME, &arg_node_name},   {OPTION_JAILER_SOCKET, &arg_jailer_socket},
    {OPTION_SPOOL_DIR, &arg_spool_dir},   {OPTION_KUBECONFIG, &arg_kubeconfig},
    {OPTION_HEALTH, &arg_health_address},
};

static const struct option long_options[] = {
    {"node-name", required_argument, NULL, OPTION_NODE_NAME},
    {"jailer-socket", required_argument, NULL, OPTION_JAILER_SOCKET},
    {"spool-dir", required_argument, NULL, OPTION_SPOOL_DIR},
    {"kubeconfig", required_argument, NULL, OPTION_KUBECONFIG},
    {"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
    {"health-address", required_argument, NULL, OPTION_HEALTH},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

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
    if (option == OPTION_LOG_LEVEL) {
        if (log_level_parse(optarg, &arg_log_level) < 0)
            return error_set(err, EINVAL,
                             "--log-level: \"%.64s\" is not one of debug, info, warn, error",
                             optarg);
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
    return 1;
}

int options_parse(int argc, char **argv, struct error *err)
{
    opterr = 0;
    for (;;) {
        int at = 0;
        int option = getopt_long(argc, argv, ":", long_options, &at);
        if (option == -1)
            break;
        if (option == ':')
            return error_set(err, EINVAL, "%.64s needs a value; see --help", argv[optind - 1]);
        if (option == '?')
            return error_set(err, EINVAL, "%.64s is no option; see --help", argv[optind - 1]);
        int r = set_option(option, long_options[at].name, err);
        if (r <= 0)
            return r;
    }
    if (optind < argc)
        return error_set(err, EINVAL, "%.64s: takes no arguments; see --help", argv[optind]);
    return check(err);
}
