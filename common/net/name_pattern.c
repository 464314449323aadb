/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/name_pattern.h"

#include <stddef.h>
#include <string.h>

#define MAX_LABEL 63

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_alphanumeric(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static bool is_label(const char *text, size_t len)
{
    if (len == 0 || len > MAX_LABEL || !is_alphanumeric(text[0]) || !is_alphanumeric(text[len - 1]))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_alphanumeric(text[i]) && text[i] != '-')
            return false;
    }
    return true;
}

static bool is_wildcard(const char *text)
{
    return text[0] == '*' && text[1] == '.';
}

bool name_pattern_is_valid(const char *text)
{
    if (strnlen(text, MAX_NAME_PATTERN + 1) > MAX_NAME_PATTERN)
        return false;
    const char *label = is_wildcard(text) ? text + 2 : text;
    for (size_t labels = 1;; labels++) {
        size_t len = strcspn(label, ".");
        if (!is_label(label, len))
            return false;
        if (label[len] == '\0')
            return labels >= 2 && is_letter(label[0]);
        label += len + 1;
    }
}

bool name_pattern_matches(const char *pattern, const char *name)
{
    if (!is_wildcard(pattern))
        return strcmp(pattern, name) == 0;
    const char *below = pattern + 1;
    size_t len = strlen(name), below_len = strlen(below);
    return len > below_len && name[0] != '.' && strcmp(name + len - below_len, below) == 0;
}
