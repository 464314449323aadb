/* SPDX-License-Identifier: Apache-2.0 */
#include "common/number.h"

#include "common/parse.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

int number_format(double value, char ret_text[static NUMBER_TEXT_SIZE])
{
    if (!isfinite(value))
        return -EINVAL;
    if (fabs(value) <= MAX_EXACT_INTEGER && value == floor(value)) {
        (void)snprintf(ret_text, NUMBER_TEXT_SIZE, "%.0f", value);
        return 0;
    }
    /* A double keeps any decimal of 15 digits, and needs at most 17. */
    for (int digits = 15; digits <= 17; digits++) {
        double back = 0;
        (void)snprintf(ret_text, NUMBER_TEXT_SIZE, "%.*g", digits, value);
        if (parse_double(ret_text, &back) == 0 && back == value)
            break;
    }
    return 0;
}
