/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/run_status.h"
#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What an agent must still know after it was killed: which sandboxes it has started, and results
 * that the API server has not taken yet. A directory of the agent's own with one file for each
 * sandbox id, and the list of the agents ("instances") that have used it. One process at a time.
 *
 * A mark is durable before the code starts, so that no crash, of the machine neither, makes it
 * start twice. A result replaces its mark without waiting for the disk: it survives the agent; if
 * the machine crashes within seconds the mark is what is found, and the run counts as lost.
 *
 * A write that fails, on a full disk say, makes the spool unwritable until a probe succeeds. What
 * it holds can be read and removed all the while.
 */
struct spool;

struct spool_record {
    char sandbox_id[40];
    char name_space[64];
    char name[MAX_RUN_NAME + 1];
    char uid[64];
    int64_t start_us;
    bool has_result;
    struct run_status status; /* with a result */
};

void spool_record_done(struct spool_record *record);

/* Opens and locks dir, which must exist and be ours alone; sweeps what a crash left half written.
 * -EBUSY: another agent uses it. */
int spool_open(const char *dir, struct spool **ret_spool, struct error *err);
void spool_free(struct spool *spool);

/* Adds this start of the agent, durably. Where that fails the spool is unwritable, and the probe
 * that succeeds makes up for it. */
int spool_enter(struct spool *spool, const char *instance, struct error *err);

/* True if an agent of this instance has used this spool: then what it has not marked it has not
 * started. */
bool spool_knows_instance(const struct spool *spool, const char *instance);

bool spool_has(const struct spool *spool, const char *sandbox_id);
size_t spool_count(const struct spool *spool);

/* False: no further run may be started until some results are gone. */
bool spool_has_room(const struct spool *spool);

/* Why the last write failed; NULL: it can be written to. */
const struct error *spool_failure(const struct spool *spool);

/* Tries to write as much as a result may need, and what spool_enter() could not. */
int spool_probe(struct spool *spool, struct error *err);

/* Calls fn for every sandbox id; fn may remove that one. */
void spool_each(struct spool *spool, void (*fn)(const char *sandbox_id, void *arg), void *arg);

/* Writes the mark and waits for the disk. -EEXIST if the sandbox has one already. After any other
 * failure there is none. */
int spool_mark(struct spool *spool, const struct spool_record *record, struct error *err);

/* Replaces the mark by the result. */
int spool_store(struct spool *spool, const struct spool_record *record, struct error *err);

/* Reads an entry; -ENOENT, -EBADMSG if the file makes no sense. */
int spool_load(const struct spool *spool, const char *sandbox_id, struct spool_record *ret_record,
               struct error *err);

void spool_remove(struct spool *spool, const char *sandbox_id);
