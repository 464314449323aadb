/* SPDX-License-Identifier: Apache-2.0 */

/* Any text is a quantity or none; what is formatted reads back as the same figure. */
#include "common/api/quantity.h"

#include <stdlib.h>
#include <string.h>

#define MAX_INPUT 200

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char text[MAX_INPUT + 1], formatted[QUANTITY_TEXT_SIZE];
    uint64_t value, milli, back;
    if (len > MAX_INPUT)
        return 0;
    memcpy(text, bytes, len);
    text[len] = '\0';

    if (quantity_parse_bytes(text, &value) == 0) {
        quantity_format_bytes(value, formatted);
        if (quantity_parse_bytes(formatted, &back) < 0 || back != value)
            abort();
        /* A whole thousandth of it rounds up to the same unit. */
        if (quantity_parse_milli(text, &milli) == 0 && (milli + 999) / 1000 != value)
            abort();
    }
    if (quantity_parse_milli(text, &milli) == 0) {
        quantity_format_milli(milli, formatted);
        if (quantity_parse_milli(formatted, &back) < 0 || back != milli)
            abort();
    }
    return 0;
}
