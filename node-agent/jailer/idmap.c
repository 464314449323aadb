/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/idmap.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"
#include "node-agent/jailer/limits.h"

#include <fcntl.h>
#include <string.h>

#define MAX_LINE   256
#define MAX_FIELDS 3

struct range {
    uint64_t first, count;
};

int idmap_init(struct idmap *idmap, uint32_t base, uint32_t count, unsigned int part,
               unsigned int parts, uint32_t wanted, struct error *err)
{
    uint32_t share = count / parts;
    if (share > MAX_IDMAP_IDS)
        share = MAX_IDMAP_IDS;
    if (share < wanted)
        return error_set(err, EINVAL,
                         "--uid-count %u is divided by %u, which leaves a jailer %u uids for its "
                         "%u runs: it must be at least %u",
                         count, parts, share, wanted, wanted * parts);
    *idmap = (struct idmap){.base = base + part * (count / parts), .count = share};
    return 0;
}

int idmap_take(struct idmap *idmap, uid_t *ret_id)
{
    for (uint32_t i = 0; i < idmap->count; i++) {
        uint32_t index = (idmap->next + i) % idmap->count;
        if (idmap->used[index])
            continue;
        idmap->used[index] = true;
        idmap->next = (index + 1) % idmap->count;
        *ret_id = idmap->base + index;
        return 0;
    }
    return -ENOSPC;
}

void idmap_release(struct idmap *idmap, uid_t id)
{
    if (id >= idmap->base && id - idmap->base < idmap->count)
        idmap->used[id - idmap->base] = false;
}

/* Copies the next line of *text; false at the end. Lines too long for a range are cut. */
static bool next_line(const char **text, char ret_line[static MAX_LINE])
{
    const char *start = *text;
    if (*start == '\0')
        return false;
    size_t len = strcspn(start, "\n");
    *text = start + len + (start[len] == '\n' ? 1 : 0);
    size_t kept = len < MAX_LINE ? len : MAX_LINE - 1;
    memcpy(ret_line, start, kept);
    ret_line[kept] = '\0';
    return true;
}

/* Cuts line in place into exactly MAX_FIELDS fields between runs of separators. */
static bool split(char *line, const char *separators, char *ret_fields[static MAX_FIELDS])
{
    size_t count = 0;
    char *at = line + strspn(line, separators);
    while (*at && count < MAX_FIELDS) {
        ret_fields[count++] = at;
        at += strcspn(at, separators);
        if (*at)
            *at++ = '\0';
        at += strspn(at, separators);
    }
    return count == MAX_FIELDS && *at == '\0';
}

static bool parse_range(const char *first, const char *count, struct range *ret_range)
{
    return parse_u64(first, 0, UINT32_MAX, &ret_range->first) >= 0 &&
           parse_u64(count, 0, UINT32_MAX, &ret_range->count) >= 0;
}

/* The end of the run of mapped ids that `id` lies in: id itself if it isn't mapped. */
static uint64_t mapped_until(const char *map, uint64_t id)
{
    char line[MAX_LINE], *fields[MAX_FIELDS];
    struct range range;
    while (next_line(&map, line)) {
        if (split(line, " \t", fields) && parse_range(fields[0], fields[2], &range) &&
            id >= range.first && id < range.first + range.count)
            return range.first + range.count;
    }
    return id;
}

int idmap_check_mapped(const char *map, const char *what, uint32_t base, uint32_t count,
                       struct error *err)
{
    uint64_t end = (uint64_t)base + count, id = base;
    while (id < end) {
        uint64_t until = mapped_until(map, id);
        if (until == id)
            return error_set(err, EINVAL,
                             "id %llu of the range %u to %llu does not exist here (%s): choose "
                             "--uid-base and --uid-count within what the file lists",
                             (unsigned long long)id, base, (unsigned long long)end - 1, what);
        id = until;
    }
    return 0;
}

int idmap_check_subids(const char *subids, const char *what, uint32_t base, uint32_t count,
                       struct error *err)
{
    char line[MAX_LINE], *fields[MAX_FIELDS];
    struct range range;
    uint64_t end = (uint64_t)base + count;
    while (next_line(&subids, line)) {
        if (!split(line, ":", fields) || !parse_range(fields[1], fields[2], &range))
            continue;
        if (range.first < end && range.first + range.count > base)
            return error_set(err, EINVAL,
                             "the ids %u to %llu overlap those of %s in %s (%llu, %llu of them): "
                             "choose another --uid-base",
                             base, (unsigned long long)end - 1, fields[0], what,
                             (unsigned long long)range.first, (unsigned long long)range.count);
    }
    return 0;
}

static int check_mapped_file(int proc_fd, const char *name, const char *what, uint32_t base,
                             uint32_t count, struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_PROC_FILE);
    int r = fd_read_file(proc_fd, name, false, &text);
    if (r < 0)
        return error_set_errno(err, -r, "read %s", what);
    return idmap_check_mapped(buf_str(&text), what, base, count, err);
}

static int check_subids_file(const char *path, uint32_t base, uint32_t count, struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_PROC_FILE);
    int r = fd_read_file(AT_FDCWD, path, false, &text);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return error_set_errno(err, -r, "read %s", path);
    return idmap_check_subids(buf_str(&text), path, base, count, err);
}

int idmap_check_host(int proc_fd, uint32_t base, uint32_t count, struct error *err)
{
    int r = check_mapped_file(proc_fd, "self/uid_map", "/proc/self/uid_map", base, count, err);
    if (r >= 0)
        r = check_mapped_file(proc_fd, "self/gid_map", "/proc/self/gid_map", base, count, err);
    if (r >= 0)
        r = check_subids_file("/etc/subuid", base, count, err);
    if (r >= 0)
        r = check_subids_file("/etc/subgid", base, count, err);
    return r;
}
