/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * What a reflector has told its consumer: namespace/name to uid and resourceVersion, so that a new
 * list can be compared with it. The objects themselves are not kept.
 */
struct kube_cache;

enum kube_cache_change {
    KUBE_CACHE_NEW,
    KUBE_CACHE_CHANGED,
    KUBE_CACHE_SAME,     /* the same uid and resourceVersion */
    KUBE_CACHE_REPLACED, /* the same name with another uid: the old object is gone */
};

struct kube_cache *kube_cache_new(size_t max_objects);
void kube_cache_free(struct kube_cache *cache);
size_t kube_cache_count(const struct kube_cache *cache);

/* A list begins: every object is unseen. */
void kube_cache_begin(struct kube_cache *cache);

/* Records an object, and that it was seen. Returns what that changed, with the uid it had before
 * (of KUBE_CACHE_REPLACED) in ret_old_uid; -ENOSPC beyond max_objects, -ENOMEM. */
#define KUBE_UID_SIZE 64
int kube_cache_put(struct kube_cache *cache, const char *name_space, const char *name,
                   const char *uid, const char *resource_version,
                   char ret_old_uid[static KUBE_UID_SIZE]);

/* The object was seen, in whatever version. False if it isn't known. */
bool kube_cache_touch(struct kube_cache *cache, const char *name_space, const char *name);

/* Forgets the object of that name and uid ("": whatever its uid is); false if it isn't known. */
bool kube_cache_remove(struct kube_cache *cache, const char *name_space, const char *name,
                       const char *uid, char ret_uid[static KUBE_UID_SIZE]);

/* Takes one object that the list has not shown out of the cache; false when there is none left.
 * The texts live until the next call. */
bool kube_cache_take_unseen(struct kube_cache *cache, const char **ret_name_space,
                            const char **ret_name, const char **ret_uid);
