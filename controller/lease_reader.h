/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/json.h"
#include "common/kube/client.h"

#include <stdint.h>

/*
 * Reads single Leases from the API server itself. A watch may lag behind, or hang on a connection
 * that is dead and doesn't know it yet; before runs are given up for a silence it is asked whether
 * it is one.
 */
struct lease_reader;

/* lease is NULL unless status is 200; steady_us is the one given to lease_reader_read(). */
typedef void (*lease_read_fn)(const char *name, int status, const cJSON *lease, int64_t steady_us,
                              const struct error *err, void *arg);

/* name_space outlives it. */
int lease_reader_new(struct kube_client *client, const char *name_space, lease_read_fn fn,
                     void *arg, struct lease_reader **ret_reader, struct error *err);
/* Must go before its client does. NULL is fine. */
void lease_reader_free(struct lease_reader *reader);

/* -EBUSY while MAX_LEASE_ASKS are under way; else fn is called once, never from inside this. */
int lease_reader_read(struct lease_reader *reader, const char *name, int64_t steady_us,
                      struct error *err);
