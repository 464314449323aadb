/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stddef.h>

/* The path of nft(8) where distributions put it; NULL: it isn't installed. */
const char *nft_load_find(void);

/* Has nft(8) read a ruleset, whole or not at all, and waits for it. The process that it runs in has
 * the caller's capabilities and no more. -ENOENT without nft; else its own words in err. */
int nft_load(const char *text, size_t len, struct error *err);
