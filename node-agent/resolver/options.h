/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/log.h"
#include "node-agent/resolver/upstreams.h"

/* The command line of sandboxrun-resolver; texts are argv's own. */
extern const char *arg_jailer_socket;   /* NULL: arg_jailer_fd */
extern int arg_jailer_fd;               /* -1: arg_jailer_socket */
extern unsigned int arg_port;           /* 0: any */
extern struct upstreams arg_upstreams;  /* none: those of /etc/resolv.conf */
extern const char *arg_metrics_address; /* NULL: no server */
extern enum log_level arg_log_level;
extern enum log_format arg_log_format;

/* 1: go on, 0: --help or --version has been answered, -EINVAL with what is wrong. */
int options_parse(int argc, char **argv, struct error *err);
