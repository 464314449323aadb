/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What sandbox*.c share. */
#include "node-agent/jailer/sandbox.h"

void sandbox_fill_refusal(struct proto_refused *refusal, const char *id, const char *lock,
                          int errnum, const char *text);

/* To whoever listens, if anybody still does. */
void sandbox_say(const struct sandbox *sandbox, const struct proto_message *message,
                 const int *fds);

/* PROTO_REFUSED or PROTO_FINISHED, by how it ended. */
void sandbox_say_last_word(const struct sandbox *sandbox);

/* As PROTO_CREATED bears it. */
enum proto_warm sandbox_warmth(const struct sandbox *sandbox);

void sandbox_log_gone(const struct sandbox *sandbox);

/* With a uid of its own and of no list yet; until sandbox_enlist() the caller frees it and gives
 * the uid back. */
int sandbox_new(struct jailer *jailer, const struct proto_create *create,
                const struct sandbox_listener *listener, struct sandbox **ret_sandbox,
                struct error *err);

/* Makes the cgroup and what lives in it. On failure nothing is left, and *lock is what could not be
 * set. */
int sandbox_make(struct sandbox *sandbox, const struct proto_create *create, const char **lock,
                 struct error *err);

/* The same for a run that is there: as a fork where its runtime has a zygote, which is the sooner
 * way. Where that fails it is executed, now or by sandbox_replace(). */
int sandbox_make_soon(struct sandbox *sandbox, const struct proto_create *create, const char **lock,
                      struct error *err);

/* Of one that is gone: makes another one for its run, if that was to be forked and can't. False:
 * the last word is to be said. */
bool sandbox_replace(struct sandbox *sandbox);

/* Among the jailer's own, and in its account of memory. */
void sandbox_enlist(struct sandbox *sandbox);

/* As PROTO_REFUSED bears it. */
#define SANDBOX_LOCK_NETWORK "network"

/* The first step of one with a network: SANDBOX_WAITING, until it is made in its slot. */
int sandbox_wait_for_slot(struct sandbox *sandbox, const struct proto_create *create,
                          struct error *err);

/* Nothing of it is left: says the last word, and gives back what it had. */
void sandbox_conclude(struct sandbox *sandbox);

/* To SANDBOX_READY, with PROTO_CREATED. */
void sandbox_become_ready(struct sandbox *sandbox);

/* Ends it at at_ns. */
void sandbox_arm_deadline(struct sandbox *sandbox, uint64_t at_ns);

/* Where it may have less CPU than the dead get: its end is to be seen. */
int sandbox_watch_exit(struct sandbox *sandbox, int exit_fd, struct error *err);

/* Watches process 1, by its pidfd, to its death. */
int sandbox_watch_process(struct sandbox *sandbox, int pidfd, struct error *err);

/* Process 1 is dead, or was never born: goes on to SANDBOX_SWEEPING. */
void sandbox_bury(struct sandbox *sandbox);

/* Ends process 1, and with it everything inside; one that isn't born yet, when it is. */
void sandbox_kill(struct sandbox *sandbox);

/* Of one that is forked. Process 1 has been born, by this pidfd; nothing more will be heard of it,
 * and it hasn't been. */
void sandbox_take_birth(struct sandbox *sandbox, int pidfd);
void sandbox_miss_birth(struct sandbox *sandbox);

/* What the profile allows, or the node has. */
uint32_t sandbox_most_cpu_milli(const struct sandbox *sandbox);

/* Process 1 stands behind its locks. */
void sandbox_take_seal(struct sandbox *sandbox);

/* Of one that waits, or is forked. A file system that it shows; it is sealed; its end. */
void sandbox_take_place(struct sandbox *sandbox, uint32_t place, int fd);
void sandbox_await_hello(struct sandbox *sandbox);
void sandbox_close_ahead(struct sandbox *sandbox);
