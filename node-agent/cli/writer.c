/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/writer.h"

#include "common/cleanup.h"
#include "node-agent/cli/cli_limits.h"

#include <errno.h>
#include <poll.h>

void writer_init(struct writer *writer, int fd, int interrupt_fd, bool raw)
{
    *writer = (struct writer){
        .fd = fd,
        .interrupt_fd = interrupt_fd,
        .filtered = !raw && isatty(fd) == 1,
    };
}

/* 1: writable, 0: interrupted, or -errno. */
static int wait_writable(struct writer *writer)
{
    struct pollfd fds[2] = {
        {.fd = writer->fd, .events = POLLOUT},
        {.fd = writer->interrupt_fd, .events = POLLIN},
    };
    for (;;) {
        int n = poll(fds, 2, writer->interrupted ? 0 : -1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (fds[1].revents)
            writer->interrupted = true;
        /* POLLERR too: the write then says what is wrong. */
        if (fds[0].revents)
            return 1;
        if (writer->interrupted)
            return 0;
    }
}

static int write_bytes(struct writer *writer, const char *bytes, size_t len)
{
    size_t written = 0;
    while (written < len) {
        int r = wait_writable(writer);
        if (r <= 0)
            return r;
        size_t chunk = len - written;
        if (chunk > MAX_WRITE_BYTES)
            chunk = MAX_WRITE_BYTES;
        ssize_t n = write(writer->fd, bytes + written, chunk);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return -errno;
        written += (size_t)n;
        writer->inside_line = bytes[written - 1] != '\n';
    }
    return 0;
}

int writer_write(struct writer *writer, const char *bytes, size_t len)
{
    if (len == 0)
        return 0;
    if (!writer->filtered)
        return write_bytes(writer, bytes, len);
    cleanup_buf struct buf safe = BUF_INIT(TERMINAL_FILTER_MAX(len));
    int r = terminal_filter_append(&writer->filter, bytes, len, &safe);
    if (r < 0)
        return r;
    return write_bytes(writer, buf_str(&safe), safe.len);
}

int writer_finish(struct writer *writer)
{
    cleanup_buf struct buf rest = BUF_INIT(TERMINAL_FILTER_MAX(0));
    int r = terminal_filter_finish(&writer->filter, &rest);
    if (r < 0 || rest.len == 0)
        return r;
    return write_bytes(writer, buf_str(&rest), rest.len);
}

int writer_begin_line(struct writer *writer)
{
    return writer->inside_line ? write_bytes(writer, "\n", 1) : 0;
}

int writer_write_own(struct writer *writer, const char *bytes, size_t len)
{
    return write_bytes(writer, bytes, len);
}
