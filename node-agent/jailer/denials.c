/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/denials.h"

static void count_call(struct denials *denials, int32_t number)
{
    for (uint32_t i = 0; i < denials->count; i++) {
        if (denials->entries[i].number == number) {
            denials->entries[i].count++;
            return;
        }
    }
    if (denials->count == PROTO_MAX_DENIED) {
        denials->more = true;
        return;
    }
    denials->entries[denials->count++] = (struct proto_denied){.number = number, .count = 1};
}

bool denials_add(struct denials *denials, int32_t number)
{
    if (denials->notices < MAX_NOTICES) {
        denials->notices++;
        count_call(denials, number);
    }
    if (denials->notices == MAX_NOTICES)
        denials->more = true;
    return denials->notices < MAX_NOTICES;
}
