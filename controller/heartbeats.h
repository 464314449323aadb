/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/metrics.h"
#include "controller/lease_clock.h"
#include "controller/lease_reader.h"
#include "controller/runs.h"

/*
 * The agents' Leases: how long each has not changed, by a clock of our own, and the question to the
 * API server that comes before runs are given up for that.
 */
struct heartbeats {
    struct nodes *nodes;
    struct runs *runs;
    struct lease_times times;
    struct lease_clock clock;
    int64_t led_since_us; /* by the clock; 0: since ever */
    struct lease_reader *reader;
    struct metric *answers;     /* counts enum lease_answer */
    void (*changed)(void *arg); /* a plan is due */
    void *arg;
};

/* What a read of a Lease has told. */
enum lease_answer { LEASE_ANSWER_SILENT, LEASE_ANSWER_RENEWED, LEASE_ANSWER_FAILED };

/* What points elsewhere is filled by the caller. name_space outlives it. */
int heartbeats_init(struct heartbeats *heartbeats, struct kube_client *client,
                    const char *name_space, const struct lease_times *times, struct error *err);
/* Must go before its client does. */
void heartbeats_done(struct heartbeats *heartbeats);

/* Advances the clock; its time. healthy: all watches are. To be called before the others. */
int64_t heartbeats_now(struct heartbeats *heartbeats, bool healthy);

/* A Lease as the watch shows it, or that it is gone. */
void heartbeats_set(struct heartbeats *heartbeats, const cJSON *lease);
void heartbeats_remove(struct heartbeats *heartbeats, const char *name);

/* From now on, by the clock, this controller decides: silence before doesn't count as loss. */
void heartbeats_lead(struct heartbeats *heartbeats, int64_t steady_us);
/* In place of a plan, while another controller decides: who is silent is kept up to date. */
void heartbeats_stand_by(struct heartbeats *heartbeats);

/* Reads what the last plan wants to know, and logs whose silence began or ended. */
void heartbeats_after_plan(struct heartbeats *heartbeats);
