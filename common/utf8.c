/* SPDX-License-Identifier: Apache-2.0 */
#include "common/utf8.h"

/* The first byte says how many follow and which second bytes keep the form shortest and off the
 * surrogates (Unicode standard, table 3-7). */
struct utf8_lead {
    unsigned char first, last;
    unsigned char second_min, second_max;
    unsigned char length;
    unsigned char mask;
};

static const struct utf8_lead utf8_leads[] = {
    {0x00, 0x7F, 0x00, 0x00, 1, 0x7F}, {0xC2, 0xDF, 0x80, 0xBF, 2, 0x1F},
    {0xE0, 0xE0, 0xA0, 0xBF, 3, 0x0F}, {0xE1, 0xEC, 0x80, 0xBF, 3, 0x0F},
    {0xED, 0xED, 0x80, 0x9F, 3, 0x0F}, {0xEE, 0xEF, 0x80, 0xBF, 3, 0x0F},
    {0xF0, 0xF0, 0x90, 0xBF, 4, 0x07}, {0xF1, 0xF3, 0x80, 0xBF, 4, 0x07},
    {0xF4, 0xF4, 0x80, 0x8F, 4, 0x07},
};

static const struct utf8_lead *utf8_find_lead(unsigned char byte)
{
    for (size_t i = 0; i < sizeof(utf8_leads) / sizeof(utf8_leads[0]); i++) {
        if (byte >= utf8_leads[i].first && byte <= utf8_leads[i].last)
            return &utf8_leads[i];
    }
    return NULL;
}

size_t utf8_decode(const void *bytes, size_t len, uint32_t *ret_code_point)
{
    const unsigned char *p = bytes;
    if (len == 0)
        return 0;
    const struct utf8_lead *lead = utf8_find_lead(p[0]);
    if (!lead || lead->length > len)
        return 0;
    uint32_t code_point = p[0] & lead->mask;
    for (size_t i = 1; i < lead->length; i++) {
        unsigned char min = i == 1 ? lead->second_min : 0x80;
        unsigned char max = i == 1 ? lead->second_max : 0xBF;
        if (p[i] < min || p[i] > max)
            return 0;
        code_point = code_point << 6 | (p[i] & 0x3Fu);
    }
    if (ret_code_point)
        *ret_code_point = code_point;
    return lead->length;
}
