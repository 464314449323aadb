/* SPDX-License-Identifier: Apache-2.0 */

/* Prints the networks that no sandbox may reach, one a line: PREFIX, a tab, and why. */
#include "common/net/forbidden.h"

#include <stdio.h>

int main(void)
{
    const struct forbidden_range *range;
    for (size_t i = 0; (range = forbidden_range(i)) != NULL; i++)
        (void)printf("%s\t%s\n", range->prefix, range->why);
    return fflush(stdout) == 0 ? 0 : 1;
}
