/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/options.h"

#include "common/api/limits.h"
#include "common/parse.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#define DEFAULT_TTL_SECONDS 600

const char *arg_kubeconfig;
const char *arg_health_address;
int64_t arg_ttl_seconds = DEFAULT_TTL_SECONDS;
enum log_level arg_log_level = LOG_LEVEL_INFO;

enum {
    OPTION_KUBECONFIG = 256,
    OPTION_TTL,
    OPTION_LOG_LEVEL,
    OPTION_HEALTH,
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
    "                          spec.ttlSecondsAfterFinished; default: 600\n"
    "  --health-address ADDR   serve /healthz, /readyz and /metrics at HOST:PORT or :PORT;\n"
    "                          default: not served\n"
    "  --log-level LEVEL       debug, info, warn or error; default: info\n"
    "  --help                  print this text\n"
    "  --version               print the version\n"
    "\n"
    "Exit status: 0 after SIGTERM or SIGINT, 1 if it could not start, 2 for a wrong command line.\n";

static const struct option long_options[] = {
    {"kubeconfig", required_argument, NULL, OPTION_KUBECONFIG},
    {"ttl-seconds-after-finished", required_argument, NULL, OPTION_TTL},
    {"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
    {"health-address", required_argument, NULL, OPTION_HEALTH},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

static int set_option(int option, struct error *err)
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
    case OPTION_LOG_LEVEL:
        if (log_level_parse(optarg, &arg_log_level) < 0)
            return error_set(err, EINVAL,
                             "--log-level: \"%.64s\" is not one of debug, info, warn, error",
                             optarg);
        return 1;
    case OPTION_HEALTH:
        arg_health_address = optarg;
        return 1;
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
    opterr = 0;
    for (;;) {
        int option = getopt_long(argc, argv, ":", long_options, NULL);
        if (option == -1)
            break;
        if (option == ':')
            return error_set(err, EINVAL, "%.64s needs a value; see --help", argv[optind - 1]);
        if (option == '?')
            return error_set(err, EINVAL, "%.64s is no option; see --help", argv[optind - 1]);
        int r = set_option(option, err);
        if (r <= 0)
            return r;
    }
    if (optind < argc)
        return error_set(err, EINVAL, "%.64s: takes no arguments; see --help", argv[optind]);
    return 1;
}
