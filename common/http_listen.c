/* SPDX-License-Identifier: Apache-2.0 */
#include "common/http_listen.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct http_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to;
    socklen_t len;
};

/* "1.2.3.4" or "[::1]" or "" (all addresses, of both families). */
static bool http_address_set_host(struct http_address *address, const char *host, uint16_t port)
{
    size_t len = strlen(host);
    *address = (struct http_address){.len = sizeof(address->to.v6)};
    address->to.v6.sin6_family = AF_INET6;
    address->to.v6.sin6_port = htons(port);
    if (len == 0)
        return true;
    if (host[0] == '[' && host[len - 1] == ']') {
        char inner[INET6_ADDRSTRLEN];
        if (len - 2 >= sizeof(inner))
            return false;
        memcpy(inner, host + 1, len - 2);
        inner[len - 2] = '\0';
        return inet_pton(AF_INET6, inner, &address->to.v6.sin6_addr) == 1;
    }
    *address = (struct http_address){.len = sizeof(address->to.v4)};
    address->to.v4.sin_family = AF_INET;
    address->to.v4.sin_port = htons(port);
    return inet_pton(AF_INET, host, &address->to.v4.sin_addr) == 1;
}

static int http_address_parse(const char *text, struct http_address *ret_address, struct error *err)
{
    char host[INET6_ADDRSTRLEN + 2];
    uint64_t port = 0;
    const char *colon = strrchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;
    bool valid = colon && len < sizeof(host) && parse_u64(colon + 1, 0, UINT16_MAX, &port) == 0;
    if (valid) {
        memcpy(host, text, len);
        host[len] = '\0';
        valid = http_address_set_host(ret_address, host, (uint16_t)port);
    }
    if (!valid)
        return error_set(err, EINVAL,
                         "cannot listen on \"%s\": not an address such as \":8081\", "
                         "\"127.0.0.1:8081\" or \"[::1]:8081\"",
                         text);
    return 0;
}

static int http_socket(const struct http_address *address, int backlog, bool both_families)
{
    static const int on = 1, off = 0;
    int family = address->to.any.sa_family;
    cleanup_close int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    const int *v6only = both_families ? &off : &on;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        (family == AF_INET6 &&
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, v6only, sizeof(*v6only)) < 0) ||
        bind(fd, &address->to.any, address->len) < 0 || listen(fd, backlog) < 0)
        return -errno;
    return TAKE_FD(fd);
}

int http_listen(const char *text, int backlog, struct error *err)
{
    struct http_address address = {0};
    int r = http_address_parse(text, &address, err);
    if (r < 0)
        return r;
    bool everywhere = text[0] == ':';
    int fd = http_socket(&address, backlog, everywhere);
    if (fd == -EAFNOSUPPORT && everywhere) { /* a kernel without IPv6 */
        uint16_t port = ntohs(address.to.v6.sin6_port);
        if (http_address_set_host(&address, "0.0.0.0", port))
            fd = http_socket(&address, backlog, false);
    }
    return fd < 0 ? error_set_errno(err, -fd, "cannot listen on \"%s\"", text) : fd;
}

unsigned int http_listen_port(int fd)
{
    struct http_address address = {.len = sizeof(address.to)};
    if (getsockname(fd, &address.to.any, &address.len) < 0)
        return 0;
    return ntohs(address.to.any.sa_family == AF_INET6 ? address.to.v6.sin6_port
                                                      : address.to.v4.sin_port);
}
