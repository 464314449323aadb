/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/seen_ids.h"

#include "common/hash.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/proto/proto_messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct seen_id {
    UT_hash_handle hh;
    char id[PROTO_ID_SIZE]; /* "": free */
};

struct seen_ids {
    struct seen_id *table;
    size_t next;
    struct seen_id ring[MAX_SEEN_IDS]; /* in the order of their coming */
};

static struct seen_id *find(const struct seen_ids *ids, const char *id)
{
    struct seen_id *seen = NULL;

    HASH_FIND(hh, ids->table, id, strlen(id), seen);
    return seen;
}

static void forget(struct seen_ids *ids, struct seen_id *seen)
{
    if (seen->id[0])
        HASH_DEL(ids->table, seen);
    seen->id[0] = '\0';
}

int seen_ids_new(struct seen_ids **ret_ids, struct error *err)
{
    /* Pages of ids that never come are never touched. */
    *ret_ids = calloc(1, sizeof(**ret_ids));
    return *ret_ids ? 0 : error_set_errno(err, ENOMEM, "can't remember sandbox ids");
}

void seen_ids_free(struct seen_ids *ids)
{
    if (!ids)
        return;
    HASH_CLEAR(hh, ids->table);
    free(ids);
}

void seen_ids_add(struct seen_ids *ids, const char *id)
{
    size_t len = strlen(id);
    struct seen_id *seen = &ids->ring[ids->next];

    if (len == 0 || len >= sizeof(seen->id) || find(ids, id))
        return;
    ids->next = (ids->next + 1) % MAX_SEEN_IDS;
    forget(ids, seen);
    memcpy(seen->id, id, len + 1);
    HASH_ADD(hh, ids->table, id, len, seen);
    if (!seen->hh.tbl)
        seen->id[0] = '\0';
}

bool seen_ids_has(const struct seen_ids *ids, const char *id)
{
    return find(ids, id);
}
