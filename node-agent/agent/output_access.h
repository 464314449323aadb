/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/kube/client.h"
#include "node-agent/agent/output_target.h"

/*
 * May the bearer of a token read a run's output? Asks the API server: who is it (TokenReview for
 * our audience), and may he (SubjectAccessReview). Nothing is remembered: what is taken back is
 * taken back at once.
 */
struct output_access;
struct output_check;

enum output_verdict {
    OUTPUT_ALLOWED,
    OUTPUT_UNAUTHENTICATED, /* the token isn't one for us alone */
    OUTPUT_FORBIDDEN,
    OUTPUT_UNKNOWN, /* the API server can't be asked: err says why */
};

/* user is "" where it isn't known. Called once from the loop, never from inside the call that began
 * it. */
typedef void (*output_verdict_fn)(enum output_verdict verdict, const char *user,
                                  const struct error *err, void *arg);

int output_access_new(struct kube_client *client, struct output_access **ret_access,
                      struct error *err);
/* Calls nobody back any more. NULL is fine. */
void output_access_free(struct output_access *access);

/* Begins to ask. -EAGAIN: too much is being asked already. */
int output_access_check(struct output_access *access, const char *token,
                        const struct output_target *target, output_verdict_fn fn, void *arg,
                        struct error *err);
