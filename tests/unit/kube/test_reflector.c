/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/kube/reflector.h"
#include "server.h"

#include <string.h>

/* A consumer that writes down what it is told: "+name@version" for an object with a spec,
 * "~name@version" for one without, "-name(uid)", "=" for a complete list. */
struct consumer {
    struct server *server;
    struct reflector *reflector;
    struct buf told;
    const char *until;   /* stop the loop when the record ends so */
    const char *free_at; /* free the reflector then */
    bool free_client;
    const char *relist_at; /* take what was told for old, once */
};

static void tell(struct consumer *consumer, const char *text)
{
    assert_int_equal(buf_append_str(&consumer->told, text), 0);
    const char *told = buf_str(&consumer->told);
    size_t len = strlen(told);
    if (consumer->free_at && len >= strlen(consumer->free_at) &&
        strcmp(told + len - strlen(consumer->free_at), consumer->free_at) == 0) {
        reflector_free(consumer->reflector);
        consumer->reflector = NULL;
        if (consumer->free_client) {
            kube_client_free(consumer->server->client);
            consumer->server->client = NULL;
        }
    }
    if (consumer->relist_at && len >= strlen(consumer->relist_at) &&
        strcmp(told + len - strlen(consumer->relist_at), consumer->relist_at) == 0) {
        consumer->relist_at = NULL;
        reflector_relist(consumer->reflector);
    }
    if (consumer->until && len >= strlen(consumer->until) &&
        strcmp(told + len - strlen(consumer->until), consumer->until) == 0)
        loop_stop(consumer->server->loop);
}

static void on_upsert(const cJSON *object, size_t bytes, void *arg)
{
    (void)bytes;
    char text[512];
    const char *version = json_get_string(object, "metadata.resourceVersion");

    (void)snprintf(text, sizeof(text), "%c%s@%s ", json_get(object, "spec") ? '+' : '~',
                   json_get_string(object, "metadata.name"), version ? version : "");
    tell(arg, text);
}

static void on_remove(const char *name_space, const char *name, const char *uid, void *arg)
{
    char text[512];

    assert_string_equal(name_space, "n");
    (void)snprintf(text, sizeof(text), "-%s(%s) ", name, uid);
    tell(arg, text);
}

static void on_synced(void *arg)
{
    tell(arg, "= ");
}

static void start(struct consumer *consumer, struct server *server, const char *script,
                  unsigned int silence_ms)
{
    static const struct reflector_handlers handlers = {
        .upsert = on_upsert, .remove = on_remove, .synced = on_synced};
    const struct reflector_options options = {.path = "/apis/g/v1/things",
                                              .field_selector = "status.nodeName=a/b",
                                              .page_size = 2,
                                              .silence_ms = silence_ms,
                                              .name = "things"};
    struct error err = {0};

    server_start(server, script);
    server_client(server);
    consumer->server = server;
    buf_init(&consumer->told, 1u << 20);
    if (reflector_new(server->client, &options, &handlers, consumer, &consumer->reflector, &err))
        fail_msg("%s", err.text);
    assert_string_equal(buf_str(&consumer->told), "");
}

static void stop(struct consumer *consumer)
{
    reflector_free(consumer->reflector);
    buf_done(&consumer->told);
    server_stop(consumer->server);
}

#define OBJECT(name, uid, version)                                                                 \
    "{\"metadata\": {\"name\": \"" name "\", \"namespace\": \"n\", \"uid\": \"" uid                \
    "\", \"resourceVersion\": \"" version "\"}, \"spec\": {}}"
#define EVENT(type, object) "{\"type\": \"" type "\", \"object\": " object "}"
#define BOOKMARK(version)                                                                          \
    EVENT("BOOKMARK", "{\"metadata\": {\"resourceVersion\": \"" version "\"}}")
#define LIST(version, more, items)                                                                 \
    "{\"match\": \"limit=\", \"body\": {\"items\": [" items                                        \
    "], \"metadata\": {\"resourceVersion\": \"" version "\", \"continue\": \"" more "\"}}}"
#define WATCH(chunks, then)                                                                        \
    "{\"match\": \"watch=\", \"chunks\": [" chunks "], \"then\": \"" then "\"}"
#define GONE(match)                                                                                \
    "{\"match\": \"" match "\", \"status\": 410, \"body\": {\"reason\": \"Expired\"}}"
#define ERROR(code)                                                                                \
    EVENT("ERROR", "{\"kind\": \"Status\", \"code\": " code ", \"message\": \"no\"}")

/* A script, and what the consumer is told by it. */
struct scenario {
    const char *name;
    const char *script;
    const char *told;
    const char *request; /* one that must have been made, a part of it */
    unsigned int requests;
};

static const struct scenario scenarios[] = {
    {"pages and events",
     "[" LIST("5", "t 1", OBJECT("a", "1", "1") "," OBJECT("b", "2", "2")) "," LIST("5", "", OBJECT("c", "3", "3")) "," WATCH(
         EVENT("ADDED", OBJECT("d", "4", "6")) "," EVENT(
             "MODIFIED",
             OBJECT("a", "1",
                    "7")) "," EVENT("DELETED",
                                    OBJECT("b", "2",
                                           "8")) "," BOOKMARK("9") "," EVENT("ADDED",
                                                                             OBJECT("e", "5",
                                                                                    "10")),
         "hold") "]",
     "+a@1 +b@2 +c@3 = +d@6 +a@7 -b(2) +e@10 ",
     "limit=2&continue=t%201&fieldSelector=status.nodeName%3Da%2Fb", 3},
    {"a bookmark is where the next watch begins",
     "[" LIST("5", "", "") "," WATCH(BOOKMARK("9"), "end") "," WATCH(
         EVENT("ADDED", OBJECT("z", "9", "10")), "hold") "]",
     "= +z@10 ", "resourceVersion=9&", 3},
    {"410 at a page",
     "[" LIST("5", "t", OBJECT("a", "1", "1") "," OBJECT("b", "2", "2")) "," GONE(
         "continue=t") "," LIST("6", "",
                                OBJECT("b", "2", "3") "," OBJECT(
                                    "z", "3", "4")) "," WATCH(EVENT("DELETED",
                                                                    OBJECT("b", "2", "9")),
                                                              "hold") "]",
     "+a@1 +b@2 +b@3 +z@4 -a(1) = -b(2) ", "resourceVersion=6", 4},
    {"410 at every second page: then in one piece",
     "[" LIST("5", "t1", OBJECT("a", "1", "1")) "," GONE("continue=t1") "," LIST(
         "6", "t2",
         OBJECT("a", "1", "1")) "," GONE("continue=t2") "," LIST("7", "",
                                                                 OBJECT("a", "1", "1") "," OBJECT(
                                                                     "z", "2",
                                                                     "2")) "," WATCH("",
                                                                                     "hold") "]",
     "+a@1 +z@2 = ", "limit=0&", 6},
    {"410 at the start of a watch",
     "[" LIST("5", "", OBJECT("a", "1", "1") "," OBJECT("b", "2", "2")) "," GONE("watch=") "," LIST(
         "7", "", OBJECT("b", "2", "2") "," OBJECT("z", "3", "4")) "," WATCH("", "hold") "]",
     "+a@1 +b@2 = +z@4 -a(1) = ", "resourceVersion=5&", 4},
    {"410 in the stream",
     "[" LIST("5", "", OBJECT("a", "1", "1")) "," WATCH(
         EVENT("ADDED", OBJECT("b", "2", "6")) "," ERROR("410") "," EVENT("ADDED",
                                                                          OBJECT("x", "9", "7")),
         "hold") "," LIST("8", "", OBJECT("b", "2", "6")) "," WATCH("", "hold") "]",
     "+a@1 = +b@6 -a(1) = ", "resourceVersion=5&", 4},
    {"another error in the stream",
     "[" LIST("5", "", "") "," WATCH(EVENT("ADDED", OBJECT("b", "2", "6")) "," ERROR("500"),
                                     "hold") "," WATCH(EVENT("ADDED", OBJECT("z", "3", "7")),
                                                       "hold") "]",
     "= +b@6 +z@7 ", "resourceVersion=6&", 3},
    {"a stream that breaks off in a line",
     "[" LIST("5", "", "") "," WATCH(
         EVENT("ADDED", OBJECT("a", "1", "6")) ", \"{\\\"type\\\": \\\"ADDED\\\", \\\"obj\"",
         "break") "," WATCH(EVENT("ADDED", OBJECT("z", "3", "7")), "hold") "]",
     "= +a@6 +z@7 ", "resourceVersion=6&", 3},
    {"half a line at the end",
     "[" LIST("5", "", "") "," WATCH(
         EVENT("ADDED", OBJECT("a", "1", "6")) ", \"{\\\"type\\\": \\\"ADDED\\\", \\\"obj\"",
         "end") "," WATCH(EVENT("ADDED", OBJECT("z", "3", "7")), "hold") "]",
     "= +a@6 +z@7 ", "resourceVersion=6&", 3},
    {"a character in two pieces",
     "[" LIST("5", "", "") "," WATCH(
         "\"{\\\"type\\\": \\\"ADDED\\\", \\\"object\\\": {\\\"metadata\\\": {\\\"name\\\": "
         "\\\"h\\u00c3\", {\"sleep\": 0.1}, \"\\u00a4\\\", \\\"resourceVersion\\\": \\\"6\\\"}, "
         "\\\"spec\\\": {}}}\\n\"",
         "hold") "]",
     "= +h\xc3\xa4@6 ", "resourceVersion=5&", 2},
    {"a line over the cap",
     "[" LIST("5", "", "") "," WATCH(
         "\"{\\\"type\\\": \\\"ADDED\\\", \\\"object\\\": {\\\"metadata\\\": {\\\"name\\\": "
         "\\\"big\\\", \\\"namespace\\\": \\\"n\\\", \\\"resourceVersion\\\": \\\"6\\\"}, "
         "\\\"spec\\\": {\\\"code\\\": \\\"\", {\"repeat\": \"x\", \"count\": 9000000}, "
         "\"\\\"}}}\\n\"," EVENT("ADDED", OBJECT("z", "3", "7")),
         "hold") ", {\"match\": \"/namespaces/n/things/big\", \"delay\": 0.3, \"body\": "
                 "{\"metadata\": {\"name\": \"big\", \"namespace\": \"n\", \"uid\": \"1\", "
                 "\"resourceVersion\": \"6\"}}}]",
     "= +z@7 ~big@6 ",
     "/apis/g/v1/namespaces/n/things/big\", \"Bearer sesame\", \"\", "
     "\"application/json;as=PartialObjectMetadata",
     3},
    {"an item over the cap",
     "[{\"match\": \"limit=\", \"chunks\": [\"{\\\"items\\\": [{\\\"metadata\\\": {\\\"name\\\": "
     "\\\"big\\\", \\\"namespace\\\": \\\"n\\\"}, \\\"spec\\\": \\\"\", {\"repeat\": \"x\", "
     "\"count\": 9000000}, \"\\\"}, {\\\"metadata\\\": {\\\"name\\\": \\\"b\\\"}, \\\"spec\\\": "
     "1}], \\\"metadata\\\": {\\\"resourceVersion\\\": \\\"5\\\"}}\"]}," WATCH(
         "", "hold") ", {\"match\": \"/namespaces/n/things/big\", \"delay\": 0.3, \"body\": "
                     "{\"metadata\": {\"name\": \"big\", \"namespace\": \"n\", \"uid\": \"1\", "
                     "\"resourceVersion\": \"4\"}}}]",
     "+b@ = ~big@4 ", "/apis/g/v1/namespaces/n/things/big", 3},
    {"an object over the cap that is gone when it is asked for",
     "[" LIST("5", "", OBJECT("big", "1", "1")) "," WATCH(
         "\"{\\\"type\\\": \\\"MODIFIED\\\", \\\"object\\\": {\\\"metadata\\\": {\\\"name\\\": "
         "\\\"big\\\", \\\"namespace\\\": \\\"n\\\"}, \\\"x\\\": \\\"\", {\"repeat\": \"x\", "
         "\"count\": 5000000}, \"\\\"}}\\n\"",
         "hold") ", {\"match\": \"things/big\", \"status\": 404}]",
     "+big@1 = -big(1) ", "things/big", 3},
    {"the end of an object over the cap",
     "[" LIST("5", "", OBJECT("big", "1", "1")) "," WATCH(
         "\"{\\\"type\\\": \\\"DELETED\\\", \\\"object\\\": {\\\"metadata\\\": {\\\"name\\\": "
         "\\\"big\\\", \\\"namespace\\\": \\\"n\\\"}, \\\"x\\\": \\\"\", {\"repeat\": \"x\", "
         "\"count\": 5000000}, \"\\\"}}\\n\"",
         "hold") "]",
     "+big@1 = -big(1) ", "watch=", 2},
    {"an object with a NUL in a text, which no C string can carry",
     "[" LIST("5", "", "") "," WATCH(
         "\"{\\\"type\\\": \\\"ADDED\\\", \\\"object\\\": {\\\"metadata\\\": {\\\"name\\\": "
         "\\\"nul\\\", \\\"namespace\\\": \\\"n\\\", \\\"resourceVersion\\\": \\\"6\\\"}, "
         "\\\"spec\\\": \\\"\\\\u0000\\\"}}\\n\"",
         "hold") ", {\"match\": \"things/nul\", \"body\": {\"metadata\": {\"name\": \"nul\", "
                 "\"namespace\": \"n\", \"uid\": \"1\", \"resourceVersion\": \"6\"}}}]",
     "= ~nul@6 ", "things/nul", 3},
    {"a line that makes no sense",
     "[" LIST("5", "", OBJECT("a", "1", "1")) "," WATCH("\"rubbish\\n\"", "hold") "," LIST(
         "6", "", OBJECT("b", "2", "2")) "," WATCH("", "hold") "]",
     "+a@1 = +b@2 -a(1) = ", "resourceVersion=5&", 4},
    {"an event of no known type",
     "[" LIST("5", "", OBJECT("a", "1", "1")) "," WATCH(
         EVENT("RENAMED", OBJECT("a", "1", "2")),
         "hold") "," LIST("6", "", OBJECT("b", "2", "2")) "," WATCH("", "hold") "]",
     "+a@1 = +b@2 -a(1) = ", "resourceVersion=5&", 4},
    {"an item without a name: nothing is swept",
     "[" LIST("5", "", OBJECT("a", "1", "1")) "," GONE("watch=") "," LIST(
         "6", "", "{\"metadata\": {}}, " OBJECT("b", "2", "2")) "," WATCH("", "hold") "]",
     "+a@1 = +b@2 = ", "resourceVersion=5&", 4},
    {"the same name, another object",
     "[" LIST("5", "", OBJECT("a", "1", "1")) "," WATCH(
         EVENT("ADDED", OBJECT("a", "2", "6")) "," EVENT("MODIFIED", OBJECT("a", "2", "6")),
         "hold") "]",
     "+a@1 = -a(1) +a@6 ", "watch=", 2},
    {"a late word about an object that had the name before",
     "[" LIST("5", "", OBJECT("a", "2", "4")) "," WATCH(
         EVENT("DELETED", OBJECT("a", "1", "3")) "," EVENT("ADDED", OBJECT("z", "3", "7")),
         "hold") "]",
     "+a@4 = +z@7 ", "watch=", 2},
    {"such a word while the object that has it now is asked for",
     "[" LIST("5", "", "") "," WATCH(
         EVENT("ADDED",
               "{\"metadata\": {\"name\": \"a\", \"namespace\": \"n\", \"uid\": \"2\", "
               "\"resourceVersion\": \"6\"}, \"spec\": \"\\u0000\"}") "," EVENT("DELETED",
                                                                                OBJECT("a", "1",
                                                                                       "3")),
         "hold") ", {\"match\": \"things/a\", \"delay\": 0.3, \"body\": {\"metadata\": {\"name\": "
                 "\"a\", \"namespace\": \"n\", \"uid\": \"2\", \"resourceVersion\": \"6\"}}}]",
     "= ~a@6 ", "things/a", 3},
    {"metadata that is refused at first",
     "[" LIST("5", "", "") "," WATCH(
         EVENT("ADDED", "{\"metadata\": {\"name\": \"nul\", \"namespace\": \"n\", "
                        "\"resourceVersion\": \"6\"}, \"spec\": \"\\u0000\"}"),
         "hold") ", {\"match\": \"things/nul\", \"status\": 403}, {\"match\": \"things/nul\", "
                 "\"body\": {\"metadata\": {\"name\": \"nul\", \"namespace\": \"n\", \"uid\": "
                 "\"1\", \"resourceVersion\": \"6\"}}}]",
     "= ~nul@6 ", "things/nul", 4},
    {"metadata that can't be read either",
     "[" LIST("5", "", "") "," WATCH(
         EVENT("ADDED", "{\"metadata\": {\"annotations\": {\"x\": \"\\u0000\"}, \"name\": "
                        "\"nul\", \"namespace\": \"n\", \"resourceVersion\": \"6\"}}"),
         "hold") ", {\"match\": \"things/nul\", \"body\": {\"metadata\": {\"annotations\": {\"x\": "
                 "\"\\u0000\"}, \"name\": \"nul\", \"namespace\": \"n\", \"uid\": \"1\", "
                 "\"resourceVersion\": \"6\"}}}]",
     "= ~nul@6 ", "things/nul", 3},
    {"a list in which an object was replaced",
     "[" LIST("5", "", OBJECT("a", "1", "1")) "," GONE("watch=") "," LIST(
         "6", "", OBJECT("a", "2", "3")) "," WATCH("", "hold") "]",
     "+a@1 = -a(1) +a@3 = ", "watch=", 4},
    {"answers that are no lists",
     "[{\"match\": \"limit=\", \"body\": \"<html>\"}, {\"match\": \"limit=\", \"body\": "
     "{\"kind\": \"Status\"}}, {\"match\": \"limit=\", \"chunks\": [\"{\\\"items\\\": [\"]}," LIST(
         "5", "", OBJECT("a", "1", "1")) "," WATCH("", "hold") "]",
     "+a@1 = ", "watch=", 5},
    {"a list that is refused, with a time to wait",
     "[{\"match\": \"limit=\", \"status\": 429, \"headers\": {\"Retry-After\": \"1\"}}, {\"match\": "
     "\"limit=\", \"status\": 503}," LIST("5", "", OBJECT("a", "1", "1")) "," WATCH("", "hold") "]",
     "+a@1 = ", "watch=", 4},
    {"a kind that goes away",
     "[" LIST("5", "", OBJECT("a", "1", "1")) ", {\"match\": \"watch=\", \"status\": 404}, "
                                              "{\"match\": \"limit=\", \"status\": 404}," LIST(
                                                  "6", "", "") "," WATCH("", "hold") "]",
     "+a@1 = -a(1) = ", "watch=", 5},
};

static void test_scenarios(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
        const struct scenario *s = &scenarios[i];
        struct consumer consumer = {.until = s->told};
        struct server server;
        print_message("           %s\n", s->name);
        start(&consumer, &server, s->script, 0);
        server_run(&server);
        /* A watch may follow the last word. */
        consumer.until = NULL;
        for (int n = 0; n < 100 && server_count(&server, "GET") < s->requests; n++)
            server_run_for(&server, 50);
        assert_string_equal(buf_str(&consumer.told), s->told);
        assert_int_equal(server_count(&server, "GET"), s->requests);
        assert_true(server_count(&server, s->request) > 0);
        server_run_for(&server, 50);
        assert_true(reflector_is_healthy(consumer.reflector));
        stop(&consumer);
    }
}

static void test_a_silent_watch_is_made_anew(void **state)
{
    (void)state;
    struct consumer consumer = {.until = "+z@7 "};
    struct server server;

    start(&consumer, &server,
          "[" LIST("5", "", "") "," WATCH(EVENT("ADDED", OBJECT("a", "1", "6")), "hold") "," WATCH(
              EVENT("ADDED", OBJECT("z", "2", "7")), "hold") "]",
          1200);
    uint64_t began_ns = clock_monotonic_ns();
    server_run(&server);
    uint64_t ms = (clock_monotonic_ns() - began_ns) / 1000000;
    assert_string_equal(buf_str(&consumer.told), "= +a@6 +z@7 ");
    assert_in_range(ms, 1200, 3000);
    assert_int_equal(reflector_stats(consumer.reflector).watches, 2);
    stop(&consumer);
}

/* Bytes come all the time, but never the end of a line. */
static void test_a_watch_that_trickles_is_made_anew(void **state)
{
    (void)state;
    struct consumer consumer = {.until = "+z@7 "};
    struct server server;

    start(&consumer, &server,
          "[" LIST("5", "", "") ", {\"match\": \"watch=\", \"chunks\": [\"{\", {\"sleep\": 0.4}, "
                                "\" \", {\"sleep\": 0.4}, \" \", {\"sleep\": 0.4}, \" \", "
                                "{\"sleep\": 0.4}, \" \", {\"sleep\": 0.4}, \" \", {\"sleep\": "
                                "0.4}], \"then\": \"hold\"}," WATCH(
                                    EVENT("ADDED", OBJECT("z", "2", "7")), "hold") "]",
          1200);
    uint64_t began_ns = clock_monotonic_ns();
    server_run(&server);
    uint64_t ms = (clock_monotonic_ns() - began_ns) / 1000000;
    assert_string_equal(buf_str(&consumer.told), "= +z@7 ");
    assert_in_range(ms, 1200, 2300);
    stop(&consumer);
}

/* Objects that can't be read, more than are asked for at a time: all of them are told of, and the
 * list is complete without them. */
static void test_many_objects_that_can_not_be_read(void **state)
{
    (void)state;
    cleanup_buf struct buf script = BUF_INIT(1u << 20);
    struct consumer consumer = {0};
    struct server server;
    unsigned int told = 0;

    assert_int_equal(buf_append_str(&script, "[{\"match\": \"limit=\", \"body\": {\"items\": ["),
                     0);
    for (int i = 0; i < 200; i++)
        assert_int_equal(buf_printf(&script,
                                    "{\"metadata\": {\"name\": \"nul-%d\", \"namespace\": \"n\"}"
                                    ", \"spec\": \"\\u0000\"}%s",
                                    i, i < 199 ? "," : ""),
                         0);
    assert_int_equal(buf_append_str(&script, "], \"metadata\": {\"resourceVersion\": \"5\"}}},"
                                             "{\"match\": \"things/nul\", \"sticky\": true, "
                                             "\"delay\": 0.01, \"body\": {\"metadata\": "
                                             "{\"name\": \"same\", \"namespace\": \"n\"}}}," WATCH(
                                                 "", "hold") "]"),
                     0);
    start(&consumer, &server, buf_str(&script), 0);
    for (int n = 0; n < 200 && told < 200; n++) {
        server_run_for(&server, 50);
        told = 0;
        for (const char *at = buf_str(&consumer.told); (at = strstr(at, "~same@ ")); at++)
            told++;
    }
    assert_int_equal(told, 200);
    assert_int_equal(server_count(&server, "limit="), 1);
    stop(&consumer);
}

/* A server that closes every watch at once, and one that answers every list with an error. */
static void test_no_busy_loop(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "[" LIST("5", "", "") ", {\"match\": \"watch=\", \"sticky\": true, \"chunks\": []}]",
        "[" LIST("5", "", "") ", {\"match\": \"watch=\", \"sticky\": true, \"chunks\": "
                              "[" BOOKMARK("6") "]}]",
        "[" LIST("5", "", "") ", {\"match\": \"watch=\", \"sticky\": true, \"chunks\": "
                              "[" BOOKMARK("6") "], \"then\": \"break\"}]",
        "[{\"match\": \"limit=\", \"sticky\": true, \"status\": 500}]",
        "[{\"match\": \"limit=\", \"sticky\": true, \"body\": {\"items\": [], \"metadata\": "
        "{\"resourceVersion\": \"5\"}}}, {\"match\": \"watch=\", \"sticky\": true, \"status\": "
        "410}]",
        "[{\"match\": \"limit=\", \"sticky\": true, \"body\": {\"items\": [], \"metadata\": "
        "{\"resourceVersion\": \"5\"}}}, {\"match\": \"watch=\", \"sticky\": true, \"chunks\": "
        "[" BOOKMARK("6") "," ERROR("410") "]}]",
    };

    for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
        struct consumer consumer = {0};
        struct server server;
        start(&consumer, &server, scripts[i], 0);
        server_run_for(&server, 2000);
        unsigned int requests = server_count(&server, "GET");
        print_message("           %u requests in 2 s\n", requests);
        assert_in_range(requests, 3, 10);
        stop(&consumer);
    }
}

static void test_unhealthy_while_nothing_comes(void **state)
{
    (void)state;
    struct consumer consumer = {.until = "= "};
    struct server server;

    start(&consumer, &server,
          "[{\"match\": \"limit=\", \"status\": 503}," LIST(
              "5", "", "") ", {\"match\": \"watch=\", \"status\": 500}," WATCH("", "hold") "]",
          0);
    assert_false(reflector_is_healthy(consumer.reflector));
    server_run_for(&server, 100);
    assert_false(reflector_is_healthy(consumer.reflector));
    server_run(&server);
    assert_true(reflector_is_healthy(consumer.reflector));
    server_run_for(&server, 100);
    assert_false(reflector_is_healthy(consumer.reflector));
    for (int n = 0; n < 100 && server_count(&server, "GET") < 4; n++)
        server_run_for(&server, 50);
    server_run_for(&server, 50);
    assert_true(reflector_is_healthy(consumer.reflector));
    stop(&consumer);
}

static void test_a_handler_may_free_everything(void **state)
{
    (void)state;
    static const char script[] =
        "[" LIST("5", "t", OBJECT("a", "1", "1") "," OBJECT("b", "2", "2")) "," LIST(
            "5", "",
            OBJECT("c", "3",
                   "3")) "," WATCH(EVENT("ADDED",
                                         OBJECT("d", "4",
                                                "6")) "," EVENT("DELETED",
                                                                OBJECT("a", "1",
                                                                       "8")) "," EVENT("ADDED",
                                                                                       OBJECT("e",
                                                                                              "5",
                                                                                              "9")),
                                   "hold") "," LIST("9", "", "") "]";
    static const char *const points[] = {"+a@1 ", "+c@3 ", "= ", "+d@6 ", "-a(1) "};

    for (size_t i = 0; i < 2 * ARRAY_SIZE(points); i++) {
        struct consumer consumer = {.free_at = points[i / 2], .free_client = i % 2};
        struct server server;
        consumer.until = consumer.free_at;
        start(&consumer, &server, script, 0);
        server_run(&server);
        server_run_for(&server, 100);
        const char *told = buf_str(&consumer.told);
        assert_string_equal(told + strlen(told) - strlen(points[i / 2]), points[i / 2]);
        stop(&consumer);
    }
}

/* Whatever is under way, nothing more of it is told, and the list is made from its first page. */
static void test_a_new_list_at_will(void **state)
{
    (void)state;
    static const char pages[] =
        "[" LIST("5", "t", OBJECT("a", "1", "1") "," OBJECT("b", "2", "2")) "," LIST(
            "9", "",
            OBJECT("a", "1", "1") "," OBJECT(
                "b", "2", "3")) "," WATCH(EVENT("ADDED", OBJECT("z", "4", "10")), "hold") "]";
    static const char watch[] = "[" LIST("5", "", OBJECT("a", "1", "1")) "," WATCH(
        EVENT("ADDED", OBJECT("b", "2", "6")) "," EVENT("ADDED", OBJECT("c", "3", "7")),
        "hold") "," LIST("9", "",
                         OBJECT("b", "2", "6")) "," WATCH(EVENT("ADDED", OBJECT("z", "4", "10")),
                                                          "hold") "]";
    static const char second[] =
        "[" LIST("5", "t", OBJECT("a", "1", "1") "," OBJECT("b", "2", "2")) "," LIST(
            "5", "",
            OBJECT("c", "3", "3")) "," LIST("9", "",
                                            OBJECT("a", "1", "1") "," OBJECT(
                                                "b", "2",
                                                "3")) "," WATCH(EVENT("ADDED",
                                                                      OBJECT("z", "4", "10")),
                                                                "hold") "]";
    static const struct {
        const char *script, *at, *told;
        unsigned int continued; /* requests for further pages */
    } cases[] = {
        {pages, "+a@1 ", "+a@1 +b@3 = +z@10 ", 0},
        {pages, "+b@2 ", "+a@1 +b@2 +b@3 = +z@10 ", 0},
        {second, "+c@3 ", "+a@1 +b@2 +c@3 +b@3 -c(3) = +z@10 ", 1},
        {watch, "+b@6 ", "+a@1 = +b@6 -a(1) = +z@10 ", 0},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct consumer consumer = {.until = "+z@10 ", .relist_at = cases[i].at};
        struct server server;
        start(&consumer, &server, cases[i].script, 0);
        server_run(&server);
        assert_string_equal(buf_str(&consumer.told), cases[i].told);
        assert_int_equal(server_count(&server, "continue="), cases[i].continued);
        assert_int_equal(reflector_stats(consumer.reflector).errors, 0);
        stop(&consumer);
    }

    /* From outside, while the watch has nothing to tell. */
    struct consumer consumer = {.until = "= "};
    struct server server;
    start(&consumer, &server,
          "[" LIST("5", "", OBJECT("a", "1", "1")) "," WATCH(BOOKMARK("6"), "hold") "," LIST(
              "9", "", OBJECT("z", "2", "7")) "," WATCH("", "hold") "]",
          0);
    server_run(&server);
    for (int n = 0; n < 100 && server_count(&server, "watch=") < 1; n++)
        server_run_for(&server, 50);
    reflector_relist(consumer.reflector);
    server_run(&server);
    assert_string_equal(buf_str(&consumer.told), "+a@1 = +z@7 -a(1) = ");
    stop(&consumer);
}

static void test_a_long_page(void **state)
{
    (void)state;
    struct consumer consumer = {.until = "= "};
    struct server server;

    /* Of which never more than one item is held. */
    start(&consumer, &server,
          "[{\"match\": \"limit=\", \"chunks\": [\"{\\\"items\\\": [\", {\"repeat\": "
          "\"{\\\"metadata\\\": {\\\"name\\\": \\\"a\\\", \\\"namespace\\\": \\\"n\\\"}, "
          "\\\"spec\\\": \\\"0123456789012345678901234567890123456789012345678901234567890\\\"},\","
          " \"count\": 20000}, \"{\\\"metadata\\\": {\\\"name\\\": \\\"z\\\"}}], \\\"metadata\\\":"
          " {\\\"resourceVersion\\\": \\\"5\\\"}}\"]}," WATCH("", "hold") "]",
          0);
    server_run(&server);
    const char *told = buf_str(&consumer.told);
    assert_int_equal(strlen(told), 20000 * strlen("+a@ ") + strlen("~z@ = "));
    stop(&consumer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenarios),
        cmocka_unit_test(test_a_silent_watch_is_made_anew),
        cmocka_unit_test(test_a_watch_that_trickles_is_made_anew),
        cmocka_unit_test(test_many_objects_that_can_not_be_read),
        cmocka_unit_test(test_no_busy_loop),
        cmocka_unit_test(test_unhealthy_while_nothing_comes),
        cmocka_unit_test(test_a_handler_may_free_everything),
        cmocka_unit_test(test_a_new_list_at_will),
        cmocka_unit_test(test_a_long_page),
    };
    return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
