/* SPDX-License-Identifier: Apache-2.0 */
#include "common/token_bucket.h"

bool token_bucket_take(struct token_bucket *bucket, uint64_t now, uint32_t burst, uint64_t space)
{
    uint64_t passed = now > bucket->at ? now - bucket->at : 0;

    bucket->at = now;
    bucket->debt = bucket->debt > passed ? bucket->debt - passed : 0;
    if (bucket->debt + space > burst * space)
        return false;
    bucket->debt += space;
    return true;
}
