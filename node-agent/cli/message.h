/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* One line on stderr, "sandboxrun: " before it, safe for a terminal whatever it quotes. */
void message_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
