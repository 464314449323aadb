/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/options.h"

#include "common/cleanup.h"
#include "common/parse.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <string.h>

const char options_run_help[] =
    "usage: sandboxrun run [OPTION...] FILE...|- [-- ARG...]\n"
    "\n"
    "Runs each SandboxRun in a single-use sandbox on this machine, without a cluster. Needs root.\n"
    "FILE holds one or many SandboxRun documents (YAML or JSON), or is a Python program if its\n"
    "name ends with .py; - reads documents from stdin. All are checked before the first starts.\n"
    "\n"
    "For Python programs (a document says these itself, in the field named behind):\n"
    "  --profile NAME       Snippet or ToolCall (spec.profile; default Snippet)\n"
    "  --runtime NAME       root file system to run in (spec.runtime; default python3.12)\n"
    "  --timeout DURATION   such as 20, 20s or 1m (spec.timeoutSeconds; default by profile)\n"
    "  --memory QUANTITY    such as 256Mi (spec.resources.limits.memory; default by profile)\n"
    "  --cpu QUANTITY       such as 500m (spec.resources.limits.cpu; default by profile)\n"
    "  --env NAME=VALUE     an environment variable, repeatable (spec.env; default none)\n"
    "  --stdin FILE|-       what the program reads from stdin (spec.stdin; default empty)\n"
    "  -- ARG...            arguments of the program (spec.args)\n"
    "\n"
    "Output:\n"
    "  -o, --output FORMAT  yaml or json: print the objects with their status when all have\n"
    "                       ended (several as YAML documents, or as a JSON List) instead of the\n"
    "                       programs' output\n"
    "  -q, --quiet          only the programs' output, and errors of our own\n"
    "      --raw            leave control bytes as they are when writing to a terminal, where\n"
    "                       they are shown as ^X otherwise\n"
    "      --parallel N     how many run at the same time (1 to 256; default: number of CPUs).\n"
    "                       A single run, or --parallel 1, shows output as it comes; of several\n"
    "                       at once each shows what status keeps of it (64 KiB of each stream)\n"
    "                       when it has ended\n"
    "\n"
    "This machine:\n"
    "  --jailer PATH        the sandboxrun-jailer to start (default: beside this program, or in\n"
    "                       ../libexec)\n"
    "  --runtimes-dir DIR   where the runtimes are (default: runtimes of the build directory, or\n"
    "                       /usr/lib/sandboxrun/runtimes)\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit code: the program's own, 128 + n if signal n ended it. Of several runs, that of the\n"
    "first in the order given which did not succeed.\n"
    "  2        wrong usage\n"
    "  124      DeadlineExceeded\n"
    "  125      refused (bad input, no root, a lock that can't be set), output beyond 64 MiB, or\n"
    "           ended by the platform for another reason\n"
    "  129, 130, 143  cancelled by SIGHUP, SIGINT, SIGTERM\n"
    "  137      OOMKilled (or the program was ended by SIGKILL)\n"
    "  159      ForbiddenSyscall\n";

/* Beyond the range of short options. */
enum option_id {
    OPTION_PROFILE = 256,
    OPTION_RUNTIME,
    OPTION_TIMEOUT,
    OPTION_MEMORY,
    OPTION_CPU,
    OPTION_ENV,
    OPTION_STDIN,
    OPTION_RAW,
    OPTION_PARALLEL,
    OPTION_JAILER,
    OPTION_RUNTIMES_DIR,
};

static const struct option long_options[] = {
    {"profile", required_argument, NULL, OPTION_PROFILE},
    {"runtime", required_argument, NULL, OPTION_RUNTIME},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"memory", required_argument, NULL, OPTION_MEMORY},
    {"cpu", required_argument, NULL, OPTION_CPU},
    {"env", required_argument, NULL, OPTION_ENV},
    {"stdin", required_argument, NULL, OPTION_STDIN},
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {"raw", no_argument, NULL, OPTION_RAW},
    {"parallel", required_argument, NULL, OPTION_PARALLEL},
    {"jailer", required_argument, NULL, OPTION_JAILER},
    {"runtimes-dir", required_argument, NULL, OPTION_RUNTIMES_DIR},
    {"help", no_argument, NULL, 'h'},
    {0},
};

int options_timeout(const char *text, uint64_t *ret_seconds, struct error *err)
{
    uint64_t ms;
    if (parse_duration_ms(text, &ms) < 0)
        return error_set(err, EINVAL, "--timeout %s: must be a duration such as 20, 20s or 1m",
                         text);
    if (ms % 1000 != 0)
        return error_set(err, EINVAL, "--timeout %s: must be whole seconds", text);
    *ret_seconds = ms / 1000;
    return 0;
}

bool options_is_program(const char *path)
{
    size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".py") == 0;
}

static uint32_t default_parallel(void)
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
        return 1;
    int count = CPU_COUNT(&cpus);
    return count < 1 ? 1 : count > (int)MAX_PARALLEL ? MAX_PARALLEL : (uint32_t)count;
}

/* Text options of a program: where each goes. */
static const char **program_slot(struct program_options *program, int id)
{
    switch (id) {
    case OPTION_PROFILE:
        return &program->profile;
    case OPTION_RUNTIME:
        return &program->runtime;
    case OPTION_TIMEOUT:
        return &program->timeout;
    case OPTION_MEMORY:
        return &program->memory;
    case OPTION_CPU:
        return &program->cpu;
    case OPTION_STDIN:
        return &program->stdin_path;
    default:
        return NULL;
    }
}

static const char *option_name(int id)
{
    for (const struct option *o = long_options; o->name; o++) {
        if (o->val == id)
            return o->name;
    }
    return "?";
}

static int set_env(struct program_options *program, const char *text, struct error *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return error_set(err, EINVAL, "--env %s: must be NAME=VALUE", text);
    program->env[program->env_count++] = text;
    return 0;
}

static int set_format(struct run_options *options, const char *text, struct error *err)
{
    if (strcmp(text, "yaml") == 0)
        options->format = OUTPUT_YAML;
    else if (strcmp(text, "json") == 0)
        options->format = OUTPUT_JSON;
    else
        return error_set(err, EINVAL, "--output %s: must be yaml or json", text);
    return 0;
}

static int set_parallel(struct run_options *options, const char *text, struct error *err)
{
    uint64_t value;
    if (parse_u64(text, 1, MAX_PARALLEL, &value) < 0)
        return error_set(err, EINVAL, "--parallel %s: must be a number from 1 to %u", text,
                         MAX_PARALLEL);
    options->parallel = (uint32_t)value;
    return 0;
}

static int set_option(struct run_options *options, int id, const char *text, struct error *err)
{
    const char **slot = program_slot(&options->program, id);
    if ((slot || id == OPTION_ENV) && !options->program.first_given)
        options->program.first_given = option_name(id);
    if (slot && *slot)
        return error_set(err, EINVAL, "--%s is given twice", option_name(id));
    if (slot) {
        uint64_t seconds;
        *slot = text;
        return id == OPTION_TIMEOUT ? options_timeout(text, &seconds, err) : 0;
    }
    switch (id) {
    case OPTION_ENV:
        return set_env(&options->program, text, err);
    case 'o':
        return set_format(options, text, err);
    case OPTION_PARALLEL:
        return set_parallel(options, text, err);
    case OPTION_JAILER:
        options->jailer = text;
        return 0;
    case OPTION_RUNTIMES_DIR:
        options->runtimes_dir = text;
        return 0;
    case OPTION_RAW:
        options->raw = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    default:
        options->help = true;
        return 0;
    }
}

static int bad_option(int problem, char **argv, struct error *err)
{
    const char *word = argv[optind - 1];
    bool is_long = strncmp(word, "--", 2) == 0;
    if (problem == ':')
        return error_set(err, EINVAL, "option %s needs a value", word);
    if (!is_long)
        return error_set(err, EINVAL, "unknown option -%c", optopt);
    /* A known option with "=value" behind it that takes none has its value in optopt. */
    if (optopt != 0)
        return error_set(err, EINVAL, "option %s takes no value", word);
    return error_set(err, EINVAL, "unknown option %s", word);
}

static int check_inputs(const struct run_options *options, struct error *err)
{
    size_t stdins = options->program.stdin_path && strcmp(options->program.stdin_path, "-") == 0;
    const char *document = NULL;
    for (size_t i = 0; options->inputs[i]; i++) {
        if (!document && !options_is_program(options->inputs[i]))
            document = options->inputs[i];
        if (strcmp(options->inputs[i], "-") == 0)
            stdins++;
    }
    if (options->input_count == 0)
        return error_set(err, EINVAL, "name a FILE to run, or - for stdin");
    if (stdins > 1)
        return error_set(err, EINVAL, "stdin can be read once: only one FILE or --stdin can be -");
    if (document && options->program.first_given)
        return error_set(err, EINVAL,
                         "--%s is for .py programs, and %s holds SandboxRun documents: set it "
                         "there, or leave the option out",
                         options->program.first_given, document);
    if (document && options->program.arg_count > 0)
        return error_set(err, EINVAL,
                         "arguments after -- are for .py programs, and %s holds SandboxRun "
                         "documents: set spec.args there, or leave them out",
                         document);
    return 0;
}

static int add_input(struct run_options *options, const char *path, struct error *err)
{
    if (options->input_count == MAX_INPUTS)
        return error_set(err, EINVAL, "at most %u files in one call", MAX_INPUTS);
    if (path[0] == '\0')
        return error_set(err, EINVAL, "a FILE has an empty name");
    options->inputs[options->input_count++] = path;
    return 0;
}

int options_parse(int argc, char **argv, struct run_options *ret_options, struct error *err)
{
    *ret_options = (struct run_options){.parallel = default_parallel()};
    /* No more of either than there are words. */
    ret_options->inputs = calloc((size_t)argc + 1, sizeof(*ret_options->inputs));
    ret_options->program.env = calloc((size_t)argc + 1, sizeof(*ret_options->program.env));
    if (!ret_options->inputs || !ret_options->program.env)
        return error_set_errno(err, ENOMEM, "options");

    optind = 0;
    opterr = 0;
    /* "-" keeps the order, so that files before "--" and arguments behind it don't mix. */
    for (;;) {
        int id = getopt_long(argc, argv, "-:o:qh", long_options, NULL);
        int r = 0;
        if (id == -1)
            break;
        if (id == '?' || id == ':')
            return bad_option(id, argv, err);
        if (id == 1)
            r = add_input(ret_options, optarg, err);
        else
            r = set_option(ret_options, id, optarg, err);
        if (r < 0)
            return r;
        if (ret_options->help)
            return 0;
    }
    ret_options->program.args = argv + optind;
    ret_options->program.arg_count = (size_t)(argc - optind);
    return check_inputs(ret_options, err);
}

void options_done(struct run_options *options)
{
    free(options->inputs);
    free(options->program.env);
    *options = (struct run_options){0};
}
