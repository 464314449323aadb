/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/cache.h"

#include "common/hash.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One slash, as names have none. */
#define KEY_SIZE     512
#define VERSION_SIZE 24

struct entry {
    UT_hash_handle hh;
    uint32_t round; /* of the last list, or of an event since */
    char uid[KUBE_UID_SIZE];
    char version[VERSION_SIZE]; /* "" if longer: then it never counts as the same */
    char key[];                 /* "namespace/name" */
};

struct kube_cache {
    struct entry *entries;
    size_t max;
    uint32_t round;
    struct entry *sweep; /* where the search for unseen ones goes on */
    struct entry *taken; /* given out by the last take_unseen */
};

struct kube_cache *kube_cache_new(size_t max_objects)
{
    struct kube_cache *cache = calloc(1, sizeof(*cache));

    if (cache)
        cache->max = max_objects;
    return cache;
}

void kube_cache_free(struct kube_cache *cache)
{
    struct entry *entry;
    struct entry *next;

    if (!cache)
        return;
    HASH_ITER (hh, cache->entries, entry, next) {
        HASH_DEL(cache->entries, entry);
        free(entry);
    }
    free(cache->taken);
    free(cache);
}

size_t kube_cache_count(const struct kube_cache *cache)
{
    return HASH_COUNT(cache->entries);
}

void kube_cache_begin(struct kube_cache *cache)
{
    cache->round++;
    cache->sweep = NULL;
}

static int make_key(char key[static KEY_SIZE], const char *name_space, const char *name)
{
    int n = snprintf(key, KEY_SIZE, "%s/%s", name_space, name);

    return n < 0 || n >= KEY_SIZE ? -ENAMETOOLONG : n;
}

static struct entry *find(struct kube_cache *cache, const char *name_space, const char *name)
{
    char key[KEY_SIZE];
    struct entry *entry = NULL;
    int len = make_key(key, name_space, name);

    if (len > 0)
        HASH_FIND(hh, cache->entries, key, (size_t)len, entry);
    return entry;
}

static void copy(char *ret_text, size_t size, const char *text)
{
    size_t len = strlen(text);

    if (len >= size)
        len = 0;
    memcpy(ret_text, text, len);
    ret_text[len] = '\0';
}

static int add(struct kube_cache *cache, const char *name_space, const char *name,
               struct entry **ret_entry)
{
    char key[KEY_SIZE];
    int len = make_key(key, name_space, name);

    if (len < 0)
        return len;
    if (HASH_COUNT(cache->entries) >= cache->max)
        return -ENOSPC;
    struct entry *entry = calloc(1, sizeof(*entry) + (size_t)len + 1);
    if (!entry)
        return -ENOMEM;
    memcpy(entry->key, key, (size_t)len + 1);
    HASH_ADD(hh, cache->entries, key, (size_t)len, entry);
    if (!entry->hh.tbl) {
        free(entry);
        return -ENOMEM;
    }
    *ret_entry = entry;
    return 0;
}

int kube_cache_put(struct kube_cache *cache, const char *name_space, const char *name,
                   const char *uid, const char *resource_version,
                   char ret_old_uid[static KUBE_UID_SIZE])
{
    struct entry *entry = find(cache, name_space, name);
    int change = KUBE_CACHE_CHANGED;

    if (!entry) {
        int r = add(cache, name_space, name, &entry);
        if (r < 0)
            return r;
        change = KUBE_CACHE_NEW;
    } else if (strcmp(entry->uid, uid) != 0) {
        memcpy(ret_old_uid, entry->uid, KUBE_UID_SIZE);
        change = KUBE_CACHE_REPLACED;
    } else if (entry->version[0] && strcmp(entry->version, resource_version) == 0) {
        change = KUBE_CACHE_SAME;
    }
    entry->round = cache->round;
    copy(entry->uid, sizeof(entry->uid), uid);
    copy(entry->version, sizeof(entry->version), resource_version);
    return change;
}

bool kube_cache_touch(struct kube_cache *cache, const char *name_space, const char *name)
{
    struct entry *entry = find(cache, name_space, name);

    if (entry)
        entry->round = cache->round;
    return entry;
}

bool kube_cache_remove(struct kube_cache *cache, const char *name_space, const char *name,
                       const char *uid, char ret_uid[static KUBE_UID_SIZE])
{
    struct entry *entry = find(cache, name_space, name);

    if (!entry || (uid[0] && entry->uid[0] && strcmp(uid, entry->uid) != 0))
        return false;
    memcpy(ret_uid, entry->uid, KUBE_UID_SIZE);
    if (cache->sweep == entry)
        cache->sweep = NULL;
    HASH_DEL(cache->entries, entry);
    free(entry);
    return true;
}

bool kube_cache_take_unseen(struct kube_cache *cache, const char **ret_name_space,
                            const char **ret_name, const char **ret_uid)
{
    struct entry *entry = cache->sweep ? cache->sweep : cache->entries;

    free(cache->taken);
    cache->taken = NULL;
    while (entry && entry->round == cache->round)
        entry = entry->hh.next;
    if (!entry) {
        cache->sweep = NULL;
        return false;
    }
    cache->sweep = entry->hh.next;
    HASH_DEL(cache->entries, entry);
    cache->taken = entry;
    char *slash = strchr(entry->key, '/');
    *slash = '\0';
    *ret_name_space = entry->key;
    *ret_name = slash + 1;
    *ret_uid = entry->uid;
    return true;
}
