/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* `sandboxrun run`: argv[0] is the subcommand's name. Returns the exit code. */
int run_command(int argc, char **argv);
