/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/output.h"

#include "common/api/run_status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void append_tail(struct output *output, uint64_t offset, const char *bytes, size_t len)
{
    /* Only the last ring's worth can survive. */
    if (len > sizeof(output->tail)) {
        size_t skip = len - sizeof(output->tail);
        bytes += skip;
        offset += skip;
        len = sizeof(output->tail);
    }
    size_t at = (size_t)(offset % sizeof(output->tail));
    size_t first = smaller(len, sizeof(output->tail) - at);
    memcpy(output->tail + at, bytes, first);
    memcpy(output->tail, bytes + first, len - first);
}

void output_append(struct output *output, const char *bytes, size_t len)
{
    size_t taken = 0;
    if (output->total < sizeof(output->head)) {
        taken = smaller(len, sizeof(output->head) - (size_t)output->total);
        memcpy(output->head + output->total, bytes, taken);
    }
    if (len > taken)
        append_tail(output, output->total + taken - sizeof(output->head), bytes + taken,
                    len - taken);
    output->total += len;
}

bool output_truncated(const struct output *output)
{
    return output->total > sizeof(output->head) + sizeof(output->tail);
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Length that the character starting with this byte should have, 1 for what starts none. */
static size_t character_len(char c)
{
    unsigned char byte = (unsigned char)c;
    if (byte >= 0xf0 && byte < 0xf8)
        return 4;
    if (byte >= 0xe0 && byte < 0xf0)
        return 3;
    if (byte >= 0xc0 && byte < 0xe0)
        return 2;
    return 1;
}

/* Bytes at the end of text that begin a character and don't finish it: 0 to 3. */
static size_t unfinished_bytes(const char *text, size_t len)
{
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        char c = text[len - back];
        if (is_continuation(c))
            continue;
        return character_len(c) > back ? back : 0;
    }
    return 0;
}

/* Bytes at the start of text that end a character begun before it: 0 to 3. */
static size_t orphaned_bytes(const char *text, size_t len)
{
    size_t count = 0;
    while (count < len && count < 3 && is_continuation(text[count]))
        count++;
    return count;
}

/* The ring's len bytes in the order in which they were written. */
static void copy_tail(const struct output *output, char *text, size_t len)
{
    uint64_t written = output->total - sizeof(output->head);
    size_t start = (size_t)((written - len) % sizeof(output->tail));
    size_t first = smaller(len, sizeof(output->tail) - start);
    memcpy(text, output->tail + start, first);
    memcpy(text + first, output->tail, len - first);
}

static size_t join_truncated(const struct output *output, char *text)
{
    size_t head = sizeof(output->head) - unfinished_bytes(output->head, sizeof(output->head));
    char tail[sizeof(output->tail)];
    copy_tail(output, tail, sizeof(tail));
    size_t skipped = orphaned_bytes(tail, sizeof(tail));
    size_t tail_len = sizeof(tail) - skipped;

    char marker[RUN_STREAM_MARKER_SIZE];
    run_stream_marker(output->total - head - tail_len, marker);
    size_t marker_len = strlen(marker);

    memcpy(text, output->head, head);
    memcpy(text + head, marker, marker_len);
    memcpy(text + head + marker_len, tail + skipped, tail_len);
    return head + marker_len + tail_len;
}

int output_join(const struct output *output, char **ret_text, size_t *ret_len)
{
    size_t size = sizeof(output->head) + sizeof(output->tail) + RUN_STREAM_MARKER_SIZE;
    if (!output_truncated(output))
        size = (size_t)output->total + 1;
    char *text = malloc(size);
    if (!text)
        return -ENOMEM;

    size_t len;
    if (output_truncated(output)) {
        len = join_truncated(output, text);
    } else {
        len = (size_t)output->total;
        size_t head = smaller(len, sizeof(output->head));
        memcpy(text, output->head, head);
        if (len > head)
            copy_tail(output, text + head, len - head);
    }
    text[len] = '\0';
    *ret_text = text;
    *ret_len = len;
    return 0;
}
