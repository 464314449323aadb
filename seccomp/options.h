/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "seccomp/arch.h"

enum command {
    COMMAND_HELP,
    COMMAND_COUNT,
    COMMAND_EXPLAIN,
    COMMAND_COMPILE,
    COMMAND_EXEC,
    COMMAND_NAMES,
};

enum output_format {
    OUTPUT_FORMAT_C,
    OUTPUT_FORMAT_RAW,
};

struct options {
    enum command command;
    enum arch arch;
    const char *file;
    const char *output; /* compile, names; "-" is stdout */
    const char *symbol; /* compile --format c; NULL: from the file's name */
    enum output_format format;
    char **program; /* exec; ends with NULL */
};

extern const char options_usage[];

/* Reads the command line; texts stay those of argv. -EINVAL with what is wrong. */
int options_parse(int argc, char **argv, struct options *ret_options, struct error *err);
