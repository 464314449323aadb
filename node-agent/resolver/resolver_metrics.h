/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"

/* What became of a query; also a word of the log. */
enum outcome {
    OUTCOME_ANSWERED,
    OUTCOME_EMPTY,      /* the name has nothing of that type */
    OUTCOME_NXDOMAIN,   /* there is no such name */
    OUTCOME_NAME,       /* a name that this sandbox may not ask for */
    OUTCOME_ADDRESS,    /* only addresses that no sandbox may reach */
    OUTCOME_TYPE,       /* of another type than A and AAAA */
    OUTCOME_RATE,       /* too many a second */
    OUTCOME_SPENT,      /* too many in all */
    OUTCOME_BUSY,       /* too many under way */
    OUTCOME_MALFORMED,  /* no proper query */
    OUTCOME_CLIENT,     /* of nobody who may ask */
    OUTCOME_NO_JAILER,  /* there is no connection to the jailer */
    OUTCOME_UPSTREAM,   /* no upstream answered properly in time */
    OUTCOME_NOT_OPENED, /* the jailer opened none of the addresses */
    OUTCOME_TRUNCATED,  /* told to come again by TCP */
    OUTCOME_GONE,       /* the sandbox, or its connection, ended before */
    OUTCOME_COUNT,
};

const char *outcome_word(enum outcome outcome);

enum upstream_failure {
    UPSTREAM_TIMEOUT,
    UPSTREAM_UNREACHABLE,
    UPSTREAM_RCODE,
    UPSTREAM_MALFORMED,
    UPSTREAM_STRAY, /* answers to something else, too many of them */
};

enum address_verdict { ADDRESS_TOLD, ADDRESS_FORBIDDEN, ADDRESS_NOT_OPENED, ADDRESS_BEYOND };

/* All of them are the process's own: one resolver to a process. */
void metrics_count_query(enum outcome outcome);
void metrics_count_cache_hit(void);
void metrics_count_upstream_failure(enum upstream_failure failure);
void metrics_observe_upstream(uint64_t taken_ms);
void metrics_count_addresses(enum address_verdict verdict, unsigned int count);
void metrics_count_lost_log_line(void);
void metrics_count_lost_denial(void);
void metrics_count_jailer(void);
void metrics_set_jailer(int connected);
void metrics_set_load(unsigned int open_slots, unsigned int lookups, unsigned int connections);

int resolver_metrics_print(struct buf *buf);
