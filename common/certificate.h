/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

/* Certificates of a TLS server, as PEM (RFC 5280, RFC 7468), made and checked with GnuTLS. */

/* What a certificate is made for. */
struct certificate_subject {
    const char *const *names; /* host names, or numeric addresses of IPv4 or IPv6 */
    size_t name_count;
    int64_t from_s; /* since 1970 */
    int64_t until_s;
};

/* Makes a key (ECDSA on P-256) and a certificate that it signs itself, for servers only. What is
 * in key is secret: wipe it. -EINVAL for a name that is none; err says what failed. */
int certificate_make(const struct certificate_subject *subject, struct buf *certificate,
                     struct buf *key, struct error *err);

/* The certificate (a chain may follow) and the key belong together. ret_until_s is the first
 * certificate's end. -EINVAL with the reason. */
int certificate_check(const char *certificate, const char *key, int64_t *ret_until_s,
                      struct error *err);
