/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "controller/plan.h"

/*
 * What is sent for an action: pure text. Every status patch is a merge patch (RFC 7396) that
 * carries the resourceVersion it was decided on, so that it changes that version or nothing;
 * a deletion names uid and resourceVersion as preconditions. Neither asks for the object in answer,
 * which may have a megabyte of code.
 */
struct write_request {
    const char *method;
    const char *content_type;
    const char *accept;
    struct buf path;
    struct buf body;
};

/* sandbox_id is that of ACTION_ASSIGN, else NULL. 0, -ENOMEM, -EMSGSIZE. */
int write_request_make(const struct action *action, const char *sandbox_id, int64_t now_us,
                       struct write_request *ret_request, struct error *err);
void write_request_done(struct write_request *request);
