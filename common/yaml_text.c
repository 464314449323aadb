/* SPDX-License-Identifier: Apache-2.0 */
#include "common/yaml_text.h"

#include "common/utf8.h"
#include "common/yaml_scalar.h"

#include <errno.h>
#include <string.h>

/* What a YAML stream may hold (YAML 1.1, 5.1), without the breaks that are not \n. */
static bool yaml_is_printable(uint32_t c)
{
    if (c < 0x80)
        return c >= 0x20 && c != 0x7F;
    return c >= 0xA0 && c != 0x2028 && c != 0x2029 && c != 0xFEFF && c != 0xFFFE && c != 0xFFFF;
}

static bool yaml_all_printable(const char *text, size_t len, const char *besides)
{
    for (size_t i = 0; i < len;) {
        uint32_t c = 0;
        size_t step = utf8_decode(text + i, len - i, &c);
        bool allowed = yaml_is_printable(c) || (c > 0 && c < 0x20 && strchr(besides, (int)c));
        if (step == 0 || !allowed)
            return false;
        i += step;
    }
    return true;
}

/* Stricter than YAML is, for readers differ at its edges. */
static bool yaml_is_plain(const char *text, size_t len)
{
    if (len == 0 || strchr("?:,[]{}#&*!|>'\"%@` ", text[0]) || text[len - 1] == ' ' ||
        text[len - 1] == ':')
        return false;
    if (strstr(text, ": ") || strstr(text, " #"))
        return false;
    if (text[0] == '-' && (text[1] == '\0' || text[1] == ' ' || text[1] == '-'))
        return false;
    return strncmp(text, "...", 3) != 0 && !yaml_scalar_needs_quotes(text) &&
           yaml_all_printable(text, len, "");
}

/* One character within double quotes. */
static int yaml_append_quoted_character(struct buf *buf, const char *bytes, size_t len, uint32_t c)
{
    static const char letters[][2] = {{'"', '"'},  {'\\', '\\'}, {'\n', 'n'}, {'\t', 't'},
                                      {'\r', 'r'}, {'\b', 'b'},  {0x1B, 'e'}};
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
        if (c == (unsigned char)letters[i][0])
            return buf_printf(buf, "\\%c", letters[i][1]);
    }
    if (yaml_is_printable(c))
        return buf_append(buf, bytes, len);
    return buf_printf(buf, c < 0x100 ? "\\x%02X" : "\\u%04X", c);
}

static int yaml_append_quoted(struct buf *buf, const char *text, size_t len)
{
    int r = buf_append_char(buf, '"');
    for (size_t i = 0; i < len && r == 0;) {
        uint32_t c = 0;
        size_t step = utf8_decode(text + i, len - i, &c);
        if (step == 0)
            return -EINVAL;
        r = yaml_append_quoted_character(buf, text + i, step, c);
        i += step;
    }
    return r == 0 ? buf_append_char(buf, '"') : r;
}

int yaml_text_append_line(struct buf *buf, const char *text, size_t len)
{
    if (yaml_is_plain(text, len))
        return buf_append(buf, text, len);
    return yaml_append_quoted(buf, text, len);
}

bool yaml_text_is_block(const char *text, size_t len)
{
    if (!memchr(text, '\n', len))
        return false;
    const char *last = strrchr(text, '\n') + 1;
    if (*last != '\0' && last[strspn(last, " \t")] == '\0')
        return false;
    return yaml_all_printable(text, len, "\n\t");
}

/* "-" drops the last line break, none keeps it, "+" keeps all of them; the 2 tells the indentation
 * where the first line does not show it. */
static const char *yaml_block_header(const char *text, size_t len)
{
    static const char *const headers[2][3] = {{"|-\n", "|\n", "|+\n"}, {"|2-\n", "|2\n", "|2+\n"}};
    bool hidden = strchr(" \t\n", text[0]) != NULL;
    unsigned int chomping = 0;
    if (text[len - 1] == '\n')
        chomping = len == 1 || text[len - 2] == '\n' ? 2 : 1;
    return headers[hidden][chomping];
}

int yaml_text_append_block(struct buf *buf, const char *text, size_t len, unsigned int indent)
{
    const char *end = text + len;
    int r = buf_append_str(buf, yaml_block_header(text, len));
    while (text < end && r == 0) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t line = (size_t)((stop ? stop : end) - text);
        if (line > 0)
            r = buf_printf(buf, "%*s", (int)indent, "");
        if (r == 0)
            r = buf_append(buf, text, line);
        if (r == 0)
            r = buf_append_char(buf, '\n');
        text += line + 1;
    }
    return r;
}
