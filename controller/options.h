/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/lease_times.h"
#include "common/error.h"
#include "common/log.h"
#include "controller/leader_plan.h"

#include <stdbool.h>
#include <stdint.h>

/* The command line, as read by options_parse(). */
extern const char *arg_kubeconfig; /* NULL: in-cluster configuration */
extern const char *arg_health_address;
extern const char *arg_lease_namespace; /* NULL: that of the credentials */
extern struct lease_times arg_lease_times;
extern bool arg_leader_elect;
extern struct leader_times arg_leader_times;
extern int64_t arg_ttl_seconds;
extern enum log_level arg_log_level;

/* 1 to go on, 0 if --help or --version was printed, -EINVAL with one line in err. */
int options_parse(int argc, char **argv, struct error *err);
