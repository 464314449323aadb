/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/output_target.h"

#include <stdbool.h>
#include <stddef.h>

/* What the API server is asked about a token and its user (authentication.k8s.io/v1 TokenReview,
 * authorization.k8s.io/v1 SubjectAccessReview), and what its answers mean. Nothing here does I/O.
 */

/* Appends a TokenReview of token for our audience alone. */
int output_review_token(const char *token, struct buf *json);

/*
 * Reads an answered TokenReview. 0: the token is valid for our audience, and access is a
 * SubjectAccessReview whether its user, with uid, groups and extra, may get sandboxruns/log of the
 * target; user is the name, cut for people. -EACCES: it isn't valid. Else -errno: no sense in it.
 */
int output_review_access(const char *body, size_t len, const struct output_target *target,
                         struct buf *access, char ret_user[static MAX_OUTPUT_USER]);

/* Reads an answered SubjectAccessReview. 0: allowed, -EACCES: not, -EBADMSG: no sense in it. */
int output_review_verdict(const char *body, size_t len);
