/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/options.h"

#include "common/cleanup.h"
#include "common/parse.h"
#include "node-agent/jailer/limits.h"

#include <getopt.h>
#include <string.h>

const char options_help[] =
    "sandboxrun-jailer: makes and destroys the jails of one node agent.\n"
    "\n"
    "  --socket PATH --peer-uid UID   listen for the agent, which has this uid\n"
    "  --fd N                         serve the agent at the other end of this connected\n"
    "                                 SOCK_SEQPACKET socket, and end when it leaves\n"
    "  --check                        with --fd: look at every precondition of this machine, send\n"
    "                                 what was found, and end\n"
    "  --runtimes-dir DIR             root file systems, one directory for each\n"
    "  --spool-dir DIR                make it (0700) for the peer uid\n"
    "  --cgroup-parent NAME|self      cgroup at the root of the hierarchies, or below the own\n"
    "                                 one (sandboxrun); jailers with other names need other uids\n"
    "  --uid-base N                   first uid and gid for sandboxes (2000000000)\n"
    "  --uid-count N                  their number, for all jailers of the machine (65536)\n"
    "  --max-runs N                   sandboxes at a time (64, at most 512)\n"
    "  --pool-min N, --pool-max N     sandboxes that wait for runs of Snippet, for each runtime: the\n"
    "                                 fewest, and the most, to which runs that find none make it\n"
    "                                 grow (0, and as the fewest; 64Mi of memory are kept for each)\n"
    "  --pool-mode fork|fresh         what they start as: forks of an interpreter that has started, or\n"
    "                                 interpreters of their own (fork)\n"
    "  --zygote-modules NAME,...      what the one that is forked imports, where the runtime has it\n"
    "                                 (" DEFAULT_ZYGOTE_MODULES ")\n"
    "  --zygote-forks N               forks of one before it is replaced (10000), which it is every\n"
    "                                 hour too\n"
    "  --memory-capacity QUANTITY     memory for all sandboxes: bytes, or with Ki, Mi, Gi\n"
    "                                 (what the machine or the own cgroup has, less a reserve)\n"
    "  --cpu-capacity QUANTITY        CPUs for all sandboxes: 2, or 1500m (all)\n"
    "  --resolver-socket PATH --resolver-uid UID\n"
    "                                 listen for the resolver of ToolCall sandboxes, which has this\n"
    "                                 uid; without it or --resolver-fd there are none\n"
    "  --resolver-fd N                the resolver is at the other end of this connected\n"
    "                                 SOCK_SEQPACKET socket\n"
    "  --slots N                      network slots made ahead for ToolCall (16; with --fd 0; at\n"
    "                                 most 128)\n"
    "  --slot-range PREFIX            their IPv4 addresses, for all jailers of a network namespace\n"
    "                                 (" NET_DEFAULT_RANGE4 ")\n"
    "  --slot-range6 PREFIX           their IPv6 addresses, a /112 (" NET_DEFAULT_RANGE6 ")\n"
    "  --forbid PREFIX                no sandbox connects there, besides where none ever may; to be\n"
    "                                 given for each range of Pods, Services and nodes (at most 64)\n"
    "  --log-level LEVEL              debug, info, warn or error (info)\n"
    "  --log-format FORMAT            json or text (json)\n"
    "  --help, --version\n"
    "\n"
    "Needs root with CAP_SYS_ADMIN and a few more, nft(8) and CAP_NET_ADMIN for ToolCall, and a\n"
    "writable cgroup file system; --check, by way of `sandboxrun doctor`, tells what is missing.\n"
    "A jailer with --socket that lacks something says so to each agent, offers nothing, looks\n"
    "again every 10 s, and ends once nothing is missing any more, to be started anew.\n"
    "Exit status: 0 told to stop or the agent left, 1 something is missing or failed, 2 usage.\n";

struct suffix {
    const char *text;
    unsigned int shift;
};

static const struct suffix suffixes[] = {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}};

/* The digits at the front of text, as a number. */
static int parse_front(const char *text, size_t digits, uint64_t *ret_value)
{
    char number[24];
    if (digits >= sizeof(number))
        return -ERANGE;
    memcpy(number, text, digits);
    number[digits] = '\0';
    return parse_u64(number, 0, INT64_MAX, ret_value);
}

int options_parse_bytes(const char *text, uint64_t *ret_bytes)
{
    size_t digits = strspn(text, "0123456789");
    uint64_t value = 0;
    int r = parse_front(text, digits, &value);
    if (r < 0)
        return r;
    unsigned int shift = 0;
    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        if (strcmp(text + digits, suffixes[i].text) == 0)
            shift = suffixes[i].shift;
    }
    if (text[digits] != '\0' && shift == 0)
        return -EINVAL;
    if (value > (uint64_t)INT64_MAX >> shift)
        return -ERANGE;
    *ret_bytes = value << shift;
    return 0;
}

int options_parse_cpu(const char *text, uint64_t *ret_milli)
{
    size_t digits = strspn(text, "0123456789");
    uint64_t value = 0;
    int r = parse_front(text, digits, &value);
    if (r < 0)
        return r;
    bool milli = strcmp(text + digits, "m") == 0;
    if (text[digits] != '\0' && !milli)
        return -EINVAL;
    if (value > INT32_MAX / 1000)
        return -ERANGE;
    *ret_milli = milli ? value : value * 1000;
    return 0;
}

#define NOT_GIVEN UINT32_MAX

enum option_kind {
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_STRING,
    OPTION_NAME,
    OPTION_FLAG,
    OPTION_U32,
    OPTION_FD,
    OPTION_UID,
    OPTION_BYTES,
    OPTION_CPU,
    OPTION_RANGE4,
    OPTION_RANGE6,
    OPTION_PREFIX,
    OPTION_LEVEL,
    OPTION_FORMAT,
    OPTION_POOL_MODE,
    OPTION_MODULES,
};

struct option_rule {
    const char *name;
    enum option_kind kind;
    size_t offset; /* in struct options */
    uint32_t min, max;
};

#define FIELD(member) offsetof(struct options, member)

/* 65536: below lie the ids of real users; 4294967294: the last one is no id. */
static const struct option_rule rules[] = {
    {"help", OPTION_HELP, 0, 0, 0},
    {"version", OPTION_VERSION, 0, 0, 0},
    {"socket", OPTION_STRING, FIELD(socket_path), 0, 0},
    {"peer-uid", OPTION_UID, FIELD(peer_uid), 0, UINT32_MAX - 1},
    {"fd", OPTION_FD, FIELD(fd), 3, INT32_MAX},
    {"check", OPTION_FLAG, FIELD(check), 0, 0},
    {"runtimes-dir", OPTION_STRING, FIELD(runtimes_dir), 0, 0},
    {"spool-dir", OPTION_STRING, FIELD(spool_dir), 0, 0},
    {"cgroup-parent", OPTION_NAME, FIELD(cgroup_parent), 0, 0},
    {"uid-base", OPTION_U32, FIELD(uid_base), 65536, UINT32_MAX - 1},
    {"uid-count", OPTION_U32, FIELD(uid_count), MAX_UID_PARTS, UINT32_MAX - 65536},
    {"max-runs", OPTION_U32, FIELD(max_runs), 1, MAX_SANDBOXES},
    {"pool-min", OPTION_U32, FIELD(pool_min), 0, MAX_SANDBOXES},
    {"pool-max", OPTION_U32, FIELD(pool_max), 0, MAX_SANDBOXES},
    {"pool-mode", OPTION_POOL_MODE, FIELD(forks), 0, 0},
    {"zygote-modules", OPTION_MODULES, FIELD(zygote_modules), 0, 0},
    {"zygote-forks", OPTION_U32, FIELD(zygote_forks), 1, UINT32_MAX},
    {"memory-capacity", OPTION_BYTES, FIELD(memory_capacity_bytes), 0, 0},
    {"cpu-capacity", OPTION_CPU, FIELD(cpu_capacity_milli), 0, 0},
    {"resolver-socket", OPTION_STRING, FIELD(resolver_socket), 0, 0},
    {"resolver-uid", OPTION_UID, FIELD(resolver_uid), 0, UINT32_MAX - 1},
    {"resolver-fd", OPTION_FD, FIELD(resolver_fd), 3, INT32_MAX},
    {"slots", OPTION_U32, FIELD(slots), 0, NET_MAX_SLOTS},
    {"slot-range", OPTION_RANGE4, FIELD(slot_range), 0, 0},
    {"slot-range6", OPTION_RANGE6, FIELD(slot_range6), 0, 0},
    {"forbid", OPTION_PREFIX, FIELD(forbidden), 0, 0},
    {"log-level", OPTION_LEVEL, FIELD(log_level), 0, 0},
    {"log-format", OPTION_FORMAT, FIELD(log_format), 0, 0},
};

static int store_number(const struct option_rule *rule, const char *value, struct options *options)
{
    void *at = (char *)options + rule->offset;
    uint64_t number = 0;
    int r = 0;
    if (rule->kind == OPTION_BYTES || rule->kind == OPTION_CPU) {
        r = rule->kind == OPTION_BYTES ? options_parse_bytes(value, &number)
                                       : options_parse_cpu(value, &number);
        if (r >= 0 && number == 0)
            r = -ERANGE;
        if (r >= 0)
            memcpy(at, &number, sizeof(number));
        return r;
    }
    r = parse_u64(value, rule->min, rule->max, &number);
    if (r < 0)
        return r;
    uint32_t narrow = (uint32_t)number;
    memcpy(at, &narrow, sizeof(narrow));
    if (at == &options->peer_uid)
        options->has_peer_uid = true;
    if (at == &options->resolver_uid)
        options->has_resolver_uid = true;
    return 0;
}

static int store_format(const char *value, enum log_format *ret_format)
{
    if (strcmp(value, "json") == 0)
        *ret_format = LOG_FORMAT_JSON;
    else if (strcmp(value, "text") == 0)
        *ret_format = LOG_FORMAT_TEXT;
    else
        return -EINVAL;
    return 0;
}

static int store_pool_mode(const char *value, bool *ret_forks)
{
    *ret_forks = strcmp(value, "fork") == 0;
    return *ret_forks || strcmp(value, "fresh") == 0 ? 0 : -EINVAL;
}

/* Names as Python's import statement has them, between commas; none at all, too. */
static int store_modules(const char *value, const char **ret_modules)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,";
    if (strlen(value) >= MAX_ZYGOTE_MODULES || value[strspn(value, allowed)] != '\0')
        return -EINVAL;
    *ret_modules = value;
    return 0;
}

static int store_prefix(const struct option_rule *rule, const char *value, struct options *options,
                        struct error *err)
{
    struct ip_prefix prefix;
    int r = ip_prefix_parse(value, true, &prefix, err);
    if (r >= 0 && rule->kind == OPTION_RANGE4)
        r = net_plan_check_range4(&prefix, err);
    if (r >= 0 && rule->kind == OPTION_RANGE6)
        r = net_plan_check_range6(&prefix, err);
    if (r >= 0 && rule->kind == OPTION_PREFIX && options->forbidden_count == NET_MAX_FORBIDDEN)
        r = error_set(err, EINVAL, "at most %u can be given", NET_MAX_FORBIDDEN);
    if (r < 0)
        return error_wrap(err, "--%s", rule->name);
    if (rule->kind == OPTION_PREFIX)
        options->forbidden[options->forbidden_count++] = prefix;
    else
        memcpy((char *)options + rule->offset, &prefix, sizeof(prefix));
    return 0;
}

static int store(const struct option_rule *rule, const char *value, struct options *options,
                 struct error *err)
{
    void *at = (char *)options + rule->offset;
    int r = 0;
    if (rule->kind == OPTION_RANGE4 || rule->kind == OPTION_RANGE6 || rule->kind == OPTION_PREFIX)
        return store_prefix(rule, value, options, err);
    if (rule->kind == OPTION_STRING || rule->kind == OPTION_NAME) {
        if (value[0] == '\0' || (rule->kind == OPTION_NAME && !parse_is_dns_subdomain(value)))
            r = -EINVAL;
        memcpy(at, &value, sizeof(value));
    } else if (rule->kind == OPTION_FLAG) {
        memcpy(at, &(bool){true}, sizeof(bool));
    } else if (rule->kind == OPTION_LEVEL) {
        r = log_level_parse(value, &options->log_level);
    } else if (rule->kind == OPTION_FORMAT) {
        r = store_format(value, &options->log_format);
    } else if (rule->kind == OPTION_POOL_MODE) {
        r = store_pool_mode(value, &options->forks);
    } else if (rule->kind == OPTION_MODULES) {
        r = store_modules(value, &options->zygote_modules);
    } else {
        r = store_number(rule, value, options);
    }
    if (r == -ERANGE)
        return error_set(err, EINVAL, "--%s %s is out of range", rule->name, value);
    if (r < 0)
        return error_set(err, EINVAL, "--%s can't be \"%s\"; see --help", rule->name, value);
    return 0;
}

static int check(const struct options *options, struct error *err)
{
    if (!options->socket_path == (options->fd < 0))
        return error_set(err, EINVAL, "give either --socket or --fd");
    if (options->check && options->fd < 0)
        return error_set(err, EINVAL, "--check needs --fd: where to send what was found");
    if (options->socket_path && !options->has_peer_uid)
        return error_set(err, EINVAL, "--socket needs --peer-uid: the one uid that may connect");
    if (options->spool_dir && !options->has_peer_uid)
        return error_set(err, EINVAL, "--spool-dir needs --peer-uid: the uid that owns it");
    if (!options->resolver_socket != !options->has_resolver_uid)
        return error_set(err, EINVAL, "give --resolver-socket and --resolver-uid together");
    if (options->resolver_socket && options->resolver_fd >= 0)
        return error_set(err, EINVAL, "give either --resolver-socket or --resolver-fd");
    if (options->pool_min > options->pool_max)
        return error_set(err, EINVAL, "--pool-min %u is more than --pool-max %u", options->pool_min,
                         options->pool_max);
    if (!options->runtimes_dir)
        return error_set(err, EINVAL, "--runtimes-dir is missing");
    if (options->uid_count > UINT32_MAX - 1 - options->uid_base)
        return error_set(err, EINVAL, "--uid-base %u with --uid-count %u goes beyond the last uid",
                         options->uid_base, options->uid_count);
    return 0;
}

static void set_defaults(struct options *ret_options)
{
    *ret_options = (struct options){
        .fd = -1,
        .resolver_fd = -1,
        .cgroup_parent = "sandboxrun",
        .uid_base = 2000000000,
        .uid_count = 65536,
        .max_runs = DEFAULT_SANDBOXES,
        .pool_max = NOT_GIVEN,
        .forks = true,
        .zygote_modules = DEFAULT_ZYGOTE_MODULES,
        .zygote_forks = DEFAULT_ZYGOTE_FORKS,
        .slots = NOT_GIVEN,
        .log_level = LOG_LEVEL_INFO,
        .log_format = LOG_FORMAT_JSON,
    };
    (void)ip_prefix_parse(NET_DEFAULT_RANGE4, true, &ret_options->slot_range, NULL);
    (void)ip_prefix_parse(NET_DEFAULT_RANGE6, true, &ret_options->slot_range6, NULL);
}

/* A single run would pay for what it never takes. */
static void resolve_defaults(struct options *options)
{
    if (options->slots == NOT_GIVEN)
        options->slots = options->fd >= 0 ? 0 : DEFAULT_SLOTS;
    if (options->pool_max == NOT_GIVEN)
        options->pool_max = options->pool_min;
}

int options_parse(int argc, char *argv[], struct options *ret_options, struct error *err)
{
    struct option long_options[ARRAY_SIZE(rules) + 1] = {0};
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        bool has_value = rules[i].kind != OPTION_HELP && rules[i].kind != OPTION_VERSION &&
                         rules[i].kind != OPTION_FLAG;
        long_options[i] = (struct option){.name = rules[i].name,
                                          .has_arg = has_value ? required_argument : no_argument};
    }
    struct options options;
    set_defaults(&options);
    optind = 0; /* glibc: start afresh */
    opterr = 0;
    for (;;) {
        int index = -1;
        int c = getopt_long(argc, argv, "+:", long_options, &index);
        if (c == -1)
            break;
        if (c == ':')
            return error_set(err, EINVAL, "%s needs a value", argv[optind - 1]);
        if (c != 0 || index < 0)
            return error_set(err, EINVAL, "unknown option %s; see --help", argv[optind - 1]);
        if (rules[index].kind == OPTION_HELP)
            return OPTIONS_HELP;
        if (rules[index].kind == OPTION_VERSION)
            return OPTIONS_VERSION;
        int r = store(&rules[index], optarg, &options, err);
        if (r < 0)
            return r;
    }
    if (optind < argc)
        return error_set(err, EINVAL, "unexpected argument %s", argv[optind]);
    resolve_defaults(&options);
    int r = check(&options, err);
    if (r < 0)
        return r;
    *ret_options = options;
    return OPTIONS_RUN;
}
