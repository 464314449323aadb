/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/loop.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The agent's end of the socket to its jailer: sends requests, hands answers to whoever owns the
 * sandbox id, and tells every owner when the jailer is gone.
 */
struct jailer_client;

struct jailer_handlers {
    /* PROTO_CREATED (fds: PROTO_CREATED_FDS of them, the handler's to close), PROTO_REFUSED or
     * PROTO_FINISHED of this sandbox. After the last two the registration is over. */
    void (*message)(const struct proto_message *message, const int *fds, void *arg);
    /* The jailer is gone; the registration is over. */
    void (*lost)(const struct error *err, void *arg);
};

/* Adopts a connected SOCK_SEQPACKET socket (nonblocking; on failure it stays the caller's) and
 * waits for HELLO inside the loop. ready is called once with NULL error after HELLO, or with the
 * cause if it never comes right; lost is called once if the connection ends after that. */
typedef void (*jailer_ready_fn)(const struct proto_hello *hello, const struct error *err,
                                void *arg);
typedef void (*jailer_lost_fn)(const struct error *err, void *arg);

/* PROTO_NOTICE: before ready that the hello may take as long as another jailer lives, after it that
 * this one was told to stop. May free the client. */
typedef void (*jailer_notice_fn)(enum proto_notice_kind kind, void *arg);

int jailer_client_new(struct loop *loop, int sock, jailer_ready_fn ready, jailer_lost_fn lost,
                      void *arg, struct jailer_client **ret_client, struct error *err);
void jailer_client_free(struct jailer_client *client);

/* Who is told notices; nobody is at first. */
void jailer_client_set_notice(struct jailer_client *client, jailer_notice_fn notice);

/* Connects to a jailer's Unix socket; a nonblocking CLOEXEC descriptor or -errno. */
int jailer_client_connect(const char *path, struct error *err);

/* What the jailer has found of its node, as it said before its HELLO; they live as long as the
 * client. NULL and 0 if it said nothing. */
const struct proto_check *jailer_client_checks(const struct jailer_client *client,
                                               size_t *ret_count);

/* The jailer's HELLO; NULL before it came and once the jailer is gone: a request that couldn't be
 * sent tells so before lost does. */
const struct proto_hello *jailer_client_hello(const struct jailer_client *client);

/* Has fn called now, and when a pool of the jailer has changed. */
typedef void (*jailer_pools_fn)(void *arg);
void jailer_client_watch_pools(struct jailer_client *client, jailer_pools_fn fn);

/* How they are by the jailer's last words; the entries live as long as the client. */
const struct proto_pool *jailer_client_pools(const struct jailer_client *client, size_t *ret_count);

/* Sends PROTO_CREATE and registers handlers for its id. */
int jailer_client_create(struct jailer_client *client, const struct proto_create *create,
                         const struct jailer_handlers *handlers, void *arg, struct error *err);
/* not_after_ns (CLOCK_BOOTTIME; 0: whenever): the jailer refuses what it reads later. */
int jailer_client_start(struct jailer_client *client, const char *id, uint32_t timeout_ms,
                        uint64_t not_after_ns, struct error *err);
int jailer_client_kill(struct jailer_client *client, const char *id, struct error *err);

/* Drops the registration of id: later words about it are discarded (descriptors closed). */
void jailer_client_forget(struct jailer_client *client, const char *id);
