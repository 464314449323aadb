/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/options.h"

#include "common/cleanup.h"

#include <ctype.h>
#include <getopt.h>
#include <stdbool.h>
#include <string.h>

const char options_usage[] =
    "Usage: sandboxrun-seccomp COMMAND FILE [OPTION...]\n"
    "\n"
    "Reads a seccomp policy (the JSON format of the OCI runtime specification) and\n"
    "\n"
    "  count FILE             prints how many system calls it allows\n"
    "  explain FILE           prints a table: name, action, condition, reason\n"
    "  compile FILE --output OUT\n"
    "                         makes it into a filter program\n"
    "  exec FILE -- COMMAND [ARG...]\n"
    "                         runs a command under it, with no other lock\n"
    "\n"
    "  names --output OUT     makes the table of system call names, without a policy\n"
    "\n"
    "Options:\n"
    "      --arch ARCH        x86_64 or aarch64; the default is this machine's (not for exec)\n"
    "  -o, --output OUT       the file to write; - is standard output\n"
    "      --format FORMAT    c: a C file that defines a struct seccomp_policy (default);\n"
    "                         raw: the instructions as the kernel reads them, with nothing\n"
    "                         reported\n"
    "      --symbol NAME      its name in C; the default is seccomp_policy_ and the file's name\n"
    "  -h, --help             this text\n"
    "\n"
    "Exit status: 0 done; 1 the policy is wrong, or a file can't be read or written; 2 a wrong\n"
    "option; exec ends with the status of its command, 126 or 127 if that can't be started.\n";

static const struct {
    const char *name;
    enum command command;
} commands[] = {
    {"count", COMMAND_COUNT}, {"explain", COMMAND_EXPLAIN}, {"compile", COMMAND_COMPILE},
    {"exec", COMMAND_EXEC},   {"names", COMMAND_NAMES},
};

enum {
    OPTION_ARCH = 256,
    OPTION_FORMAT,
    OPTION_SYMBOL,
};

static const struct option long_options[] = {
    {"arch", required_argument, NULL, OPTION_ARCH},
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"symbol", required_argument, NULL, OPTION_SYMBOL},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static bool is_c_identifier(const char *text)
{
    if (!isalpha((unsigned char)*text))
        return false;
    for (; *text; text++) {
        if (!isalnum((unsigned char)*text) && *text != '_')
            return false;
    }
    return true;
}

/* Options that not every command takes. */
struct given {
    bool output;
    bool compile_only;
};

static int parse_option(int option, struct options *options, struct given *given, struct error *err)
{
    switch (option) {
    case OPTION_ARCH:
        if (arch_from_name(optarg, &options->arch) < 0)
            return error_set(err, EINVAL, "--arch is x86_64 or aarch64, not '%s'", optarg);
        return 0;
    case 'o':
        options->output = optarg;
        given->output = true;
        return 0;
    case OPTION_FORMAT:
        if (strcmp(optarg, "c") != 0 && strcmp(optarg, "raw") != 0)
            return error_set(err, EINVAL, "--format is c or raw, not '%s'", optarg);
        options->format = *optarg == 'c' ? OUTPUT_FORMAT_C : OUTPUT_FORMAT_RAW;
        break;
    case OPTION_SYMBOL:
        if (!is_c_identifier(optarg))
            return error_set(err, EINVAL, "--symbol '%s' is no name in C", optarg);
        options->symbol = optarg;
        break;
    case 'h':
        options->command = COMMAND_HELP;
        return 0;
    default:
        return error_set(err, EINVAL, "unknown option, or one without its value");
    }
    given->compile_only = true;
    return 0;
}

static int parse_command(const char *name, enum command *ret_command, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        if (strcmp(name, commands[i].name) == 0) {
            *ret_command = commands[i].command;
            return 0;
        }
    }
    return error_set(err, EINVAL, "unknown command '%s'", name);
}

/* What fits together: checked when all options are known. */
static int check(struct options *options, int n_operands, const struct given *given,
                 struct error *err)
{
    bool makes_file = options->command == COMMAND_COMPILE || options->command == COMMAND_NAMES;

    if (options->command == COMMAND_NAMES && n_operands > 0)
        return error_set(err, EINVAL, "names takes no policy file");
    if (options->command != COMMAND_NAMES && n_operands == 0)
        return error_set(err, EINVAL, "no policy file");
    if (options->command != COMMAND_EXEC && n_operands > 1)
        return error_set(err, EINVAL, "one policy file at a time");
    if (options->command == COMMAND_EXEC && n_operands == 1)
        return error_set(err, EINVAL, "no command to run");
    if (options->command == COMMAND_EXEC && options->arch != arch_native())
        return error_set(err, EINVAL, "a command can't run on another architecture");
    if (!makes_file && given->output)
        return error_set(err, EINVAL, "--output is for compile and names");
    if (options->command != COMMAND_COMPILE && given->compile_only)
        return error_set(err, EINVAL, "--format and --symbol are for compile");
    if (makes_file && !options->output)
        return error_set(err, EINVAL, "compile and names need --output");
    if (options->symbol && options->format == OUTPUT_FORMAT_RAW)
        return error_set(err, EINVAL, "--symbol is for --format c");
    return 0;
}

int options_parse(int argc, char **argv, struct options *ret_options, struct error *err)
{
    struct options options = {.arch = arch_native()};
    struct given given = {0};
    int option, r;

    if (argc < 2)
        return error_set(err, EINVAL, "no command");
    if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
        ret_options->command = COMMAND_HELP;
        return 0;
    }
    r = parse_command(argv[1], &options.command, err);
    if (r < 0)
        return r;
    opterr = 0;
    optind = 2;
    while ((option = getopt_long(argc, argv, "o:h", long_options, NULL)) != -1) {
        r = parse_option(option, &options, &given, err);
        if (r < 0)
            return r;
    }
    if (options.command != COMMAND_HELP) {
        r = check(&options, argc - optind, &given, err);
        if (r < 0)
            return r;
        options.file = argv[optind];
        options.program = options.file ? &argv[optind + 1] : NULL;
    }
    *ret_options = options;
    return 0;
}
