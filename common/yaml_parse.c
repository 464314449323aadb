/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/json_string.h"
#include "common/utf8.h"
#include "common/yaml.h"
#include "common/yaml_scalar.h"

#include <search.h>
#include <string.h>
#include <yaml.h>

/* One open collection: the node, the key that waits for its value, and the keys seen (a tree of
 * tsearch(3), so that a mapping of a million keys costs n log n). */
struct yaml_level {
    cJSON *node;
    char *key;
    void *seen;
};

struct yaml_reader {
    yaml_parser_t parser;
    struct yaml_level levels[MAX_YAML_DEPTH];
    unsigned int depth;
    cJSON *root; /* of the document being read */
    struct error *err;
};

static int yaml_fail_at(const struct yaml_reader *reader, yaml_mark_t mark, const char *problem)
{
    return error_set(reader->err, EINVAL, "line %zu, column %zu: %s", mark.line + 1,
                     mark.column + 1, problem);
}

static int yaml_fail_memory(const struct yaml_reader *reader)
{
    return error_set(reader->err, ENOMEM, "out of memory");
}

static int yaml_fail_parser(const struct yaml_reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return yaml_fail_memory(reader);
    const char *problem = parser->problem ? parser->problem : "not YAML";
    return yaml_fail_at(reader, parser->problem_mark, problem);
}

static int yaml_compare_keys(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void yaml_keep_key(void *key)
{
    (void)key; /* owned by the cJSON node */
}

static void yaml_level_done(struct yaml_level *level)
{
    free(level->key);
    tdestroy(level->seen, yaml_keep_key);
    *level = (struct yaml_level){0};
}

static void yaml_reader_done(struct yaml_reader *reader)
{
    for (unsigned int i = 0; i < reader->depth; i++)
        yaml_level_done(&reader->levels[i]);
    json_free(reader->root);
    yaml_parser_delete(&reader->parser);
}

/* Gives node to the open collection, or makes it the root; node is freed on failure. */
static int yaml_add(struct yaml_reader *reader, cJSON *node)
{
    if (!node)
        return yaml_fail_memory(reader);
    if (reader->depth == 0) {
        reader->root = node;
        return 0;
    }
    struct yaml_level *level = &reader->levels[reader->depth - 1];
    bool added = level->key ? cJSON_AddItemToObject(level->node, level->key, node)
                            : cJSON_AddItemToArray(level->node, node);
    if (!added) {
        json_free(node);
        return yaml_fail_memory(reader);
    }
    if (level->key) {
        free(level->key);
        level->key = NULL;
        if (!tsearch(node->string, &level->seen, yaml_compare_keys))
            return yaml_fail_memory(reader);
    }
    return 0;
}

static bool yaml_expects_key(const struct yaml_reader *reader)
{
    if (reader->depth == 0)
        return false;
    const struct yaml_level *level = &reader->levels[reader->depth - 1];
    return cJSON_IsObject(level->node) && !level->key;
}

static int yaml_take_key(struct yaml_reader *reader, const yaml_event_t *event)
{
    struct yaml_level *level = &reader->levels[reader->depth - 1];
    const char *text = (const char *)event->data.scalar.value;
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (plain && strcmp(text, "<<") == 0)
        return yaml_fail_at(reader, event->start_mark, "merge keys (<<) are not supported");
    if (plain && yaml_scalar_resolve(text).type == YAML_SCALAR_NULL)
        return yaml_fail_at(reader, event->start_mark, "a key must not be null");
    if (tfind(text, &level->seen, yaml_compare_keys)) {
        char quoted[JSON_QUOTE_SIZE], problem[JSON_QUOTE_SIZE + 32];
        json_quote(text, quoted);
        (void)snprintf(problem, sizeof(problem), "duplicate key %s", quoted);
        return yaml_fail_at(reader, event->start_mark, problem);
    }
    level->key = strdup(text);
    return level->key ? 0 : yaml_fail_memory(reader);
}

static int yaml_take_scalar(struct yaml_reader *reader, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    if (event->data.scalar.anchor)
        return yaml_fail_at(reader, event->start_mark, "anchors and aliases are not supported");
    if (event->data.scalar.tag)
        return yaml_fail_at(reader, event->start_mark, "tags are not supported");
    if (strlen(text) != event->data.scalar.length)
        return yaml_fail_at(reader, event->start_mark, "a NUL character in a string");
    if (yaml_expects_key(reader))
        return yaml_take_key(reader, event);
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return yaml_add(reader, cJSON_CreateString(text));

    struct yaml_scalar scalar = yaml_scalar_resolve(text);
    switch (scalar.type) {
    case YAML_SCALAR_NULL:
        return yaml_add(reader, cJSON_CreateNull());
    case YAML_SCALAR_BOOL:
        return yaml_add(reader, cJSON_CreateBool(scalar.number != 0));
    case YAML_SCALAR_NUMBER:
        return yaml_add(reader, cJSON_CreateNumber(scalar.number));
    case YAML_SCALAR_NOT_FINITE:
        return yaml_fail_at(reader, event->start_mark, "a number that is infinite or none");
    case YAML_SCALAR_STRING:
    default:
        return yaml_add(reader, cJSON_CreateString(text));
    }
}

static int yaml_open(struct yaml_reader *reader, yaml_mark_t mark, bool object, bool anchored,
                     bool tagged)
{
    if (anchored)
        return yaml_fail_at(reader, mark, "anchors and aliases are not supported");
    if (tagged)
        return yaml_fail_at(reader, mark, "tags are not supported");
    if (yaml_expects_key(reader))
        return yaml_fail_at(reader, mark, "a key must be a scalar");
    if (reader->depth == MAX_YAML_DEPTH)
        return yaml_fail_at(reader, mark, "nested too deeply");
    cJSON *node = object ? cJSON_CreateObject() : cJSON_CreateArray();
    int r = yaml_add(reader, node);
    if (r < 0)
        return r;
    reader->levels[reader->depth++] = (struct yaml_level){.node = node};
    return 0;
}

static void yaml_close(struct yaml_reader *reader)
{
    yaml_level_done(&reader->levels[--reader->depth]);
}

static int yaml_keep_document(struct yaml_reader *reader, struct yaml_documents *documents,
                              yaml_mark_t mark)
{
    cleanup_json cJSON *root = TAKE_PTR(reader->root);
    if (!root || cJSON_IsNull(root))
        return 0;
    if (documents->count == MAX_YAML_DOCUMENTS)
        return yaml_fail_at(reader, mark, "more than 256 documents");
    cJSON **trees = realloc(documents->trees, (documents->count + 1) * sizeof(*trees));
    if (!trees)
        return yaml_fail_memory(reader);
    documents->trees = trees;
    documents->trees[documents->count++] = TAKE_PTR(root);
    return 0;
}

static int yaml_take_event(struct yaml_reader *reader, const yaml_event_t *event,
                           struct yaml_documents *documents)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return yaml_take_scalar(reader, event);
    case YAML_ALIAS_EVENT:
        return yaml_fail_at(reader, event->start_mark, "anchors and aliases are not supported");
    case YAML_SEQUENCE_START_EVENT:
        return yaml_open(reader, event->start_mark, false, event->data.sequence_start.anchor,
                         event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return yaml_open(reader, event->start_mark, true, event->data.mapping_start.anchor,
                         event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        yaml_close(reader);
        return 0;
    case YAML_DOCUMENT_END_EVENT:
        return yaml_keep_document(reader, documents, event->start_mark);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_START_EVENT:
    default:
        return 0;
    }
}

static int yaml_read_events(struct yaml_reader *reader, struct yaml_documents *documents)
{
    for (bool done = false; !done;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&reader->parser, &event))
            return yaml_fail_parser(reader);
        int r = yaml_take_event(reader, &event, documents);
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (r < 0)
            return r;
    }
    return 0;
}

static int yaml_read_stream(const char *bytes, size_t len, struct yaml_documents *documents,
                            struct error *err)
{
    struct yaml_reader reader = {.err = err};
    if (!yaml_parser_initialize(&reader.parser))
        return yaml_fail_memory(&reader);
    /* Said, since libyaml else guesses UTF-16 from a mark at the start. */
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)bytes, len);
    int r = yaml_read_events(&reader, documents);
    yaml_reader_done(&reader);
    return r;
}

static const char *yaml_judge_character(size_t step, uint32_t code_point)
{
    if (step == 0)
        return "bytes that are not UTF-8";
    if (code_point == 0)
        return "a NUL character";
    bool control = (code_point < 0x20 && !strchr("\t\n\r", (int)code_point)) ||
                   (code_point >= 0x7F && code_point < 0xA0 && code_point != 0x85) ||
                   code_point == 0xFFFE || code_point == 0xFFFF;
    return control ? "a control character (to be escaped in double quotes)" : NULL;
}

/* libyaml gives no line and column for what is no text. */
static int yaml_check_text(const char *bytes, size_t len, struct error *err)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < len;) {
        uint32_t code_point = 0;
        size_t step = utf8_decode(bytes + i, len - i, &code_point);
        const char *problem = yaml_judge_character(step, code_point);
        if (problem)
            return error_set(err, EINVAL, "line %zu, column %zu: %s", line, column, problem);
        column = bytes[i] == '\n' ? 1 : column + 1;
        line += bytes[i] == '\n';
        i += step;
    }
    return 0;
}

/* JSON text goes to the JSON parser first: libyaml refuses the surrogate pairs of its escapes.
 * 1 if it was JSON, 0 if YAML has to judge. */
static int yaml_try_json(const char *bytes, size_t len, struct yaml_documents *documents,
                         struct error *err)
{
    size_t start = 0;
    while (start < len && memchr(" \t\r\n", bytes[start], 4))
        start++;
    if (start == len || bytes[start] != '{')
        return 0;
    cleanup_json cJSON *tree = NULL;
    int r = json_parse_depth(bytes, len, MAX_YAML_DEPTH, &tree, NULL);
    if (r == -EINVAL)
        return 0;
    cJSON **trees = r == 0 ? calloc(1, sizeof(*trees)) : NULL;
    if (!trees)
        return error_set(err, ENOMEM, "out of memory");
    trees[0] = TAKE_PTR(tree);
    *documents = (struct yaml_documents){.trees = trees, .count = 1};
    return 1;
}

int yaml_parse(const char *bytes, size_t len, struct yaml_documents *ret_documents,
               struct error *err)
{
    if (len > MAX_YAML_BYTES)
        return error_set(err, EFBIG, "%zu bytes of YAML, more than the limit of %u", len,
                         MAX_YAML_BYTES);
    struct yaml_documents documents = {0};
    int r = yaml_try_json(bytes, len, &documents, err);
    if (r == 0) {
        r = yaml_check_text(bytes, len, err);
        if (r == 0)
            r = yaml_read_stream(bytes, len, &documents, err);
    }
    if (r < 0) {
        yaml_documents_done(&documents);
        return r;
    }
    *ret_documents = documents;
    return 0;
}

void yaml_documents_done(struct yaml_documents *documents)
{
    if (!documents)
        return;
    for (size_t i = 0; i < documents->count; i++)
        json_free(documents->trees[i]);
    free(documents->trees);
    *documents = (struct yaml_documents){0};
}
