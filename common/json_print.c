/* SPDX-License-Identifier: Apache-2.0 */
#include "common/json.h"
#include "common/number.h"

#include <errno.h>
#include <string.h>

/*
 * Our own printer over cJSON's tree: cJSON's writes 1e15 as "1e+15", which Go refuses for an
 * integer, escapes otherwise than the API server, and can't be bounded while it grows.
 */
struct json_printer {
    struct buf *buf;
    bool pretty;
    unsigned int depth;
};

static int json_print_value(struct json_printer *printer, const cJSON *node);

static int json_print_break(const struct json_printer *printer)
{
    return printer->pretty ? buf_printf(printer->buf, "\n%*s", (int)printer->depth * 2, "") : 0;
}

static int json_print_member(struct json_printer *printer, const cJSON *node, bool named)
{
    int r = json_print_break(printer);
    if (r == 0 && named)
        r = json_append_string(printer->buf, node->string, strlen(node->string));
    if (r == 0 && named)
        r = buf_append_str(printer->buf, printer->pretty ? ": " : ":");
    return r == 0 ? json_print_value(printer, node) : r;
}

static int json_print_container(struct json_printer *printer, const cJSON *node, bool object)
{
    if (printer->depth == MAX_JSON_DEPTH)
        return -EINVAL;
    int r = buf_append_char(printer->buf, object ? '{' : '[');
    printer->depth++;
    for (const cJSON *child = node->child; child && r == 0; child = child->next) {
        if (child != node->child)
            r = buf_append_char(printer->buf, ',');
        if (r == 0)
            r = json_print_member(printer, child, object);
    }
    printer->depth--;
    if (r == 0 && node->child)
        r = json_print_break(printer);
    return r == 0 ? buf_append_char(printer->buf, object ? '}' : ']') : r;
}

static int json_print_value(struct json_printer *printer, const cJSON *node)
{
    if (cJSON_IsObject(node) || cJSON_IsArray(node))
        return json_print_container(printer, node, cJSON_IsObject(node));
    if (cJSON_IsString(node))
        return json_append_string(printer->buf, node->valuestring, strlen(node->valuestring));
    if (cJSON_IsBool(node))
        return buf_append_str(printer->buf, cJSON_IsTrue(node) ? "true" : "false");
    if (cJSON_IsNull(node))
        return buf_append_str(printer->buf, "null");
    char number[NUMBER_TEXT_SIZE];
    if (!cJSON_IsNumber(node) || number_format(node->valuedouble, number) < 0)
        return -EINVAL;
    return buf_append_str(printer->buf, number);
}

int json_print(const cJSON *tree, bool pretty, struct buf *buf)
{
    size_t before = buf->len;
    struct json_printer printer = {.buf = buf, .pretty = pretty};
    int r = json_print_value(&printer, tree);
    if (r < 0)
        buf_truncate(buf, before);
    return r;
}
