/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The ids that sandboxes have outside: no two live ones share one. A jailer owns a part of the
 * configured range; an id that comes back is the last to be given out again.
 */
#define MAX_IDMAP_IDS 4096u

struct idmap {
    uid_t base;
    uint32_t count;
    uint32_t next;
    bool used[MAX_IDMAP_IDS];
};

/* Part `part` of `parts` equal ones of the range; -EINVAL if that is too small for `wanted`. */
int idmap_init(struct idmap *idmap, uint32_t base, uint32_t count, unsigned int part,
               unsigned int parts, uint32_t wanted, struct error *err);

/* -ENOSPC if all are in use. */
int idmap_take(struct idmap *idmap, uid_t *ret_id);
void idmap_release(struct idmap *idmap, uid_t id);

/* Does `map`, the text of /proc/self/uid_map or gid_map, hold every id of the range? Else
 * -EINVAL; what names the file. */
int idmap_check_mapped(const char *map, const char *what, uint32_t base, uint32_t count,
                       struct error *err);

/* Does the range stay clear of all ranges in `subids`, the text of subuid(5) or subgid(5)? */
int idmap_check_subids(const char *subids, const char *what, uint32_t base, uint32_t count,
                       struct error *err);

/* Both checks against the files of this machine. A missing /etc/subuid or /etc/subgid is fine. */
int idmap_check_host(int proc_fd, uint32_t base, uint32_t count, struct error *err);
