/* SPDX-License-Identifier: Apache-2.0 */
#include "common/error.h"

#include "common/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A message that was cut in the middle of a character would be invalid in JSON. */
static void error_drop_partial_character(char *text)
{
    size_t len = strlen(text);
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        unsigned char byte = (unsigned char)text[len - back];
        if ((byte & 0xC0) == 0x80)
            continue;
        if (byte >= 0xC0 && utf8_decode(text + len - back, back, NULL) != back)
            text[len - back] = '\0';
        return;
    }
}

/* Arguments may point into err->text, so the message is complete before it is stored. */
static void error_store(struct error *err, int errnum, const char *text)
{
    size_t len = strnlen(text, sizeof(err->text) - 1);
    memcpy(err->text, text, len);
    err->text[len] = '\0';
    error_drop_partial_character(err->text);
    err->code = errnum;
}

int error_set(struct error *err, int errnum, const char *fmt, ...)
{
    if (err) {
        char text[MAX_ERROR_TEXT];
        va_list args;
        va_start(args, fmt);
        (void)vsnprintf(text, sizeof(text), fmt, args);
        va_end(args);
        error_store(err, errnum, text);
    }
    return -errnum;
}

int error_set_errno(struct error *err, int errnum, const char *fmt, ...)
{
    if (err) {
        char text[MAX_ERROR_TEXT], whole[2 * MAX_ERROR_TEXT];
        va_list args;
        va_start(args, fmt);
        (void)vsnprintf(text, sizeof(text), fmt, args);
        va_end(args);
        int saved = errno;
        errno = errnum;
        (void)snprintf(whole, sizeof(whole), "%s: %m", text);
        errno = saved;
        error_store(err, errnum, whole);
    }
    return -errnum;
}

int error_wrap(struct error *err, const char *fmt, ...)
{
    if (!err)
        return -EIO;
    char prefix[MAX_ERROR_TEXT], whole[2 * MAX_ERROR_TEXT + 2];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(prefix, sizeof(prefix), fmt, args);
    va_end(args);
    (void)snprintf(whole, sizeof(whole), "%s: %s", prefix, err->text);
    error_store(err, err->code, whole);
    return -err->code;
}
