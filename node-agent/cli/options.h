/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/cli/cli_limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The options of `sandboxrun run`. Texts point into argv. */

enum output_format { OUTPUT_STREAMS, OUTPUT_YAML, OUTPUT_JSON };

/* What only a plain program can be given; a SandboxRun document says it itself. */
struct program_options {
    const char *profile;
    const char *runtime;
    const char *cpu;
    const char *memory;
    const char *timeout;
    const char *stdin_path; /* "-": our own stdin */
    const char **env;       /* NAME=VALUE, env_count of them */
    size_t env_count;
    char **args; /* what stands behind "--" */
    size_t arg_count;
    const char *first_given; /* name of the first such option, NULL if there is none */
};

struct run_options {
    bool help;
    const char **inputs; /* paths, "-" for stdin; input_count of them and a NULL */
    size_t input_count;
    struct program_options program;
    enum output_format format;
    bool quiet;
    bool raw;
    uint32_t parallel;
    const char *jailer;
    const char *runtimes_dir;
};

/* A plain program by its name: what ends with ".py". */
bool options_is_program(const char *path);

/* What --timeout says, in whole seconds. -EINVAL. */
int options_timeout(const char *text, uint64_t *ret_seconds, struct error *err);

/* Reads argv (argv[0] is the subcommand's name). -EINVAL names the option and the fix, -ENOMEM.
 * The caller frees with options_done() in either case. */
int options_parse(int argc, char **argv, struct run_options *ret_options, struct error *err);
void options_done(struct run_options *options);

extern const char options_run_help[];
