/* SPDX-License-Identifier: Apache-2.0 */
#include "common/options.h"

#include <errno.h>

int options_walk(int argc, char **argv, const struct option *long_options, options_set_fn set,
                 struct error *err)
{
    opterr = 0;
    for (;;) {
        int at = 0;
        int option = getopt_long(argc, argv, ":", long_options, &at);
        if (option == -1)
            break;
        if (option == ':')
            return error_set(err, EINVAL, "%.64s needs a value; see --help", argv[optind - 1]);
        if (option == '?')
            return error_set(err, EINVAL, "%.64s is no option; see --help", argv[optind - 1]);
        int r = set(option, long_options[at].name, err);
        if (r <= 0)
            return r;
    }
    if (optind < argc)
        return error_set(err, EINVAL, "%.64s: takes no arguments; see --help", argv[optind]);
    return 1;
}

int options_set_log_level(enum log_level *ret_level, struct error *err)
{
    if (log_level_parse(optarg, ret_level) < 0)
        return error_set(err, EINVAL,
                         "--log-level: \"%.64s\" is not one of debug, info, warn, error", optarg);
    return 1;
}
