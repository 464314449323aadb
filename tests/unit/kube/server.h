/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/kube/client.h"
#include "common/loop.h"

#include <stdbool.h>

/* A scripted API server (server.py), with a loop and a client for it. Any failure to set up fails
 * the test. */
struct server {
    int port;
    struct loop *loop;
    struct loop_timer *watchdog;
    struct kube_config config; /* may be changed before server_client() */
    struct kube_client *client;
    bool timed_out;
};

/* Starts the server with a script (a JSON list of steps). */
void server_start(struct server *server, const char *script);

/* The client; config's texts are copied by it. */
void server_client(struct server *server);

/* Runs the loop until loop_stop(); fails the test after 20 s. */
void server_run(struct server *server);

/* Runs the loop for so long. */
void server_run_for(struct server *server, unsigned int ms);

/* The number of requests that the server has logged so far and that contain text. */
unsigned int server_count(struct server *server, const char *text);

/* Ends client, server and loop. */
void server_stop(struct server *server);

/* A path in the directory that all servers of this test program share. */
const char *server_path(const char *name);

/* cmocka group fixtures: make and remove that directory, start and end the process that all
 * servers are in. */
int server_setup(void **state);
int server_teardown(void **state);
