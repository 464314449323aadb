/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>

/* Where the API server is and who we are: in-cluster files or a kubeconfig's current context. */
struct kube_config {
    char *server;          /* "https://host:port", no trailing slash */
    char *tls_server_name; /* NULL: the host of server */
    char *ca_file;         /* re-read on rotation; or */
    char *ca_pem;          /* inline bytes; both NULL: the system's store */
    char *client_cert_pem;
    char *client_key_pem;
    char *token;      /* fixed bearer token, or */
    char *token_file; /* re-read on rotation */
    char *default_namespace;
};

/* Loads path, else in-cluster configuration if path is NULL. Unknown or unsupported ways of
 * authentication (exec, auth-provider) are refused by name. */
int kube_config_load(const char *path, struct kube_config *ret_config, struct error *err);

/* From KUBERNETES_SERVICE_HOST/PORT and the service account directory. */
int kube_config_in_cluster(const char *account_dir, struct kube_config *ret_config,
                           struct error *err);

/* A copy of its own; 0 or -ENOMEM. */
int kube_config_copy(const struct kube_config *config, struct kube_config *ret_config);

void kube_config_done(struct kube_config *config);
