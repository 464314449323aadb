/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/message.h"

#include "common/buf.h"
#include "common/fd.h"
#include "node-agent/cli/terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_MESSAGE_BYTES 2048u

void message_print(const char *fmt, ...)
{
    char text[MAX_MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    /* If stderr itself fails there is nobody to tell. */
    cleanup_buf struct buf line = BUF_INIT(TERMINAL_FILTER_MAX(sizeof(text)));
    (void)buf_append_str(&line, "sandboxrun: ");
    (void)terminal_append_line(text, &line);
    (void)buf_append_char(&line, '\n');
    (void)fd_write_full(STDERR_FILENO, buf_str(&line), line.len);
}
