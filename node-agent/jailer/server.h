/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/checks.h"
#include "node-agent/jailer/connection.h"
#include "node-agent/jailer/jailer.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Serves one agent at a time. What it may say depends on the phase; anything else ends the
 * connection, and the end of the connection ends every sandbox that was made for it.
 */
enum server_phase {
    SERVER_SERVING,
    SERVER_STANDBY,  /* another jailer has the node: agents are told to wait for the hello */
    SERVER_UNFIT,    /* the node lacks something: nothing is made */
    SERVER_LEAVING,  /* told to stop: nothing new is made, and what runs ends by itself */
    SERVER_STOPPING, /* everything is being ended; nothing new is made */
    SERVER_PHASE_COUNT,
};

struct server {
    struct jailer *jailer;
    const struct checks *checks; /* told to each agent; NULL: none were made */
    enum server_phase phase;
    bool single;   /* ends with its one connection */
    bool given_up; /* the shutdown took too long */
    uid_t peer_uid;
    struct event_source listener;
    int listen_fd;
    struct connection connection;
    struct deadline stop_deadline;
};

void server_init(struct server *server, struct jailer *jailer);
void server_done(struct server *server);

/* Accepts agents of peer_uid at a Unix socket of that path, unless it does so already. As
 * listen_open(). */
int server_listen(struct server *server, const char *path, uid_t peer_uid, struct error *err);

/* Serves the agent at the other end of a connected socket, and stops when it leaves. */
int server_adopt(struct server *server, int sock, struct error *err);

/* Tells each agent that comes to wait, until server_serve() or server_refuse_all(). */
void server_stand_by(struct server *server);
/* Serves them, the one that has waited first. */
void server_serve(struct server *server);
/* Tells each what is missing by the checks, and refuses every jail. */
void server_refuse_all(struct server *server);

/* Lets the agent that is being served end what it runs, and stops when it has left; without one,
 * or where there is nothing to run, at once. */
void server_leave(struct server *server);

/* Tells the agent, if there is one, how the pools are. */
void server_say_pools(struct server *server);

/* Ends every sandbox as a shutdown; server_is_done() once they are gone and said so. */
void server_stop(struct server *server);
bool server_is_done(const struct server *server);
