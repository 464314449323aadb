/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <sys/types.h>

/* A listening SOCK_SEQPACKET socket at path that only owner can connect to. A socket that a dead
 * jailer left there is replaced; -EADDRINUSE if one answers. */
int listen_open(const char *path, uid_t owner, struct error *err);

/* Makes the directory at path, 0700 and owner's; -EEXIST if it is there with other rights. */
int listen_make_spool(const char *path, uid_t owner, struct error *err);
