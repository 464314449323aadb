/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/cli/options.h"

#include <stdbool.h>

/* The options of `sandboxrun doctor`. Texts point into argv. */
struct doctor_options {
    bool help;
    enum output_format format; /* OUTPUT_STREAMS: text for a person */
    const char *jailer;
    const char *runtimes_dir;
};

/* Reads argv (argv[0] is the subcommand's name). -EINVAL names the option and the fix. */
int doctor_options_parse(int argc, char **argv, struct doctor_options *ret_options,
                         struct error *err);

extern const char doctor_options_help[];
