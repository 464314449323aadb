/* SPDX-License-Identifier: Apache-2.0 */
#include "common/number.h"
#include "common/parse.h"
#include "common/utf8.h"
#include "common/yaml.h"
#include "common/yaml_text.h"

#include <errno.h>
#include <string.h>

/*
 * Our own printer: libyaml's puts every text with a tab in quotes, ends some documents with "..."
 * and writes keys with a line break as "? key". Sequences stand below their key without
 * indentation, as kubectl prints them.
 */
enum {
    YAML_INDENT = 2,
    MAX_YAML_SIMPLE_KEY = 500, /* bytes: quoted, it stays within the 1024 that readers look ahead */
};

struct yaml_printer {
    struct buf *buf;
    unsigned int depth;
};

static int yaml_print_entries(struct yaml_printer *printer, const cJSON *node, unsigned int indent,
                              bool on_line);

static int yaml_print_indent(const struct yaml_printer *printer, unsigned int indent)
{
    return buf_printf(printer->buf, "%*s", (int)indent, "");
}

/* text, or a copy in which each byte that is no UTF-8 is U+FFFD, as in JSON. NULL on ENOMEM. */
static const char *yaml_valid_text(const char *text, struct buf *copy)
{
    size_t len = strlen(text);
    if (parse_is_utf8(text, len))
        return text;
    for (size_t i = 0; i < len;) {
        size_t step = utf8_decode(text + i, len - i, NULL);
        int r = step ? buf_append(copy, text + i, step) : buf_append_str(copy, UTF8_REPLACEMENT);
        if (r < 0)
            return NULL;
        i += step ? step : 1;
    }
    return copy->data;
}

static int yaml_print_string(struct yaml_printer *printer, const char *text, unsigned int indent)
{
    cleanup_buf struct buf copy = BUF_INIT(SIZE_MAX);
    const char *valid = yaml_valid_text(text, &copy);
    if (!valid)
        return -ENOMEM;
    size_t len = strlen(valid);
    if (yaml_text_is_block(valid, len))
        return yaml_text_append_block(printer->buf, valid, len, indent);
    int r = yaml_text_append_line(printer->buf, valid, len);
    return r == 0 ? buf_append_char(printer->buf, '\n') : r;
}

/* What begins on the line of its key or dash; a block goes on at indent. */
static int yaml_print_scalar(struct yaml_printer *printer, const cJSON *node, unsigned int indent)
{
    if (cJSON_IsObject(node) || cJSON_IsArray(node))
        return buf_append_str(printer->buf, cJSON_IsObject(node) ? "{}\n" : "[]\n");
    if (cJSON_IsString(node))
        return yaml_print_string(printer, node->valuestring, indent);
    if (cJSON_IsBool(node))
        return buf_append_str(printer->buf, cJSON_IsTrue(node) ? "true\n" : "false\n");
    if (cJSON_IsNull(node))
        return buf_append_str(printer->buf, "null\n");
    char number[NUMBER_TEXT_SIZE];
    if (!cJSON_IsNumber(node) || number_format(node->valuedouble, number) < 0)
        return -EINVAL;
    return buf_printf(printer->buf, "%s\n", number);
}

static bool yaml_is_collection(const cJSON *node)
{
    return (cJSON_IsObject(node) || cJSON_IsArray(node)) && node->child;
}

/* "key:", or "? key" and ":" where it is too long to be seen as a key. */
static int yaml_print_key(struct yaml_printer *printer, const char *key, unsigned int indent)
{
    cleanup_buf struct buf copy = BUF_INIT(SIZE_MAX);
    const char *valid = yaml_valid_text(key, &copy);
    if (!valid)
        return -ENOMEM;
    size_t len = strlen(valid);
    bool simple = len <= MAX_YAML_SIMPLE_KEY;
    int r = simple ? 0 : buf_append_str(printer->buf, "? ");
    if (r == 0)
        r = yaml_text_append_line(printer->buf, valid, len);
    if (r == 0 && !simple)
        r = buf_append_char(printer->buf, '\n');
    if (r == 0 && !simple)
        r = yaml_print_indent(printer, indent);
    return r == 0 ? buf_append_char(printer->buf, ':') : r;
}

static int yaml_print_member(struct yaml_printer *printer, const cJSON *node, unsigned int indent)
{
    int r = yaml_print_key(printer, node->string, indent);
    if (r < 0)
        return r;
    bool collection = yaml_is_collection(node);
    r = buf_append_char(printer->buf, collection ? '\n' : ' ');
    if (r < 0)
        return r;
    if (!collection)
        return yaml_print_scalar(printer, node, indent + YAML_INDENT);
    unsigned int below = cJSON_IsObject(node) ? indent + YAML_INDENT : indent;
    return yaml_print_entries(printer, node, below, false);
}

static int yaml_print_item(struct yaml_printer *printer, const cJSON *node, unsigned int indent)
{
    int r = buf_append_str(printer->buf, "- ");
    if (r < 0)
        return r;
    if (!yaml_is_collection(node))
        return yaml_print_scalar(printer, node, indent + YAML_INDENT);
    return yaml_print_entries(printer, node, indent + YAML_INDENT, true);
}

/* The entries of a collection that is not empty; on_line: the first is in its place already. */
static int yaml_print_entries(struct yaml_printer *printer, const cJSON *node, unsigned int indent,
                              bool on_line)
{
    if (printer->depth == MAX_JSON_DEPTH)
        return -EINVAL;
    printer->depth++;
    int r = 0;
    for (const cJSON *child = node->child; child && r == 0; child = child->next) {
        if (child != node->child || !on_line)
            r = yaml_print_indent(printer, indent);
        if (r == 0)
            r = cJSON_IsObject(node) ? yaml_print_member(printer, child, indent)
                                     : yaml_print_item(printer, child, indent);
    }
    printer->depth--;
    return r;
}

int yaml_print(const cJSON *tree, struct buf *buf)
{
    size_t before = buf->len;
    struct yaml_printer printer = {.buf = buf};
    int r = yaml_is_collection(tree) ? yaml_print_entries(&printer, tree, 0, false)
                                     : yaml_print_scalar(&printer, tree, YAML_INDENT);
    if (r < 0)
        buf_truncate(buf, before);
    return r;
}
