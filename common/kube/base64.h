/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"

#include <stddef.h>

/* Appends what RFC 4648 base64 text stands for; line breaks are skipped, padding is required.
 * -EINVAL, or what buf_append() says. */
int base64_decode(const char *text, size_t len, struct buf *buf);
