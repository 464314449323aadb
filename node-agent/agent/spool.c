/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/spool.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/hash.h"
#include "common/path.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/spool_record.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define ENTRY_PREFIX   "run-"
#define HALF_PREFIX    "new-" /* not yet renamed */
#define INSTANCES_FILE "instances"
#define PROBE_FILE     HALF_PREFIX "probe" /* swept like a half result */
#define ID_SIZE        40
#define NAME_SIZE      (ID_SIZE + sizeof(ENTRY_PREFIX))

struct entry {
    UT_hash_handle hh;
    char id[ID_SIZE];
    uint64_t bytes;
};

struct spool {
    int dir;
    struct entry *entries;
    uint64_t bytes;
    char instances[MAX_SPOOL_INSTANCES][ID_SIZE]; /* the oldest first */
    size_t instance_count;
    bool absent;          /* the list on disk lacks this start */
    struct error failure; /* of the last write; code 0: it succeeded */
};

/* Ids go into file names, and come from file names. */
static bool is_id(const char *text)
{
    size_t len = strlen(text);

    if (len == 0 || len >= ID_SIZE)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '-')
            return false;
    }
    return true;
}

static void make_name(char ret_name[static NAME_SIZE], const char *prefix, const char *id)
{
    (void)snprintf(ret_name, NAME_SIZE, "%s%s", prefix, id);
}

static struct entry *find(const struct spool *spool, const char *id)
{
    struct entry *entry = NULL;

    HASH_FIND(hh, spool->entries, id, strlen(id), entry);
    return entry;
}

static int add(struct spool *spool, const char *id, uint64_t bytes)
{
    struct entry *entry = calloc(1, sizeof(*entry));

    if (!entry)
        return -ENOMEM;
    memcpy(entry->id, id, strlen(id) + 1);
    entry->bytes = bytes;
    HASH_ADD(hh, spool->entries, id, strlen(id), entry);
    if (!entry->hh.tbl) {
        free(entry);
        return -ENOMEM;
    }
    spool->bytes += bytes;
    return 0;
}

static void forget(struct spool *spool, struct entry *entry)
{
    spool->bytes -= entry->bytes;
    HASH_DEL(spool->entries, entry);
    free(entry);
}

void spool_free(struct spool *spool)
{
    struct entry *entry;
    struct entry *next;

    if (!spool)
        return;
    HASH_ITER (hh, spool->entries, entry, next)
        forget(spool, entry);
    (void)fd_close(spool->dir);
    free(spool);
}

static int scan_file(struct spool *spool, const char *name)
{
    struct stat st;

    if (strncmp(name, HALF_PREFIX, strlen(HALF_PREFIX)) == 0) {
        (void)unlinkat(spool->dir, name, 0);
        return 0;
    }
    const char *id = name + strlen(ENTRY_PREFIX);
    if (strncmp(name, ENTRY_PREFIX, strlen(ENTRY_PREFIX)) != 0 || !is_id(id))
        return 0;
    if (fstatat(spool->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    return add(spool, id, (uint64_t)st.st_size);
}

static int scan(struct spool *spool)
{
    int fd = openat(spool->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    int r = 0;

    if (!dir) {
        r = -errno;
        (void)fd_close(fd);
        return r;
    }
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry) {
            r = -errno;
            break;
        }
        r = scan_file(spool, entry->d_name);
        if (r < 0)
            break;
    }
    (void)closedir(dir);
    return r;
}

static void add_instance(struct spool *spool, const char *instance)
{
    if (spool->instance_count == MAX_SPOOL_INSTANCES) {
        memmove(spool->instances[0], spool->instances[1],
                sizeof(spool->instances) - sizeof(spool->instances[0]));
        spool->instance_count--;
    }
    (void)snprintf(spool->instances[spool->instance_count++], ID_SIZE, "%s", instance);
}

static int read_instances(struct spool *spool)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_SPOOL_INSTANCES * ID_SIZE * 2);
    int r = fd_read_file(spool->dir, INSTANCES_FILE, true, &text);

    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    for (char *line = text.data, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (is_id(line))
            add_instance(spool, line);
    }
    return 0;
}

/* Whoever can write here can make a run start twice. */
static int check_owner(int dir, const char *path, struct error *err)
{
    struct stat st;

    if (fstat(dir, &st) < 0)
        return error_set_errno(err, errno, "can't look at the spool %s", path);
    if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
        return error_set(err, EPERM,
                         "the spool %s must belong to uid %u and be writable by nobody else: it "
                         "belongs to uid %u, mode %03o",
                         path, (unsigned int)geteuid(), (unsigned int)st.st_uid,
                         (unsigned int)(st.st_mode & 0777));
    return 0;
}

static int open_locked(const char *path, int *ret_dir, struct error *err)
{
    cleanup_close int dir = path_open_dir(path);

    if (dir < 0)
        return error_set_errno(err, -dir, "can't open the spool %s, which the jailer makes", path);
    int r = check_owner(dir, path, err);
    if (r < 0)
        return r;
    if (flock(dir, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? error_set(err, EBUSY, "another agent uses the spool %s", path)
                                    : error_set_errno(err, errno, "can't lock the spool %s", path);
    *ret_dir = TAKE_FD(dir);
    return 0;
}

int spool_open(const char *dir, struct spool **ret_spool, struct error *err)
{
    struct spool *spool = calloc(1, sizeof(*spool));

    if (!spool)
        return error_set_errno(err, ENOMEM, "can't open the spool %s", dir);
    spool->dir = -1;
    int r = open_locked(dir, &spool->dir, err);
    if (r < 0) {
        spool_free(spool);
        return r;
    }
    r = scan(spool);
    if (r == 0)
        r = read_instances(spool);
    if (r < 0) {
        spool_free(spool);
        return error_set_errno(err, -r, "can't read the spool %s", dir);
    }
    *ret_spool = spool;
    return 0;
}

/* What was written, or not, about one thing in the spool. */
static int conclude(struct spool *spool, int result, const char *what, struct error *err)
{
    if (result == 0)
        return 0;
    /* What is there already says nothing about the disk. */
    if (result != -EEXIST)
        (void)error_set_errno(&spool->failure, -result, "%s", what);
    return error_set_errno(err, -result, "%s", what);
}

static int write_instances(struct spool *spool)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_SPOOL_INSTANCES * ID_SIZE);
    int r = 0;

    for (size_t i = 0; r == 0 && i < spool->instance_count; i++)
        r = buf_printf(&text, "%s\n", spool->instances[i]);
    if (r == 0)
        r = fd_write_file_durable(spool->dir, INSTANCES_FILE, text.data, text.len, 0600);
    spool->absent = r < 0;
    return r;
}

int spool_enter(struct spool *spool, const char *instance, struct error *err)
{
    add_instance(spool, instance);
    return conclude(spool, write_instances(spool), "can't write to the spool", err);
}

const struct error *spool_failure(const struct spool *spool)
{
    return spool->failure.code ? &spool->failure : NULL;
}

static int reserve(struct spool *spool)
{
    (void)unlinkat(spool->dir, PROBE_FILE, 0);
    cleanup_close int fd =
        openat(spool->dir, PROBE_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    int r = -posix_fallocate(fd, 0, MAX_SPOOL_FILE);
    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    (void)unlinkat(spool->dir, PROBE_FILE, 0);
    return r;
}

int spool_probe(struct spool *spool, struct error *err)
{
    int r = reserve(spool);

    if (r == 0 && spool->absent)
        r = write_instances(spool);
    if (r == 0)
        spool->failure = (struct error){0};
    return conclude(spool, r, "can't write to the spool", err);
}

bool spool_knows_instance(const struct spool *spool, const char *instance)
{
    for (size_t i = 0; i < spool->instance_count; i++) {
        if (strcmp(spool->instances[i], instance) == 0)
            return true;
    }
    return false;
}

bool spool_has(const struct spool *spool, const char *sandbox_id)
{
    return find(spool, sandbox_id);
}

size_t spool_count(const struct spool *spool)
{
    return HASH_COUNT(spool->entries);
}

bool spool_has_room(const struct spool *spool)
{
    return spool_count(spool) < MAX_SPOOL_ENTRIES && spool->bytes < MAX_SPOOL_BYTES;
}

void spool_each(struct spool *spool, void (*fn)(const char *sandbox_id, void *arg), void *arg)
{
    struct entry *entry;
    struct entry *next;

    HASH_ITER (hh, spool->entries, entry, next) {
        char id[ID_SIZE];
        memcpy(id, entry->id, sizeof(id));
        fn(id, arg);
    }
}

static int write_new(int dir, const char *name, const struct buf *text, bool durable)
{
    cleanup_close int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    int r = fd_write_full(fd, text->data, text->len);
    /* The file's bytes first, then its name: together they are the mark. */
    if (r == 0 && durable && (fdatasync(fd) < 0 || fsync(dir) < 0))
        r = -errno;
    if (r < 0)
        (void)unlinkat(dir, name, 0);
    return r;
}

int spool_mark(struct spool *spool, const struct spool_record *record, struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_SPOOL_FILE);
    char name[NAME_SIZE];

    if (!is_id(record->sandbox_id))
        return error_set(err, EINVAL, "\"%s\" is no sandbox id", record->sandbox_id);
    if (!spool_has_room(spool))
        return error_set(err, ENOSPC, "the spool is full: %zu results wait for the API server",
                         spool_count(spool));
    int r = spool_record_encode(record, &text, err);
    if (r < 0)
        return r;
    make_name(name, ENTRY_PREFIX, record->sandbox_id);
    r = spool->absent ? -spool->failure.code : write_new(spool->dir, name, &text, true);
    if (r == 0) {
        r = add(spool, record->sandbox_id, text.len);
        if (r < 0)
            (void)unlinkat(spool->dir, name, 0);
    }
    return conclude(spool, r, "can't mark the run as started in the spool", err);
}

int spool_store(struct spool *spool, const struct spool_record *record, struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_SPOOL_FILE);
    struct entry *entry = find(spool, record->sandbox_id);
    char half[NAME_SIZE];
    char name[NAME_SIZE];

    /* A run that was never marked was never started, and needs no spool. */
    if (!entry)
        return error_set(err, ENOENT, "the spool has no mark of sandbox %s", record->sandbox_id);
    int r = spool_record_encode(record, &text, err);
    if (r < 0)
        return r;
    make_name(half, HALF_PREFIX, record->sandbox_id);
    make_name(name, ENTRY_PREFIX, record->sandbox_id);
    (void)unlinkat(spool->dir, half, 0);
    r = write_new(spool->dir, half, &text, false);
    if (r == 0 && renameat(spool->dir, half, spool->dir, name) < 0) {
        r = -errno;
        (void)unlinkat(spool->dir, half, 0);
    }
    if (r < 0)
        return conclude(spool, r, "can't keep the result in the spool", err);
    spool->bytes += text.len - entry->bytes;
    entry->bytes = text.len;
    return 0;
}

int spool_load(const struct spool *spool, const char *sandbox_id, struct spool_record *ret_record,
               struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_SPOOL_FILE);
    char name[NAME_SIZE];

    if (!find(spool, sandbox_id))
        return error_set(err, ENOENT, "the spool has no entry of sandbox %s", sandbox_id);
    make_name(name, ENTRY_PREFIX, sandbox_id);
    int r = fd_read_file(spool->dir, name, true, &text);
    if (r < 0)
        return error_set_errno(err, -r, "can't read the spool's entry of sandbox %s", sandbox_id);
    return spool_record_decode(buf_str(&text), text.len, sandbox_id, ret_record, err);
}

void spool_remove(struct spool *spool, const char *sandbox_id)
{
    struct entry *entry = find(spool, sandbox_id);
    char name[NAME_SIZE];

    if (!entry)
        return;
    make_name(name, ENTRY_PREFIX, entry->id);
    (void)unlinkat(spool->dir, name, 0);
    forget(spool, entry);
}
