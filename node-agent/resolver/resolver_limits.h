/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Every bound of the resolver, and what happens there. README.md derives what a tunnel gets. */

/* A message: longer queries are ignored (UDP) or end the connection (TCP); a longer answer of an
 * upstream fails that try. */
#define MAX_QUERY_BYTES        1232
#define MAX_UPSTREAM_UDP_BYTES 4096
#define MAX_UPSTREAM_TCP_BYTES 16384
#define MAX_ANSWER_RECORDS     256  /* in the answer section; more: malformed */
#define MAX_ANSWER_CNAMES      12   /* a longer chain: malformed */
#define MAX_ANSWER_ADDRESSES   16   /* what comes behind them is left out */
#define MAX_NAME_POINTERS      32   /* compression pointers of one name; more: malformed */
#define MAX_REPLY_TTL          3600 /* seconds */

/* Lookups that wait for an upstream or for the jailer; beyond: REFUSED. In all as many as 64
 * sandboxes can have, so that one takes nothing from another; of connections too. */
#define MAX_LOOKUPS      4096
#define MAX_SLOT_LOOKUPS 64

/* Of one sandbox over its whole life, for what leaves the node; beyond: REFUSED. */
#define MAX_RUN_NAMES            256  /* distinct names */
#define MAX_RUN_NAME_BYTES       4096 /* of the distinct names, as on the wire */
#define MAX_RUN_UPSTREAM_QUERIES 1024
#define MAX_RUN_ANSWER_BYTES     131072

/* Rates of one sandbox, per second, and what it may do at once; beyond: REFUSED. */
#define QUERY_RATE     100 /* any query */
#define QUERY_BURST    400
#define UPSTREAM_RATE  32 /* queries that no answer of the same run is kept for */
#define UPSTREAM_BURST 128
#define LOG_RATE       20 /* lines; beyond: counted */
#define LOG_BURST      100
#define DENIED_RATE    50 /* words to the jailer; beyond: counted */
#define DENIED_BURST   200
#define MAX_LOG_RATE   500 /* lines of all sandboxes */
#define MAX_LOG_BURST  1000

/* Answers kept for one sandbox; the oldest goes first. */
#define MAX_SLOT_CACHE_ENTRIES 64
#define MAX_SLOT_CACHE_BYTES   32768
#define CACHE_LEAST_S          5 /* also for an answer without a TTL */
#define CACHE_MOST_S           60

/* TCP: beyond these a connection is closed. */
#define MAX_TCP_CONNECTIONS      256
#define MAX_SLOT_TCP_CONNECTIONS 4
#define MAX_TCP_QUERIES          64 /* of one connection */
#define TCP_IDLE_MS              5000
#define TCP_LIFE_MS              30000

/* Upstreams. A lookup ends with SERVFAIL after LOOKUP_WITHIN_MS, whatever happens. */
#define MAX_UPSTREAMS         8
#define MAX_UPSTREAM_TRIES    5
#define MAX_STRAY_ANSWERS     32 /* of one try, that are not to its question; more: failed */
#define UPSTREAM_TRY_MS       900
#define LOOKUP_WITHIN_MS      3900
#define MAX_RESOLV_CONF_BYTES 65536

/* The jailer. */
#define JAILER_WORD_WITHIN_MS  1000 /* its answer to ALLOW; beyond: SERVFAIL */
#define JAILER_HELLO_WITHIN_MS 5000
#define JAILER_RETRY_LEAST_MS  100
#define JAILER_RETRY_MOST_MS   2000
#define JAILER_STEADY_MS       10000 /* a connection that lasts so long was no failure */
#define MAX_JAILER_BATCH       64    /* messages a turn */
#define MAX_UDP_BATCH          32    /* queries a turn */
