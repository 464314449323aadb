/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/lease_times.h"
#include "common/error.h"
#include "common/log.h"

#include <stdint.h>

/* The command line of sandboxrun-agent; texts are argv's own. */
extern const char *arg_node_name;
extern const char *arg_jailer_socket;
extern const char *arg_spool_dir;
extern const char *arg_kubeconfig; /* NULL: in-cluster */
extern enum log_level arg_log_level;
extern const char *arg_health_address; /* NULL: no server */
extern uint64_t arg_retain_output_ms;  /* 0: not kept */
extern uint64_t arg_retain_output_bytes;
extern const char *arg_output_address; /* NULL: not served */
extern const char *arg_output_host;    /* NULL: not known */
extern const char *arg_output_cert;    /* both NULL: one of our own */
extern const char *arg_output_key;
extern const char *arg_lease_namespace; /* NULL: that of the credentials */
extern struct lease_times arg_lease_times;

/* 1: go on, 0: --help or --version has been answered, -EINVAL with what is wrong. */
int options_parse(int argc, char **argv, struct error *err);
