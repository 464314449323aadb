/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/net/sysctls.h"

#include <stdbool.h>

/*
 * What the settings of a network namespace were before the first of several jailers in it changed
 * them: a file that is named by the namespace's cookie (socket(7), SO_NETNS_COOKIE). Its locks tell
 * who is there, so that the last one that goes puts back what the first one found, and one that was
 * killed is missed by nobody. Where its directory can't be written, as in a Pod, whose namespace
 * goes with it, there is no record and each jailer remembers its own.
 */
struct sysctl_record {
    int fd; /* -1: there is none */
    char path[64];
};

/* Where all jailers of a machine have it. */
#define SYSCTL_RECORD_DIR "/run"

#define SYSCTL_RECORD_INIT ((struct sysctl_record){.fd = -1})

/* Opens the record of the caller's namespace in dir and keeps others out of it until
 * sysctl_record_enter(). */
void sysctl_record_open(struct sysctl_record *ret_record, const char *dir);

/* What was recorded takes the place of what sysctls found, what it found besides is added; from
 * here on the caller counts as there. */
void sysctl_record_enter(struct sysctl_record *record, struct sysctls *sysctls);

/* The caller goes. True: it was the last one, and is to put back. Others are kept out until
 * sysctl_record_done(). */
bool sysctl_record_leave(struct sysctl_record *record);

/* last: the record goes, too. */
void sysctl_record_done(struct sysctl_record *record, bool last);
