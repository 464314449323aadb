/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/auth.h"

#include "common/kube/limits.h"
#include "common/kube/scan.h"

#include <errno.h>
#include <string.h>

int auth_init(struct auth *auth, const struct kube_config *config)
{
    int r = 0;

    *auth = (struct auth){.config = config};
    if (config->token_file)
        r = secret_file_init(&auth->token_file, config->token_file, MAX_KUBE_TOKEN);
    if (r == 0 && config->ca_file)
        r = secret_file_init(&auth->ca_file, config->ca_file, MAX_KUBE_PEM);
    if (r < 0)
        auth_done(auth);
    return r;
}

void auth_done(struct auth *auth)
{
    secret_file_done(&auth->token_file);
    secret_file_done(&auth->ca_file);
}

bool auth_token(const struct auth *auth, const char **ret_token, size_t *ret_len)
{
    const char *text = auth->token_file.text ? auth->token_file.text : auth->config->token;

    if (!text)
        return false;
    size_t len = auth->token_file.text ? auth->token_file.len : strlen(text);
    while (len > 0 && scan_is_space(*text)) {
        text++;
        len--;
    }
    while (len > 0 && scan_is_space(text[len - 1]))
        len--;
    *ret_token = text;
    *ret_len = len;
    return true;
}

bool auth_ca(const struct auth *auth, const char **ret_pem, size_t *ret_len)
{
    if (auth->ca_file.text) {
        *ret_pem = auth->ca_file.text;
        *ret_len = auth->ca_file.len;
        return true;
    }
    if (!auth->config->ca_pem)
        return false;
    *ret_pem = auth->config->ca_pem;
    *ret_len = strlen(auth->config->ca_pem);
    return true;
}

/* What goes into a header line must not be able to begin another. */
static int check_token(const struct auth *auth, struct error *err)
{
    const char *token;
    size_t len;

    if (!auth_token(auth, &token, &len))
        return 0;
    if (len == 0)
        return error_set(err, EINVAL, "the bearer token is empty");
    for (size_t i = 0; i < len; i++) {
        if (token[i] <= ' ' || token[i] > '~')
            return error_set(err, EINVAL,
                             "the bearer token has a byte at %zu that no token can have", i);
    }
    return 0;
}

int auth_refresh(struct auth *auth, uint64_t now_ns, struct error *err)
{
    struct secret_file *const files[] = {&auth->token_file, &auth->ca_file};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (!files[i]->path)
            continue;
        int r = secret_file_refresh(files[i], now_ns, err);
        if (r < 0)
            return r;
    }
    return check_token(auth, err);
}

void auth_expire(struct auth *auth)
{
    if (auth->token_file.path)
        secret_file_expire(&auth->token_file);
}
