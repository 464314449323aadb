/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/agent/agent.h"
#include "tests/unit/agent/fake_jailer.h"
#include "tests/unit/kube/server.h"

#include <stdbool.h>

/* A whole agent between a scripted API server and a jailer that plays along. */
struct fixture {
    struct server server;
    struct fake_jailer jailer;
    struct agent *agent;
    bool ended;
    struct error cause; /* code 0: it was told to end */
    /* What the jailer does. */
    bool keeps_silent;                /* about CREATE */
    const struct proto_check *checks; /* says before its hello; check_count of them */
    size_t check_count;
    bool finishes;             /* a run as soon as it is started, with "hello\n" and exit code 0 */
    bool denies_network;       /* says that each run was refused an address */
    uint64_t retain_output_ms; /* > 0: whole outputs are kept, and served */
    struct lease_times lease_times; /* 0: the defaults */
    /* What it has seen. */
    unsigned int unmarked_starts; /* without a mark in the spool */
};

#define API   "/apis/sandboxrun.dev/v1alpha1"
#define NODES API "/sandboxnodes"
#define ID_A  "11111111-2222-4333-8444-aaaaaaaaaaaa"
#define ID_B  "11111111-2222-4333-8444-bbbbbbbbbbbb"

#define VERSION(version) "\"body\": {\"metadata\": {\"resourceVersion\": \"" version "\"}}}"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/system/leases"
#define LEASE(version, holder)                                                                     \
    "\"body\": {\"metadata\": {\"name\": \"node-a\", \"resourceVersion\": \"" version              \
    "\"}, \"spec\": {\"holderIdentity\": \"" holder "\"}}}"

/* The node's Lease: it isn't there at first, and each renewal is accepted. */
#define LEASE_ACCEPTED                                                                             \
    "{\"match\": \"GET " LEASES "/node-a\", \"status\": 404}, {\"match\": \"POST " LEASES          \
    "\", \"status\": 201, " LEASE("1", "") ", {\"match\": \"PATCH " LEASES                         \
                                           "/node-a\", \"sticky\": true, " LEASE("2", "")

/* The SandboxNode, which isn't there at first, of a node whose lease is renewed. */
#define NODE LEASE_ACCEPTED ", " NODE_ALONE
#define NODE_ALONE                                                                                 \
    "{\"match\": \"GET " NODES "/node-a\", \"status\": 404}, {\"match\": \"POST " NODES            \
    "\", \"status\": 201, " VERSION("1") ", {\"match\": \"PATCH " NODES                            \
                                         "/node-a/status\", \"sticky\": true, " VERSION("2")

/* A run as the API server has it, assigned so late that nothing comes later. instance "$INSTANCE"
 * is that of the agent. */
#define RUN(name, version, phase, instance, id, meta, spec)                                        \
    RUN_OF("2999", name, version, phase, instance, id, meta, spec)
#define RUN_OF(year, name, version, phase, instance, id, meta, spec)                               \
    "{\"metadata\": {\"name\": \"" name "\", \"namespace\": \"team\", \"uid\": \"uid-" name        \
    "\", \"generation\": 1, \"resourceVersion\": \"" version "\"" meta                             \
    "}, \"spec\": {\"code\": \"print(1)\"" spec "}, \"status\": {\"phase\": \"" phase              \
    "\", \"nodeName\": \"node-a\", \"agentInstance\": \"" instance "\", \"sandboxID\": \"" id      \
    "\", \"scheduledTime\": \"" year "-01-01T00:00:00.000000Z\"}}"

#define LIST(items)                                                                                \
    "{\"match\": \"limit=\", \"body\": {\"items\": [" items                                        \
    "], \"metadata\": {\"resourceVersion\": \"5\"}}}"
#define EVENT(type, run) "{\"type\": \"" type "\", \"object\": " run "}"
#define WATCH(chunks)    "{\"match\": \"watch=\", \"chunks\": [" chunks "], \"then\": \"hold\"}"

#define STATUS(name)         "PATCH " API "/namespaces/team/sandboxruns/" name "/status\", "
#define PATCHED(name)        "{\"match\": \"" STATUS(name) VERSION("11")
#define PATCH_FAILS(name, n) "{\"match\": \"" STATUS(name) "\"status\": " n "}"
#define GOT(name, run)                                                                             \
    "{\"match\": \"GET " API "/namespaces/team/sandboxruns/" name "\", \"body\": " run "}"

/* As a request's body stands in the server's log. */
#define SAID(key, value) "\\\"" key "\\\":\\\"" value "\\\""

/* Starts server and agent; the spool is server_path("spool"). */
void fixture_start(struct fixture *fixture, const char *script);
void fixture_stop(struct fixture *fixture);

/* Runs until the server has had so many requests that contain text; fails after 10 s. */
void fixture_wait(struct fixture *fixture, const char *text, unsigned int count);

/* Runs until the jailer has been asked so often. */
void fixture_wait_jailer(struct fixture *fixture, enum proto_type type, size_t count);

/* Runs until the agent has ended. */
void fixture_wait_end(struct fixture *fixture);

/* Files of runs in the spool. */
unsigned int fixture_spooled(void);

/* Puts a file into the spool. */
void fixture_spool(const char *name, const char *text);

/* cmocka group fixtures. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* cmocka test fixture: an empty spool. */
int fixture_clean(void **state);
