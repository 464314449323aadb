/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/kube/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char directory[64];

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    cleanup_close int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(fd_write_full(fd, text, strlen(text)), 0);
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/sandboxrun-config-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    static const char *const names[] = {"config", "ca.crt", "token", "namespace", "user.pem"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        (void)unlink(path_of(names[i]));
    return rmdir(directory);
}

#define KUBECONFIG(cluster, user)                                                                  \
    "apiVersion: v1\nkind: Config\ncurrent-context: c\n"                                           \
    "contexts:\n- {name: other, context: {cluster: x, user: x}}\n"                                 \
    "- name: c\n  context: {cluster: k, user: u, namespace: team}\n"                               \
    "clusters:\n- name: k\n  cluster: {" cluster "}\n"                                             \
    "users:\n- name: u\n  user: {" user "}\n"

static void test_kubeconfig(void **state)
{
    (void)state;
    struct kube_config config = {0};
    struct kube_config copy = {0};
    struct error err = {0};

    write_file("user.pem", "PEM\n");
    write_file("config", KUBECONFIG("server: 'https://h:1///', certificate-authority: ca.crt, "
                                    "tls-server-name: kube",
                                    "client-certificate-data: Q0VSVA==, client-key: user.pem, "
                                    "tokenFile: /t/token"));
    assert_int_equal(kube_config_load(path_of("config"), &config, &err), 0);
    assert_string_equal(config.server, "https://h:1");
    assert_string_equal(config.ca_file, path_of("ca.crt"));
    assert_null(config.ca_pem);
    assert_string_equal(config.tls_server_name, "kube");
    assert_string_equal(config.client_cert_pem, "CERT");
    assert_string_equal(config.client_key_pem, "PEM\n");
    assert_string_equal(config.token_file, "/t/token");
    assert_null(config.token);
    assert_string_equal(config.default_namespace, "team");
    assert_int_equal(kube_config_copy(&config, &copy), 0);
    kube_config_done(&config);
    assert_null(config.server);
    assert_string_equal(copy.client_key_pem, "PEM\n");
    assert_null(copy.token);
    kube_config_done(&copy);
}

static void test_kubeconfig_inline(void **state)
{
    (void)state;
    struct kube_config config = {0};
    struct error err = {0};

    write_file("config", KUBECONFIG("server: https://h, certificate-authority-data: Q0E=, "
                                    "insecure-skip-tls-verify: false, certificate-authority: x",
                                    "token: abc"));
    assert_int_equal(kube_config_load(path_of("config"), &config, &err), 0);
    assert_string_equal(config.ca_pem, "CA");
    assert_null(config.ca_file);
    assert_string_equal(config.token, "abc");
    kube_config_done(&config);
}

struct refused_case {
    const char *text;
    const char *says;
};

static const struct refused_case refused[] = {
    {"", "0 YAML documents"},
    {"a: 1\n---\nb: 2\n", "2 YAML documents"},
    {"[1]", "current-context"},
    {"current-context: ''", "current-context"},
    {"current-context: c", "no context \"c\""},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]", "names no known cluster"},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
     "clusters: [{name: k, cluster: {server: 'https://h'}}]",
     "no user \"u\""},
    {KUBECONFIG("", ""), "has no server"},
    {KUBECONFIG("server: 'http://h'", ""), "must begin with https://"},
    {KUBECONFIG("server: 'https://'", ""), "must begin with https://"},
    {KUBECONFIG("server: 'https://h?x'", ""), "not a plain URL"},
    {KUBECONFIG("server: \"https://h\\nx\"", ""), "not a plain URL"},
    {KUBECONFIG("server: https://h, insecure-skip-tls-verify: true", ""),
     "insecure-skip-tls-verify is not supported"},
    {KUBECONFIG("server: https://h, proxy-url: http://p", ""), "proxy-url is not supported"},
    {KUBECONFIG("server: https://h, certificate-authority-data: '!'", ""), "is not base64"},
    {KUBECONFIG("server: https://h", "exec: {command: x}"), "exec is not supported"},
    {KUBECONFIG("server: https://h", "auth-provider: {name: x}"), "auth-provider is not supported"},
    {KUBECONFIG("server: https://h", "username: x, password: y"), "username is not supported"},
    {KUBECONFIG("server: https://h", "as: x"), "as is not supported"},
    {KUBECONFIG("server: https://h", "client-certificate-data: Q0E="), "must be given together"},
    {KUBECONFIG("server: https://h", "client-certificate: missing.pem"), "missing.pem"},
    {KUBECONFIG("server: https://h", "client-certificate-data: ''"), "is empty"},
    {KUBECONFIG("server: https://h", "client-certificate-data: AAAA"), "NUL byte"},
};

static void test_kubeconfig_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        struct kube_config config = {.server = NULL};
        struct error err = {0};
        write_file("config", refused[i].text);
        assert_true(kube_config_load(path_of("config"), &config, &err) < 0);
        if (!strstr(err.text, refused[i].says))
            fail_msg("case %zu says \"%s\" instead of \"%s\"", i, err.text, refused[i].says);
        assert_null(config.server);
    }
    struct kube_config config;
    struct error err = {0};
    assert_int_equal(kube_config_load(path_of("none"), &config, &err), -ENOENT);
    assert_non_null(strstr(err.text, "none"));
    assert_int_equal(kube_config_load(directory, &config, &err), -EISDIR);
}

static void set_service(const char *host, const char *port)
{
    (void)unsetenv("KUBERNETES_SERVICE_HOST");
    (void)unsetenv("KUBERNETES_SERVICE_PORT");
    if (host)
        assert_int_equal(setenv("KUBERNETES_SERVICE_HOST", host, 1), 0);
    if (port)
        assert_int_equal(setenv("KUBERNETES_SERVICE_PORT", port, 1), 0);
}

static void test_in_cluster(void **state)
{
    (void)state;
    struct kube_config config = {0};
    struct error err = {0};

    set_service("10.0.0.1", "443");
    write_file("token", "t");
    write_file("ca.crt", "CA");
    write_file("namespace", "sandboxrun-system");
    assert_int_equal(kube_config_in_cluster(directory, &config, &err), 0);
    assert_string_equal(config.server, "https://10.0.0.1:443");
    assert_string_equal(config.token_file, path_of("token"));
    assert_string_equal(config.ca_file, path_of("ca.crt"));
    assert_string_equal(config.default_namespace, "sandboxrun-system");
    kube_config_done(&config);
    set_service("fd00::1", "6443");
    assert_int_equal(kube_config_in_cluster(directory, &config, &err), 0);
    assert_string_equal(config.server, "https://[fd00::1]:6443");
    kube_config_done(&config);
}

static void test_in_cluster_refused(void **state)
{
    (void)state;
    struct kube_config config;
    struct error err = {0};

    set_service(NULL, NULL);
    assert_int_equal(kube_config_load(NULL, &config, &err), -ENOENT);
    assert_non_null(strstr(err.text, "--kubeconfig"));
    set_service("10.0.0.1", "x");
    assert_int_equal(kube_config_in_cluster(directory, &config, &err), -EINVAL);
    set_service("10.0.0.1", "443");
    assert_int_equal(unlink(path_of("token")), 0);
    assert_int_equal(kube_config_in_cluster(directory, &config, &err), -ENOENT);
    assert_non_null(strstr(err.text, "token"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kubeconfig),         cmocka_unit_test(test_kubeconfig_inline),
        cmocka_unit_test(test_kubeconfig_refused), cmocka_unit_test(test_in_cluster),
        cmocka_unit_test(test_in_cluster_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
