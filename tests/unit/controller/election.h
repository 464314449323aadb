/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "controller/leader.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Controllers that compete for one Lease, simulated: time, timers, the API server with its Lease
 * and the wires to it are made here, leader.c is the real one. Time passes only in election_run().
 */
#define ELECTION_PROCESSES 3

struct election_process {
    struct leader *leader; /* NULL: it doesn't run */
    bool stopped;          /* by SIGSTOP */
    bool cut_off;          /* what it sends gets lost, and so do answers */
    bool left;             /* leader_leave() has called back */
    unsigned int started;  /* calls of the handlers */
    unsigned int ended;
    unsigned int reads; /* requests that it has sent */
    unsigned int writes;
    struct reflector *reflector;
};

struct election {
    struct election_process processes[ELECTION_PROCESSES];
    uint64_t now_ms;     /* CLOCK_MONOTONIC */
    uint64_t asleep_ms;  /* by which CLOCK_BOOTTIME is ahead */
    int64_t wall_us;     /* what CLOCK_REALTIME said at the beginning */
    uint64_t latency_ms; /* of each way between process and server */
    int refusal;         /* status of all answers; 0: the truth */
    uint32_t random;     /* state of the generator */
    /* The Lease. */
    bool exists;
    unsigned int version;
    char holder[512];
    char renewed[64];
    char acquired[64];
    long long seconds;
    long long transitions;
    unsigned int conflicts;
};

extern struct election election;

void election_begin(void);
void election_end(void);

/* Starts process number i and has it take part. */
void election_start(unsigned int i);
/* It ends as by SIGKILL. */
void election_kill(unsigned int i);
void election_stop(unsigned int i);
/* It goes on: what was due meanwhile comes with the next election_run(). */
void election_continue(unsigned int i);
void election_leave(unsigned int i);

/* Lets time pass. Fails the test if two lead at any moment. */
void election_run(uint64_t ms);

/* The number of the process that leads; -1: none does. */
int election_leader(void);

/* The Lease as somebody else writes it: the members of spec. */
void election_write(const char *holder, long long seconds, const char *renewed);
void election_delete(void);

/* At least low and less than high. */
uint32_t election_random(uint32_t low, uint32_t high);
