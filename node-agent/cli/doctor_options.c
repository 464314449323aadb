/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/doctor_options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

const char doctor_options_help[] =
    "usage: sandboxrun doctor [OPTION...]\n"
    "\n"
    "Looks at every precondition of this machine for making sandboxes: what was found, and what to\n"
    "do where something is missing. What only a trial can tell is tried; at the end a program runs\n"
    "in a sandbox of each runtime. Nothing of it is left. Needs root to see all of it.\n"
    "\n"
    "  -o, --output FORMAT  yaml or json: an object with `ok` and the list `checks`, each with\n"
    "                       name, level (required, recommended, information), outcome (ok,\n"
    "                       failed, skipped), figure and, where there is something to do, advice\n"
    "      --jailer PATH    the sandboxrun-jailer that looks (default: beside this program, or in\n"
    "                       ../libexec)\n"
    "      --runtimes-dir DIR\n"
    "                       where the runtimes are (default: runtimes of the build directory, or\n"
    "                       /usr/lib/sandboxrun/runtimes)\n"
    "  -h, --help           this text\n"
    "\n"
    "On a UTF-8 terminal a check is marked with a tick or, where it failed, with a cross if it is\n"
    "required, ! if it is recommended, i if it is for information; elsewhere with ok, FAIL, warn,\n"
    "info. A check that could not be made, since another one failed, has - or skip.\n"
    "\n"
    "Exit code:\n"
    "  0  all that is required is there\n"
    "  1  something required is missing, or could not be found out\n"
    "  2  wrong usage\n";

/* Beyond the range of short options. */
enum option_id { OPTION_JAILER = 256, OPTION_RUNTIMES_DIR };

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"jailer", required_argument, NULL, OPTION_JAILER},
    {"runtimes-dir", required_argument, NULL, OPTION_RUNTIMES_DIR},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static int set_format(struct doctor_options *options, const char *text, struct error *err)
{
    if (strcmp(text, "yaml") == 0)
        options->format = OUTPUT_YAML;
    else if (strcmp(text, "json") == 0)
        options->format = OUTPUT_JSON;
    else
        return error_set(err, EINVAL, "--output %s: must be yaml or json", text);
    return 0;
}

int doctor_options_parse(int argc, char **argv, struct doctor_options *ret_options,
                         struct error *err)
{
    struct doctor_options options = {.format = OUTPUT_STREAMS};
    optind = 0;
    opterr = 0;
    for (int id; (id = getopt_long(argc, argv, "+:o:h", long_options, NULL)) != -1;) {
        int r = 0;
        if (id == '?')
            return error_set(err, EINVAL, "unknown option %s", argv[optind - 1]);
        if (id == ':')
            return error_set(err, EINVAL, "option %s needs a value", argv[optind - 1]);
        if (id == 'o')
            r = set_format(&options, optarg, err);
        else if (id == OPTION_JAILER)
            options.jailer = optarg;
        else if (id == OPTION_RUNTIMES_DIR)
            options.runtimes_dir = optarg;
        else
            options.help = true;
        if (r < 0)
            return r;
    }
    if (optind < argc && !options.help)
        return error_set(err, EINVAL, "unexpected argument %s", argv[optind]);
    *ret_options = options;
    return 0;
}
