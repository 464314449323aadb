/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxrun.h"
#include "common/buf.h"
#include "common/error.h"

/*
 * The bytes that carry a run's code and input to the runner inside the jail. All numbers are
 * 32 bit, little endian:
 *
 *   "SBRQ" | version | flags | n_args | n_env | code_len | stdin_len
 *   code | stdin | n_args x (len, bytes) | n_env x (name_len, name, value_len, value)
 *
 * The end of the pipe is the end of the request: the runner starts nothing before it.
 */
#define REQUEST_VERSION        1u
#define REQUEST_FLAG_HAS_STDIN (1u << 0)

/* Appends spec's request to an empty buf, whose maximum is set here. -EMSGSIZE for a spec beyond
 * the API's bounds, -ENOMEM. */
int request_encode(const struct run_spec *spec, struct buf *request, struct error *err);
