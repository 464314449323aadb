/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/log.h"

#include <getopt.h>

/* What the command lines of our daemons have in common: long options and nothing else. */

/* One option; its value is in optarg, name is without the dashes. 1: go on; 0: it was answered,
 * as --help is; -EINVAL with err. */
typedef int (*options_set_fn)(int option, const char *name, struct error *err);

/* Has set see each option. 1: that was all of the line; else what set returned, or -EINVAL for
 * what is no option, has no value, or stands beside the options. */
int options_walk(int argc, char **argv, const struct option *long_options, options_set_fn set,
                 struct error *err);

/* The value of --log-level. 1; -EINVAL with what it may be. */
int options_set_log_level(enum log_level *ret_level, struct error *err);
