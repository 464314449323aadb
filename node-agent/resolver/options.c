/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/options.h"

#include "common/options.h"
#include "common/parse.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_PORT 5353u

const char *arg_jailer_socket;
int arg_jailer_fd = -1;
unsigned int arg_port;
struct upstreams arg_upstreams;
const char *arg_metrics_address;
enum log_level arg_log_level = LOG_LEVEL_INFO;
enum log_format arg_log_format = LOG_FORMAT_JSON;

static const char help[] =
    "sandboxrun-resolver: looks up public names for the sandboxes of one node.\n"
    "\n"
    "  --jailer-socket PATH     Unix socket of the node's jailer (its --resolver-socket)\n"
    "  --jailer-fd N            in place of it: a connected descriptor; ends when that ends\n"
    "  --port PORT              where it is asked, by UDP and TCP; 0: any, the jailer is told\n"
    "                           (5353; with --jailer-fd 0)\n"
    "  --upstream ADDR[:PORT]   server to ask; again for the next one, up to 8\n"
    "                           (default: the nameserver lines of /etc/resolv.conf)\n"
    "  --metrics-address ADDR   serve /healthz, /readyz and /metrics there: :PORT,\n"
    "                           1.2.3.4:PORT or [::1]:PORT (default: nowhere)\n"
    "  --log-level LEVEL        debug, info, warn or error (info); a line for each lookup at info\n"
    "  --log-format FORMAT      json or text (json)\n"
    "  --help, --version\n"
    "\n"
    "Answers A and AAAA, one question at a time, to the sandboxes that the jailer names, without\n"
    "addresses that no sandbox may reach. Of one run at most 256 names with 4096 bytes in all, and\n"
    "1024 questions, leave the node: what a tunnel through them could carry out is below 4 KiB a\n"
    "run, 33 bytes a second over the longest one. Needs no privilege; started as root it becomes\n"
    "uid 65533 first. Exit status: 0 told to stop, 1 something is missing, 2 usage.\n";

enum option_id {
    OPTION_JAILER_SOCKET = 1,
    OPTION_JAILER_FD,
    OPTION_PORT,
    OPTION_UPSTREAM,
    OPTION_METRICS,
    OPTION_LOG_LEVEL,
    OPTION_LOG_FORMAT,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"jailer-socket", required_argument, NULL, OPTION_JAILER_SOCKET},
    {"jailer-fd", required_argument, NULL, OPTION_JAILER_FD},
    {"port", required_argument, NULL, OPTION_PORT},
    {"upstream", required_argument, NULL, OPTION_UPSTREAM},
    {"metrics-address", required_argument, NULL, OPTION_METRICS},
    {"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
    {"log-format", required_argument, NULL, OPTION_LOG_FORMAT},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

static bool port_was_given;

static int set_number(const char *name, uint64_t least, uint64_t most, uint64_t *ret_value,
                      struct error *err)
{
    if (parse_u64(optarg, least, most, ret_value) < 0)
        return error_set(err, EINVAL, "--%s: \"%.64s\" is no number from %llu to %llu", name,
                         optarg, (unsigned long long)least, (unsigned long long)most);
    return 1;
}

static int set_log_format(struct error *err)
{
    bool json = strcmp(optarg, "json") == 0;
    if (!json && strcmp(optarg, "text") != 0)
        return error_set(err, EINVAL, "--log-format: \"%.64s\" is neither json nor text", optarg);
    arg_log_format = json ? LOG_FORMAT_JSON : LOG_FORMAT_TEXT;
    return 1;
}

static int set_port(const char *name, struct error *err)
{
    uint64_t value = 0;
    int r = set_number(name, 0, UINT16_MAX, &value, err);
    arg_port = (unsigned int)value;
    port_was_given = true;
    return r;
}

static int set_jailer_fd(const char *name, struct error *err)
{
    uint64_t value = 0;
    int r = set_number(name, 3, INT_MAX, &value, err);
    arg_jailer_fd = (int)value;
    return r;
}

static int set_option(int option, const char *name, struct error *err)
{
    switch (option) {
    case OPTION_HELP:
        (void)fputs(help, stdout);
        return 0;
    case OPTION_VERSION:
        (void)puts("sandboxrun-resolver " SANDBOXRUN_VERSION);
        return 0;
    case OPTION_JAILER_SOCKET:
        arg_jailer_socket = optarg;
        return 1;
    case OPTION_JAILER_FD:
        return set_jailer_fd(name, err);
    case OPTION_PORT:
        return set_port(name, err);
    case OPTION_UPSTREAM:
        return upstreams_add(&arg_upstreams, optarg, err) < 0 ? error_wrap(err, "--upstream") : 1;
    case OPTION_METRICS:
        arg_metrics_address = optarg;
        return 1;
    case OPTION_LOG_LEVEL:
        return options_set_log_level(&arg_log_level, err);
    default:
        return set_log_format(err);
    }
}

static int check(struct error *err)
{
    bool path = arg_jailer_socket && arg_jailer_socket[0], fd = arg_jailer_fd >= 0;
    if (path == fd)
        return error_set(err, EINVAL, "either --jailer-socket or --jailer-fd; see --help");
    if (!port_was_given)
        arg_port = fd ? 0 : DEFAULT_PORT;
    return 1;
}

int options_parse(int argc, char **argv, struct error *err)
{
    int r = options_walk(argc, argv, long_options, set_option, err);
    return r == 1 ? check(err) : r;
}
