/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Fills bytes from getrandom(2), blocking only before the kernel's pool is ready. 0 or -errno. */
int random_bytes(void *bytes, size_t len);

/* A random (version 4) UUID in its usual text form, RFC 9562. */
#define RANDOM_UUID_SIZE 37
int random_uuid(char ret_text[static RANDOM_UUID_SIZE]);
