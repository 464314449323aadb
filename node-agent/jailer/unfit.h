/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/checks.h"
#include "node-agent/jailer/options.h"
#include "node-agent/jailer/server.h"

/*
 * A jailer on a node that lacks something, in place of its service: tells each agent what, by the
 * checks, refuses every jail, and looks again every CHECK_AGAIN_MS. cause is why the start failed,
 * whether or not a check foresaw it.
 *
 * 0 once it was told to stop; -EAGAIN, with err set, once nothing is missing any more: whoever
 * started it starts it anew; another error if no agent can be listened to.
 */
int unfit_serve(struct server *server, const struct options *options, struct checks *checks,
                const struct error *cause, struct error *err);
