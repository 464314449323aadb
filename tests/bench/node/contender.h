/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Something that runs a program: the bare interpreter, this project in one of its ways, or another
 * sandbox. Each is told by a line of tab-separated words:
 *
 *   spawned     NAME EVERY WORD...    a command; the word ";" begins a further one of the same run
 *   prestarted  NAME EVERY WORD...    a command that says one line, then runs what it reads
 *   jailed      NAME EVERY SETTLE_MS RUNTIME JAILER WORD...
 *                                     with a pool if SETTLE_MS, after which it is full again, isn't
 * 0
 *
 * EVERY: it takes part in each so many-th round only. In words of spawned ones {code} is the
 * program, {id} is new for each run, and {worker} a small number that nobody else has meanwhile.
 */
#define MAX_CONTENDERS 24
#define MAX_WORDS      96

/* Of one run, in nanoseconds from its request; created and started are of jailed ones alone, and so
 * is the request's own time by CLOCK_MONOTONIC. */
struct sample {
    uint64_t from_ns;
    uint64_t created_ns, started_ns, output_ns, end_ns;
    bool warm;
    char id[40]; /* of the sandbox */
    char output[32];
};

/* Of many runs at once. Counted are those that ended within the window; what they cost is told of
 * all there were. */
struct flood {
    uint64_t counted, runs, warm;
    uint64_t cpu_ns;
    double seconds; /* of the window */
};

struct contender {
    const struct contender_kind *kind;
    char *line; /* that words point into */
    const char *name;
    uint64_t every;
    const char *words[MAX_WORDS + 1];
    size_t word_count;
    void *state;
};

struct contender_kind {
    const char *name;
    int (*open)(struct contender *contender, struct error *err);
    /* Before the clock of a run starts. May be NULL. */
    int (*prepare)(struct contender *contender, const char *code, struct error *err);
    int (*run)(struct contender *contender, const char *code, struct sample *ret_sample,
               struct error *err);
    /* Behind it, before somebody else's turn. May be NULL. */
    void (*settle)(struct contender *contender);
    int (*flood)(struct contender *contender, const char *code, unsigned int at_once,
                 uint64_t window_ms, struct flood *ret_flood, struct error *err);
    void (*close)(struct contender *contender);
};

extern const struct contender_kind spawned_kind;
extern const struct contender_kind prestarted_kind;
extern const struct contender_kind jailed_kind;

/* Takes line apart, which stays the contender's. */
int contender_parse(struct contender *contender, char *line, struct error *err);

/* A flood begins with a time in which nothing is counted. */
static inline uint64_t flood_ramp_ms(uint64_t window_ms)
{
    return window_ms / 5 + 50;
}

/* posix_spawn(3) takes char pointers and does not write through them. */
char *const *spawn_arguments(const char *const argv[]);

/* Nothing is done for so long. */
void pause_ms(uint64_t ms);
