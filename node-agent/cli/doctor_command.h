/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* `sandboxrun doctor`; its exit code. */
int doctor_command(int argc, char **argv);
