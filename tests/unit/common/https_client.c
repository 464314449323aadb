/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/https_client.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "tests/unit/common/cmocka_setup.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MAX_ANSWER (16u << 20)

struct https_flight {
    struct loop *loop;
    struct https_exchange *exchange;
    pthread_t thread;
    int done[2];
    struct loop_io *io;
};

static size_t take(char *bytes, size_t size, size_t count, void *arg)
{
    return buf_append(arg, bytes, size * count) == 0 ? size * count : 0;
}

/* A slow reader's buffer isn't so large that it takes the answer whole. */
static int shrink(void *arg, curl_socket_t fd, curlsocktype purpose)
{
    static const int bytes = 64 << 10;

    (void)arg;
    (void)purpose;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    return CURL_SOCKOPT_OK;
}

static void set_options(CURL *easy, struct https_exchange *exchange, struct curl_slist **headers,
                        struct curl_slist **resolve)
{
    char url[2048];
    char entry[128];
    struct curl_blob ca = {.data = NULL, .flags = CURL_BLOB_COPY};
    const char *host = exchange->host ? exchange->host : "127.0.0.1";

    (void)snprintf(url, sizeof(url), "https://%s:%u%s", host, exchange->port, exchange->target);
    (void)snprintf(entry, sizeof(entry), "%s:%u:127.0.0.1", host, exchange->port);
    *resolve = curl_slist_append(NULL, entry);
    curl_easy_setopt(easy, CURLOPT_RESOLVE, *resolve);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, exchange->timeout_s ? exchange->timeout_s : 20L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->failure);
    if (exchange->ca) {
        char *copy = strdup(exchange->ca);
        ca.data = copy;
        ca.len = strlen(copy);
        curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &ca);
        free(copy);
    }
    for (size_t i = 0; i < MAX_CLIENT_HEADERS && exchange->headers[i]; i++)
        *headers = curl_slist_append(*headers, exchange->headers[i]);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, *headers);
    if (exchange->method && strcmp(exchange->method, "HEAD") == 0)
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (exchange->method)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, exchange->method);
    if (exchange->body)
        curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, exchange->body);
    if (exchange->bytes_per_second) {
        curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, shrink);
        curl_easy_setopt(easy, CURLOPT_MAX_RECV_SPEED_LARGE,
                         (curl_off_t)exchange->bytes_per_second);
    }
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange->answer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange->header);
}

static void *perform(void *arg)
{
    struct https_flight *flight = arg;
    struct https_exchange *exchange = flight->exchange;
    struct curl_slist *headers = NULL;
    struct curl_slist *resolve = NULL;
    CURL *easy = curl_easy_init();

    set_options(easy, exchange, &headers, &resolve);
    CURLcode code = curl_easy_perform(easy);
    if (code != CURLE_OK && !exchange->failure[0])
        (void)snprintf(exchange->failure, sizeof(exchange->failure), "%s",
                       curl_easy_strerror(code));
    curl_off_t length = -1;
    const char *type = NULL;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &exchange->status);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    exchange->length = length;
    (void)snprintf(exchange->content_type, sizeof(exchange->content_type), "%s", type ? type : "");
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    curl_slist_free_all(resolve);
    (void)fd_write_full(flight->done[1], "x", 1);
    return NULL;
}

static void on_done(int fd, unsigned int events, void *arg)
{
    struct https_flight *flight = arg;

    (void)fd;
    (void)events;
    loop_io_free(TAKE_PTR(flight->io));
    loop_stop(flight->loop);
}

struct https_flight *https_exchange_begin(struct loop *loop, struct https_exchange *exchange)
{
    struct https_flight *flight = calloc(1, sizeof(*flight));

    assert_non_null(flight);
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    flight->loop = loop;
    flight->exchange = exchange;
    exchange->answer = BUF_INIT(MAX_ANSWER);
    exchange->header = BUF_INIT(MAX_ANSWER);
    assert_int_equal(fd_pipe(flight->done, 0), 0);
    assert_int_equal(loop_io_new(loop, flight->done[0], LOOP_READ, on_done, flight, &flight->io),
                     0);
    assert_int_equal(pthread_create(&flight->thread, NULL, perform, flight), 0);
    return flight;
}

void https_exchange_end(struct https_flight *flight)
{
    assert_int_equal(pthread_join(flight->thread, NULL), 0);
    loop_io_free(flight->io);
    (void)fd_close(flight->done[0]);
    (void)fd_close(flight->done[1]);
    free(flight);
}

void https_exchange(struct loop *loop, struct https_exchange *exchange)
{
    struct https_flight *flight = https_exchange_begin(loop, exchange);

    assert_int_equal(loop_run(loop, NULL), 0);
    https_exchange_end(flight);
}

void https_exchange_done(struct https_exchange *exchange)
{
    buf_done(&exchange->answer);
    buf_done(&exchange->header);
}
