/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/upstreams.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>

#define DNS_PORT          53
#define MAX_UPSTREAM_TEXT 80

socklen_t socket_address_len(const union socket_address *address)
{
    return address->any.sa_family == AF_INET ? sizeof(address->in) : sizeof(address->in6);
}

/* "fe80::1%eth0": the interface by its name. */
static bool parse_in6(char *text, uint16_t port, union socket_address *ret_address)
{
    char *scope = strchr(text, '%');
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (scope) {
        *scope++ = '\0';
        in6.sin6_scope_id = if_nametoindex(scope);
        if (in6.sin6_scope_id == 0)
            return false;
    }
    if (inet_pton(AF_INET6, text, &in6.sin6_addr) != 1)
        return false;
    ret_address->in6 = in6;
    return true;
}

static bool parse_in(const char *text, uint16_t port, union socket_address *ret_address)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, text, &in.sin_addr) != 1)
        return false;
    ret_address->in = in;
    return true;
}

static bool parse_address(const char *text, union socket_address *ret_address)
{
    char copy[MAX_UPSTREAM_TEXT];
    uint64_t port = DNS_PORT;
    size_t len = strnlen(text, sizeof(copy));
    if (len == sizeof(copy))
        return false;
    memcpy(copy, text, len + 1);
    char *host = copy, *colon = strrchr(copy, ':'), *bracket = strrchr(copy, ']');
    bool several = colon && strchr(copy, ':') != colon;
    if (copy[0] == '[') {
        if (!bracket || (bracket[1] != '\0' && bracket + 1 != colon))
            return false;
        *bracket = '\0';
        host = copy + 1;
        if (bracket + 1 != colon)
            colon = NULL;
    } else if (several) {
        colon = NULL;
    }
    if (colon) {
        *colon = '\0';
        if (parse_u64(colon + 1, 1, UINT16_MAX, &port) < 0)
            return false;
    }
    if (copy[0] == '[' || several)
        return parse_in6(host, (uint16_t)port, ret_address);
    return parse_in(host, (uint16_t)port, ret_address);
}

int upstreams_add(struct upstreams *upstreams, const char *text, struct error *err)
{
    if (upstreams->count == MAX_UPSTREAMS)
        return error_set(err, E2BIG, "more than %d upstreams", MAX_UPSTREAMS);
    if (!parse_address(text, &upstreams->entries[upstreams->count]))
        return error_set(err, EINVAL,
                         "\"%.64s\" is no server: 1.2.3.4, 1.2.3.4:53, 2001:db8::1 or "
                         "[2001:db8::1]:53",
                         text);
    upstreams->count++;
    return 0;
}

/* The word behind "nameserver" at the beginning of a line; NULL if that isn't what the line has. */
static const char *nameserver_of(char *line)
{
    static const char keyword[] = "nameserver";
    size_t len = sizeof(keyword) - 1;
    if (strncmp(line, keyword, len) != 0 || (line[len] != ' ' && line[len] != '\t'))
        return NULL;
    char *word = line + len + strspn(line + len, " \t");
    word[strcspn(word, " \t\r#;")] = '\0';
    return word[0] ? word : NULL;
}

int upstreams_parse_conf(struct upstreams *upstreams, const char *text, struct error *err)
{
    while (*text) {
        char line[256];
        size_t len = strcspn(text, "\n");
        if (len < sizeof(line)) {
            memcpy(line, text, len);
            line[len] = '\0';
            const char *server = nameserver_of(line);
            if (server && upstreams->count < MAX_UPSTREAMS)
                (void)upstreams_add(upstreams, server, NULL);
        }
        text += len + (text[len] == '\n');
    }
    if (upstreams->count == 0)
        return error_set(err, ENOENT, "no nameserver line: name a server with --upstream");
    return 0;
}

int upstreams_read_conf(struct upstreams *upstreams, const char *path, struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_RESOLV_CONF_BYTES);
    int r = fd_read_file(AT_FDCWD, path, false, &text);
    if (r < 0)
        return error_set_errno(err, -r, "%s: name a server with --upstream", path);
    r = upstreams_parse_conf(upstreams, buf_str(&text), err);
    return r < 0 ? error_wrap(err, "%s", path) : 0;
}
