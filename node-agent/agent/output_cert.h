/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The certificate of the output server: two files that somebody renews, or one of our own, made at
 * start and again before it ends, whose key is never written anywhere. */
struct output_cert;

struct output_cert_options {
    const char *cert_file; /* both or none */
    const char *key_file;
    const char *const *names; /* of one of our own */
    size_t name_count;
};

/* What options points to outlives it. */
int output_cert_new(const struct output_cert_options *options, struct output_cert **ret_cert,
                    struct error *err);
void output_cert_free(struct output_cert *cert);

/* True if there is another one now. One that can't be used, such as half of a change, is logged
 * once and leaves all as it was. */
bool output_cert_refresh(struct output_cert *cert);

/* PEM. */
const char *output_cert_certificate(const struct output_cert *cert);
const char *output_cert_key(const struct output_cert *cert);
