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

void sandbox_log_gone(const struct sandbox *sandbox);
