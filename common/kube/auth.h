/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/kube/config.h"
#include "common/kube/secret_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who we are and whom we trust, as of now: what a kube_config gives inline or by file. */
struct auth {
    const struct kube_config *config; /* outlives this */
    struct secret_file token_file;
    struct secret_file ca_file;
};

int auth_init(struct auth *auth, const struct kube_config *config);
void auth_done(struct auth *auth);

/* Looks at the files again where it is time; now_ns of CLOCK_MONOTONIC. -errno only if a file has
 * never been readable or holds no usable token. */
int auth_refresh(struct auth *auth, uint64_t now_ns, struct error *err);

/* The server did not accept the token: have the next refresh read it again. */
void auth_expire(struct auth *auth);

/* The bearer token without surrounding white space; false if there is none. */
bool auth_token(const struct auth *auth, const char **ret_token, size_t *ret_len);

/* The CA bundle in PEM; false: the system's store. */
bool auth_ca(const struct auth *auth, const char **ret_pem, size_t *ret_len);
