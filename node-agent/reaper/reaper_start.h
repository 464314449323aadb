/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * How a forked jail's process 1 becomes its reaper: it executes the program that start.c is, with
 * these descriptors and no others that stay open, and with the main process as the pid namespace's
 * second one. Everything else of a reaper's is on already, its filter apart.
 */
enum reaper_fd {
    REAPER_FD_STATUS, /* JAIL_FD_STATUS: it says REPORT_SEALED, or why not, and closes it */
    REAPER_FD_EXIT,
    REAPER_FD_LIFELINE,
    REAPER_FD_BACKSTOP,
    REAPER_FD_SIGNAL, /* reaper_open_signal_fd() */
    REAPER_FD_COUNT,
};

#define REAPER_MAIN_PID 2
