/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/call.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/kube/limits.h"
#include "common/kube/response.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

static char *join(const char *server, const char *path)
{
    cleanup_buf struct buf url = BUF_INIT(MAX_KUBE_URL);

    if (buf_append_str(&url, server) < 0 || buf_append_str(&url, path) < 0)
        return NULL;
    return buf_take(&url);
}

struct kube_call *call_new(const char *server, const struct kube_request *request)
{
    struct kube_call *call = calloc(1, sizeof(*call));

    if (!call)
        return NULL;
    buf_init(&call->response, MAX_KUBE_RESPONSE);
    call->method = copy_text(request->method);
    call->url = join(server, request->path);
    call->content_type = copy_text(request->content_type);
    call->accept = copy_text(request->accept);
    call->not_after_ns = request->not_after_ns;
    if (request->body) {
        call->body = malloc(request->body_len + 1);
        if (call->body && request->body_len > 0)
            memcpy(call->body, request->body, request->body_len);
        call->body_len = request->body_len;
    }
    if (!call->method || !call->url || (request->content_type && !call->content_type) ||
        (request->accept && !call->accept) || (request->body && !call->body)) {
        call_free(call);
        return NULL;
    }
    return call;
}

void call_reset(struct kube_call *call)
{
    curl_easy_cleanup(call->easy);
    call->easy = NULL;
    curl_slist_free_all(call->headers);
    call->headers = NULL;
    curl_slist_free_all(call->connect_to);
    call->connect_to = NULL;
    call->status = 0;
    call->too_large = false;
    call->curl_error[0] = '\0';
    buf_done(&call->response);
}

void call_free(struct kube_call *call)
{
    if (!call)
        return;
    call_reset(call);
    loop_timer_free(call->timer);
    free(call->method);
    free(call->url);
    free(call->content_type);
    free(call->accept);
    free(call->body);
    free(call);
}

bool call_is_late(const struct kube_call *call)
{
    return call->not_after_ns > 0 && clock_boottime_ns() >= call->not_after_ns;
}

/* The last moment before the request goes out, when there is a connection for it. */
static int on_connected(void *arg, char *ip, char *local_ip, int port, int local_port)
{
    (void)ip;
    (void)local_ip;
    (void)port;
    (void)local_port;
    return call_is_late(arg) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct kube_call *call = arg;
    size_t len = size * count;

    if (call->state == CALL_DOOMED)
        return CURL_WRITEFUNC_ERROR;
    if (call->streaming && call->status == 200) {
        call->stream.data(bytes, len, call->arg);
        return call->state == CALL_DOOMED ? CURL_WRITEFUNC_ERROR : len;
    }
    if (call->streaming && call->response.len + len > MAX_KUBE_ERROR_BODY)
        len = MAX_KUBE_ERROR_BODY - call->response.len;
    if (buf_append(&call->response, bytes, len) < 0) {
        call->too_large = true;
        return CURL_WRITEFUNC_ERROR;
    }
    return size * count;
}

/* The empty line ends the headers; those of a 1xx are followed by others. */
static size_t on_header(char *line, size_t size, size_t count, void *arg)
{
    struct kube_call *call = arg;
    size_t len = size * count;
    long status = 0;

    if (call->state == CALL_DOOMED)
        return CURL_WRITEFUNC_ERROR;
    server_clock_hear(call->clock, line, len, clock_monotonic_ns());
    if (len > 2 || line[0] == ' ')
        return len;
    (void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200)
        return len;
    call->status = (int)status;
    if (call->streaming && status == 200)
        call->stream.opened(call->arg);
    return call->state == CALL_DOOMED ? CURL_WRITEFUNC_ERROR : len;
}

/* A peer that vanished while bytes of ours are on the way is known only by this: without it the
 * kernel goes on for a quarter of an hour. Keep-alive covers the quiet connection. */
static int on_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
    const unsigned int timeout_ms = KUBE_USER_TIMEOUT_MS;

    (void)arg;
    (void)purpose;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
    return CURL_SOCKOPT_OK;
}

/* curl_easy_setopt() whose failures (out of memory, a libcurl without the feature) add up. */
#define SET(call, option, value)                                                                   \
    (failed = failed ? failed : curl_easy_setopt((call)->easy, (option), (value)))

static CURLcode set_blob(CURL *easy, CURLoption option, const char *text, size_t len)
{
    struct curl_blob blob = {.len = len, .flags = CURL_BLOB_COPY};

    /* The structure isn't const, what it points to is copied. */
    memcpy(&blob.data, &text, sizeof(text));
    return curl_easy_setopt(easy, option, &blob);
}

static CURLcode set_tls(struct kube_call *call, const struct kube_config *config,
                        const struct auth *auth)
{
    CURLcode failed = CURLE_OK;
    const char *ca;
    size_t len;

    SET(call, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(call, CURLOPT_SSL_VERIFYPEER, 1L);
    SET(call, CURLOPT_SSL_VERIFYHOST, 2L);
    if (auth_ca(auth, &ca, &len)) {
        failed = failed ? failed : set_blob(call->easy, CURLOPT_CAINFO_BLOB, ca, len);
        SET(call, CURLOPT_CAPATH, NULL);
    }
    if (config->client_cert_pem) {
        failed = failed ? failed
                        : set_blob(call->easy, CURLOPT_SSLCERT_BLOB, config->client_cert_pem,
                                   strlen(config->client_cert_pem));
        failed = failed ? failed
                        : set_blob(call->easy, CURLOPT_SSLKEY_BLOB, config->client_key_pem,
                                   strlen(config->client_key_pem));
    }
    return failed;
}

static CURLcode set_connection(struct kube_call *call, const char *user_agent)
{
    CURLcode failed = CURLE_OK;

    SET(call, CURLOPT_NOSIGNAL, 1L);
    SET(call, CURLOPT_PROTOCOLS_STR, "https");
    SET(call, CURLOPT_FOLLOWLOCATION, 0L);
    /* A proxy from the environment would see the token's traffic and break watches. */
    SET(call, CURLOPT_PROXY, "");
    SET(call, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    SET(call, CURLOPT_PIPEWAIT, 1L);
    SET(call, CURLOPT_CONNECTTIMEOUT_MS, (long)KUBE_CONNECT_MS);
    /* A connection is rare, and made when the last one has broken: then an address that is
     * remembered is the one that has just failed. */
    SET(call, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
    /* Without it the end of a call waits for its lookup's thread, and our loop with it: half a
     * minute where the name servers don't answer. The thread ends by itself. */
    SET(call, CURLOPT_QUICK_EXIT, 1L);
    SET(call, CURLOPT_TCP_NODELAY, 1L);
    SET(call, CURLOPT_TCP_KEEPALIVE, 1L);
    SET(call, CURLOPT_TCP_KEEPIDLE, (long)KUBE_KEEPALIVE_SECONDS);
    SET(call, CURLOPT_TCP_KEEPINTVL, (long)KUBE_KEEPALIVE_SECONDS);
    SET(call, CURLOPT_SOCKOPTFUNCTION, on_socket);
    SET(call, CURLOPT_UPLOAD_BUFFERSIZE, 16L << 10);
    SET(call, CURLOPT_PREREQFUNCTION, on_connected);
    SET(call, CURLOPT_PREREQDATA, call);
    SET(call, CURLOPT_USERAGENT, user_agent);
    SET(call, CURLOPT_ERRORBUFFER, call->curl_error);
    SET(call, CURLOPT_WRITEFUNCTION, on_body);
    SET(call, CURLOPT_WRITEDATA, call);
    SET(call, CURLOPT_HEADERFUNCTION, on_header);
    SET(call, CURLOPT_HEADERDATA, call);
    SET(call, CURLOPT_PRIVATE, call);
    return failed;
}

static int add_header(struct kube_call *call, const char *name, const char *value, size_t len)
{
    cleanup_buf struct buf line = BUF_INIT(MAX_KUBE_TOKEN + 64);
    struct curl_slist *list = NULL;

    if (buf_append_str(&line, name) == 0 && buf_append(&line, value, len) == 0)
        list = curl_slist_append(call->headers, buf_str(&line));
    if (line.data)
        explicit_bzero(line.data, line.len);
    if (!list)
        return -ENOMEM;
    call->headers = list;
    return 0;
}

static int add_headers(struct kube_call *call, const struct auth *auth)
{
    const char *accept = call->accept ? call->accept : "application/json";
    const char *type = call->content_type ? call->content_type : "application/json";
    const char *token;
    size_t len;
    int r = add_header(call, "Accept: ", accept, strlen(accept));

    if (r == 0 && call->body)
        r = add_header(call, "Content-Type: ", type, strlen(type));
    /* HTTP/1.1 would wait a second for a 100 before it sends a large body. */
    if (r == 0 && call->body)
        r = add_header(call, "Expect:", "", 0);
    if (r == 0 && auth_token(auth, &token, &len))
        r = add_header(call, "Authorization: Bearer ", token, len);
    return r;
}

static CURLcode set_request(struct kube_call *call)
{
    CURLcode failed = CURLE_OK;

    if (call->body) {
        SET(call, CURLOPT_POSTFIELDS, call->body);
        SET(call, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_len);
    }
    SET(call, CURLOPT_CUSTOMREQUEST, call->method);
    SET(call, CURLOPT_HTTPHEADER, call->headers);
    return failed;
}

/* The name to verify may differ from the address to connect to: libcurl takes the one from the
 * URL, so the URL gets the name and the connection the address. */
static int set_url(struct kube_call *call, const struct kube_config *config)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_KUBE_URL + 512);
    const char *host = config->server + strlen("https://");
    size_t host_len = strcspn(host, "/");
    const char *path = call->url + strlen("https://") + host_len;

    if (!config->tls_server_name)
        return curl_easy_setopt(call->easy, CURLOPT_URL, call->url) == CURLE_OK ? 0 : -ENOMEM;
    if (buf_printf(&text, "https://%s%s", config->tls_server_name, path) < 0 ||
        curl_easy_setopt(call->easy, CURLOPT_URL, buf_str(&text)) != CURLE_OK ||
        add_header(call, "Host: ", host, host_len) < 0)
        return -ENOMEM;
    buf_reset(&text);
    /* "::host:port": for every connection. The port of the address must be said. */
    bool has_port = memchr(host, ':', host_len) && host[host_len - 1] != ']';
    if (buf_printf(&text, "::%.*s%s", (int)host_len, host, has_port ? "" : ":443") < 0)
        return -ENOMEM;
    struct curl_slist *list = curl_slist_append(NULL, buf_str(&text));
    if (!list)
        return -ENOMEM;
    call->connect_to = list;
    return curl_easy_setopt(call->easy, CURLOPT_CONNECT_TO, list) == CURLE_OK ? 0 : -ENOMEM;
}

int call_prepare(struct kube_call *call, const struct kube_config *config, const struct auth *auth,
                 const char *user_agent, struct error *err)
{
    CURLcode failed;

    call->easy = curl_easy_init();
    if (!call->easy || add_headers(call, auth) < 0 || set_url(call, config) < 0)
        return error_set_errno(err, ENOMEM, "can't make a request to the API server");
    failed = set_connection(call, user_agent);
    if (!failed)
        failed = set_tls(call, config, auth);
    if (!failed)
        failed = set_request(call);
    if (failed)
        return error_set(err, ENOMEM, "can't make a request to the API server: %s",
                         curl_easy_strerror(failed));
    return 0;
}

static int errnum_of(CURLcode result)
{
    static const struct {
        CURLcode result;
        int errnum;
    } table[] = {
        {CURLE_COULDNT_RESOLVE_HOST, EHOSTUNREACH},     {CURLE_COULDNT_CONNECT, ECONNREFUSED},
        {CURLE_OPERATION_TIMEDOUT, ETIMEDOUT},          {CURLE_OUT_OF_MEMORY, ENOMEM},
        {CURLE_PEER_FAILED_VERIFICATION, EKEYREJECTED},
    };

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        if (table[i].result == result)
            return table[i].errnum;
    }
    return ECONNRESET;
}

void call_outcome(struct kube_call *call, CURLcode result, struct call_outcome *ret_outcome)
{
    struct kube_response *response = &ret_outcome->response;
    curl_off_t retry_after = 0;

    *ret_outcome = (struct call_outcome){0};
    response->body = buf_str(&call->response);
    response->body_len = call->response.len;
    if (call->too_large) {
        ret_outcome->final = true;
        (void)error_set(&response->error, EMSGSIZE,
                        "the API server's answer to %s %s exceeds %u bytes", call->method,
                        call->url, MAX_KUBE_RESPONSE);
        return;
    }
    if (result == CURLE_ABORTED_BY_CALLBACK && call_is_late(call)) {
        (void)error_set(&response->error, ECANCELED, "%s %s: " KUBE_LATE, call->method, call->url);
        return;
    }
    if (result != CURLE_OK) {
        (void)error_set(&response->error, errnum_of(result), "%s %s: %s", call->method, call->url,
                        call->curl_error[0] ? call->curl_error : curl_easy_strerror(result));
        return;
    }
    response->status = call->status;
    if (curl_easy_getinfo(call->easy, CURLINFO_RETRY_AFTER, &retry_after) == CURLE_OK &&
        retry_after > 0)
        response->retry_after_ms = retry_after < KUBE_RETRY_AFTER_MS / 1000
                                       ? (uint64_t)retry_after * 1000
                                       : KUBE_RETRY_AFTER_MS;
    if (response->status < 200 || response->status > 299)
        response_explain(response);
}
