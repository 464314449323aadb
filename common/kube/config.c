/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/config.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/json.h"
#include "common/kube/base64.h"
#include "common/kube/limits.h"
#include "common/parse.h"
#include "common/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

void kube_config_done(struct kube_config *config)
{
    char *const secrets[] = {config->client_key_pem, config->token};

    for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
        if (secrets[i])
            explicit_bzero(secrets[i], strlen(secrets[i]));
    }
    free(config->server);
    free(config->tls_server_name);
    free(config->ca_file);
    free(config->ca_pem);
    free(config->client_cert_pem);
    free(config->client_key_pem);
    free(config->token);
    free(config->token_file);
    free(config->default_namespace);
    *config = (struct kube_config){0};
}

int kube_config_copy(const struct kube_config *config, struct kube_config *ret_config)
{
    struct kube_config copy = {0};
    const struct {
        const char *from;
        char **to;
    } fields[] = {
        {config->server, &copy.server},
        {config->tls_server_name, &copy.tls_server_name},
        {config->ca_file, &copy.ca_file},
        {config->ca_pem, &copy.ca_pem},
        {config->client_cert_pem, &copy.client_cert_pem},
        {config->client_key_pem, &copy.client_key_pem},
        {config->token, &copy.token},
        {config->token_file, &copy.token_file},
        {config->default_namespace, &copy.default_namespace},
    };

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        if (!fields[i].from)
            continue;
        *fields[i].to = strdup(fields[i].from);
        if (!*fields[i].to) {
            kube_config_done(&copy);
            return -ENOMEM;
        }
    }
    *ret_config = copy;
    return 0;
}

static int out_of_memory(struct error *err)
{
    return error_set_errno(err, ENOMEM, "can't load the API server's configuration");
}

static int set_text(char **field, const char *text, struct error *err)
{
    char *value = strdup(text);

    if (!value)
        return out_of_memory(err);
    free(*field);
    *field = value;
    return 0;
}

static int read_whole(const char *path, size_t max, struct buf *text, struct error *err)
{
    buf_init(text, max);
    int r = fd_read_file(AT_FDCWD, path, false, text);
    if (r == -EFBIG || r == -EMSGSIZE)
        return error_set(err, EFBIG, "%s exceeds %zu bytes", path, max);
    if (r < 0)
        return error_set_errno(err, -r, "can't read %s", path);
    return 0;
}

/* Tokens, keys and certificates are text: a NUL inside would cut them in silence. */
static int take_text(struct buf *text, const char *what, char **field, struct error *err)
{
    if (text->len == 0)
        return error_set(err, EINVAL, "%s is empty", what);
    if (memchr(buf_str(text), '\0', text->len))
        return error_set(err, EINVAL, "%s has a NUL byte in it", what);
    char *value = buf_take(text);
    if (!value)
        return out_of_memory(err);
    free(*field);
    *field = value;
    return 0;
}

static int check_server(const char *server, struct error *err)
{
    size_t len = strlen(server);

    if (strncmp(server, "https://", 8) != 0 || len == 8)
        return error_set(err, EINVAL,
                         "the API server's address is \"%s\": it must begin with https://", server);
    for (size_t i = 0; i < len; i++) {
        if (server[i] <= ' ' || server[i] > '~' || server[i] == '?' || server[i] == '#')
            return error_set(err, EINVAL, "the API server's address \"%s\" is not a plain URL",
                             server);
    }
    return 0;
}

static int set_server(struct kube_config *config, const char *server, struct error *err)
{
    size_t len = strlen(server);
    int r = check_server(server, err);

    if (r < 0)
        return r;
    while (len > strlen("https://h") && server[len - 1] == '/')
        len--;
    char *text = strndup(server, len);
    if (!text)
        return out_of_memory(err);
    free(config->server);
    config->server = text;
    return 0;
}

/* The element of a kubeconfig list with this name. */
static const cJSON *find_named(const cJSON *tree, const char *list, const char *name)
{
    const cJSON *element;

    cJSON_ArrayForEach (element, json_get(tree, list)) {
        const char *text = json_get_string(element, "name");
        if (text && strcmp(text, name) == 0)
            return element;
    }
    return NULL;
}

/* Paths in a kubeconfig are relative to its own directory. */
static int resolve_path(const char *kubeconfig, const char *path, char **field, struct error *err)
{
    cleanup_buf struct buf full = BUF_INIT(MAX_KUBE_URL);
    const char *slash = strrchr(kubeconfig, '/');
    int r = 0;

    if (path[0] != '/' && slash)
        r = buf_append(&full, kubeconfig, (size_t)(slash - kubeconfig) + 1);
    if (r == 0)
        r = buf_append_str(&full, path);
    if (r < 0)
        return error_set_errno(err, -r, "can't use the path \"%s\" of %s", path, kubeconfig);
    return set_text(field, buf_str(&full), err);
}

/* `key`-data as base64, else the content of the file that `key` names. */
static int load_pem(const char *kubeconfig, const cJSON *tree, const char *key, char **field,
                    struct error *err)
{
    char data_key[64];
    cleanup_buf struct buf text = BUF_INIT(MAX_KUBE_PEM);
    cleanup_free char *path = NULL;
    size_t len = strlen(key);

    memcpy(data_key, key, len);
    memcpy(data_key + len, "-data", sizeof("-data"));
    const char *data = json_get_string(tree, data_key);
    const char *file = json_get_string(tree, key);
    if (data) {
        int r = base64_decode(data, strlen(data), &text);
        if (r < 0)
            return error_set_errno(err, -r, "%s: %s is not base64 of a PEM text", kubeconfig,
                                   data_key);
        return take_text(&text, data_key, field, err);
    }
    if (!file)
        return 0;
    int r = resolve_path(kubeconfig, file, &path, err);
    if (r == 0)
        r = read_whole(path, MAX_KUBE_PEM, &text, err);
    return r < 0 ? r : take_text(&text, path, field, err);
}

static int refuse(const char *kubeconfig, const cJSON *tree, const char *const *keys,
                  const char *why, struct error *err)
{
    for (; *keys; keys++) {
        const cJSON *value = json_get(tree, *keys);
        if (value && !cJSON_IsFalse(value))
            return error_set(err, EOPNOTSUPP, "%s: %s is not supported: %s", kubeconfig, *keys,
                             why);
    }
    return 0;
}

static int load_cluster(const char *path, const cJSON *cluster, struct kube_config *config,
                        struct error *err)
{
    static const char *const unverified[] = {"insecure-skip-tls-verify", NULL};
    static const char *const proxies[] = {"proxy-url", NULL};
    const char *server = json_get_string(cluster, "server");
    const char *name = json_get_string(cluster, "tls-server-name");
    const char *ca = json_get_string(cluster, "certificate-authority");
    int r = refuse(path, cluster, unverified, "give certificate-authority instead", err);

    if (r == 0)
        r = refuse(path, cluster, proxies, "the API server must be reachable directly", err);
    if (r < 0)
        return r;
    if (!server)
        return error_set(err, EINVAL, "%s: the current context's cluster has no server", path);
    r = set_server(config, server, err);
    if (r == 0 && name)
        r = set_text(&config->tls_server_name, name, err);
    if (r < 0)
        return r;
    /* A file is kept as a path, so that a rotated CA is seen. */
    if (ca && !json_get_string(cluster, "certificate-authority-data"))
        return resolve_path(path, ca, &config->ca_file, err);
    return load_pem(path, cluster, "certificate-authority", &config->ca_pem, err);
}

static int load_user(const char *path, const cJSON *user, struct kube_config *config,
                     struct error *err)
{
    static const char *const unsupported[] = {"exec", "auth-provider", "username", "password",
                                              "as",   "as-groups",     "as-uid",   "as-user-extra",
                                              NULL};
    const char *token = json_get_string(user, "token");
    const char *token_file = json_get_string(user, "tokenFile");
    int r = refuse(path, user, unsupported, "use a client certificate, token or tokenFile", err);

    if (r == 0)
        r = load_pem(path, user, "client-certificate", &config->client_cert_pem, err);
    if (r == 0)
        r = load_pem(path, user, "client-key", &config->client_key_pem, err);
    if (r < 0)
        return r;
    if (!config->client_cert_pem != !config->client_key_pem)
        return error_set(err, EINVAL,
                         "%s: client-certificate and client-key must be given together", path);
    if (token_file)
        return resolve_path(path, token_file, &config->token_file, err);
    return token ? set_text(&config->token, token, err) : 0;
}

static int load_tree(const char *path, const cJSON *tree, struct kube_config *config,
                     struct error *err)
{
    const char *current = json_get_string(tree, "current-context");
    int r;

    if (!current || !current[0])
        return error_set(err, EINVAL, "%s has no current-context", path);
    const cJSON *context = json_get(find_named(tree, "contexts", current), "context");
    if (!context)
        return error_set(err, EINVAL, "%s has no context \"%s\"", path, current);
    const char *cluster_name = json_get_string(context, "cluster");
    const char *user_name = json_get_string(context, "user");
    const char *name_space = json_get_string(context, "namespace");
    const cJSON *cluster =
        cluster_name ? json_get(find_named(tree, "clusters", cluster_name), "cluster") : NULL;
    if (!cluster)
        return error_set(err, EINVAL, "%s: context \"%s\" names no known cluster", path, current);
    const cJSON *user = user_name ? json_get(find_named(tree, "users", user_name), "user") : NULL;
    if (user_name && user_name[0] && !user)
        return error_set(err, EINVAL, "%s has no user \"%s\"", path, user_name);
    r = load_cluster(path, cluster, config, err);
    if (r == 0 && user)
        r = load_user(path, user, config, err);
    if (r < 0)
        return r;
    return set_text(&config->default_namespace,
                    name_space && name_space[0] ? name_space : "default", err);
}

static int load_file(const char *path, struct kube_config *config, struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(0);
    struct yaml_documents documents = {0};
    int r = read_whole(path, MAX_KUBECONFIG, &text, err);

    if (r == 0)
        r = yaml_parse(buf_str(&text), text.len, &documents, err);
    if (r < 0)
        return r;
    if (documents.count != 1)
        r = error_set(err, EINVAL, "%s holds %zu YAML documents, a kubeconfig is one", path,
                      documents.count);
    else
        r = load_tree(path, documents.trees[0], config, err);
    yaml_documents_done(&documents);
    return r;
}

int kube_config_load(const char *path, struct kube_config *ret_config, struct error *err)
{
    struct kube_config config = {0};

    if (!path)
        return kube_config_in_cluster(ACCOUNT_DIR, ret_config, err);
    int r = load_file(path, &config, err);
    if (r < 0) {
        kube_config_done(&config);
        return r;
    }
    *ret_config = config;
    return 0;
}

static int in_cluster_server(struct kube_config *config, struct error *err)
{
    cleanup_buf struct buf server = BUF_INIT(512);
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    uint64_t number;

    if (!host || !host[0] || !port || !port[0])
        return error_set(err, ENOENT,
                         "not in a cluster (KUBERNETES_SERVICE_HOST and _PORT are not set): "
                         "give --kubeconfig");
    if (parse_u64(port, 1, 65535, &number) < 0)
        return error_set(err, EINVAL, "KUBERNETES_SERVICE_PORT \"%s\" is no port", port);
    int r =
        buf_printf(&server, strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port);
    if (r < 0)
        return error_set_errno(err, -r, "can't use KUBERNETES_SERVICE_HOST");
    return set_server(config, buf_str(&server), err);
}

static int in_account_dir(const char *dir, const char *name, char **field, struct error *err)
{
    cleanup_buf struct buf path = BUF_INIT(MAX_KUBE_URL);

    if (buf_printf(&path, "%s/%s", dir, name) < 0)
        return error_set_errno(err, ENAMETOOLONG, "can't use %s", dir);
    return set_text(field, buf_str(&path), err);
}

int kube_config_in_cluster(const char *account_dir, struct kube_config *ret_config,
                           struct error *err)
{
    struct kube_config config = {0};
    cleanup_free char *name_space_file = NULL;
    cleanup_buf struct buf text = BUF_INIT(0);
    int r = in_cluster_server(&config, err);

    if (r == 0)
        r = in_account_dir(account_dir, "token", &config.token_file, err);
    if (r == 0)
        r = in_account_dir(account_dir, "ca.crt", &config.ca_file, err);
    if (r == 0)
        r = in_account_dir(account_dir, "namespace", &name_space_file, err);
    if (r == 0 && config.token_file && access(config.token_file, R_OK) < 0)
        r = error_set_errno(err, errno, "can't read %s", config.token_file);
    if (r == 0)
        r = read_whole(name_space_file, 254, &text, err);
    if (r == 0)
        r = take_text(&text, name_space_file, &config.default_namespace, err);
    if (r < 0) {
        kube_config_done(&config);
        return r;
    }
    *ret_config = config;
    return 0;
}
