/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/kube/limits.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A Lease of coordination.k8s.io/v1. One that says of a node's agent that it is alive has the
 * node's name; a label tells it from other Leases of its namespace.
 */
#define LEASE_LABEL          "sandboxrun.dev/lease"
#define LEASE_LABEL_NODE     "node"
#define LEASE_LABEL_SELECTOR LEASE_LABEL "=" LEASE_LABEL_NODE

#define MAX_LEASE_HOLDER 128
#define MAX_LEASE_TIME   64

struct kube_lease {
    char name[256];
    char version[MAX_KUBE_VERSION];
    bool held;                       /* somebody is named as holder, however long the name is */
    char holder[MAX_LEASE_HOLDER];   /* "": nobody, or a name longer than this */
    char renew_text[MAX_LEASE_TIME]; /* as it stands there, to tell one renewal from another */
    int64_t renew_us;                /* since 1970; 0: not set, or no time */
    int64_t acquire_us;
    int64_t transitions;
    uint32_t duration_seconds;
};

/* Lenient: what is absent or absurd is empty or 0. -EINVAL for an object without a usable name or
 * resourceVersion. */
int kube_lease_decode(const cJSON *tree, struct kube_lease *ret_lease, struct error *err);

/* Appends the object: with a version a merge patch of that version, without one the whole object,
 * to be created. label is the value of LEASE_LABEL; NULL: none. held is not looked at. -ENOMEM,
 * -EMSGSIZE. */
int kube_lease_encode(const struct kube_lease *lease, const char *label, struct buf *body);

/* Appends the path of the collection in name_space, or with a name of that Lease. */
int kube_lease_path(const char *name_space, const char *name, struct buf *path);
