/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/cli/terminal.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * One of our own output descriptors. Writing waits for a slow reader, which in turn slows the
 * program down, but a signal to us ends that wait: whoever holds up the output can't hold up a
 * cancellation.
 */
struct writer {
    int fd;
    int interrupt_fd; /* readable when a signal is pending; -1: none */
    bool filtered;    /* a terminal, and --raw was not given */
    bool interrupted; /* nothing is waited for any more */
    bool inside_line; /* the last byte written was no newline */
    struct terminal_filter filter;
};

/* raw leaves bytes as they are even on a terminal. */
void writer_init(struct writer *writer, int fd, int interrupt_fd, bool raw);

/* Writes bytes of a program. -errno if the descriptor fails (EPIPE, ENOSPC, ...); after an
 * interruption what can't be written at once is dropped and 0 returned. */
int writer_write(struct writer *writer, const char *bytes, size_t len);

/* A program's bytes are over: half a character that waits is written as U+FFFD. */
int writer_finish(struct writer *writer);

/* Ends an unfinished line. */
int writer_begin_line(struct writer *writer);

/* Writes bytes of ours, unfiltered. */
int writer_write_own(struct writer *writer, const char *bytes, size_t len);
