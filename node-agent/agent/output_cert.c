/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/output_cert.h"

#include "common/buf.h"
#include "common/certificate.h"
#include "common/clock.h"
#include "common/kube/secret_file.h"
#include "common/log.h"
#include "node-agent/agent/agent_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define US_PER_S 1000000

struct output_cert {
    struct output_cert_options options;
    struct secret_file cert_file;
    struct secret_file key_file;
    char *certificate;
    char *key;
    int64_t until_s;
    bool complained; /* about files that can't be used as they are now */
};

static void wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

static int take(struct output_cert *cert, const char *certificate, const char *key,
                struct error *err)
{
    int64_t until_s = 0;
    int r = certificate_check(certificate, key, &until_s, err);

    if (r < 0)
        return r;
    char *certificate_copy = strdup(certificate);
    char *key_copy = strdup(key);
    if (!certificate_copy || !key_copy) {
        free(certificate_copy);
        wipe(key_copy);
        return error_set_errno(err, ENOMEM, "certificate");
    }
    free(cert->certificate);
    wipe(cert->key);
    cert->certificate = certificate_copy;
    cert->key = key_copy;
    cert->until_s = until_s;
    return 0;
}

static int make(struct output_cert *cert, struct error *err)
{
    cleanup_buf struct buf certificate = BUF_INIT(MAX_OUTPUT_CERT);
    cleanup_buf struct buf key = BUF_INIT(MAX_OUTPUT_CERT);
    int64_t now_s = clock_realtime_us() / US_PER_S;
    const struct certificate_subject subject = {
        .names = cert->options.names,
        .name_count = cert->options.name_count,
        .from_s = now_s - OUTPUT_CERT_EARLY_SECONDS,
        .until_s = now_s + OUTPUT_CERT_SECONDS,
    };
    int r = certificate_make(&subject, &certificate, &key, err);

    if (r == 0)
        r = take(cert, buf_str(&certificate), buf_str(&key), err);
    if (key.data)
        explicit_bzero(key.data, key.len);
    return r;
}

static int load(struct output_cert *cert, bool *ret_changed, struct error *err)
{
    uint64_t now_ns = clock_monotonic_ns();
    int cert_changed = secret_file_refresh(&cert->cert_file, now_ns, err);
    int key_changed =
        cert_changed < 0 ? cert_changed : secret_file_refresh(&cert->key_file, now_ns, err);

    if (key_changed < 0)
        return key_changed;
    *ret_changed = cert_changed > 0 || key_changed > 0;
    if (!*ret_changed && !cert->complained)
        return 0;
    int r = take(cert, cert->cert_file.text, cert->key_file.text, err);
    *ret_changed = r == 0;
    return r < 0 ? error_wrap(err, "%s and %s", cert->options.cert_file, cert->options.key_file)
                 : 0;
}

bool output_cert_refresh(struct output_cert *cert)
{
    struct error err = {0};
    bool changed = false;
    int r;

    if (cert->options.cert_file) {
        r = load(cert, &changed, &err);
    } else {
        int64_t now_s = clock_realtime_us() / US_PER_S;
        if (cert->until_s - now_s > OUTPUT_CERT_RENEW_SECONDS)
            return false;
        r = make(cert, &err);
        changed = r == 0;
    }
    if (r < 0 && !cert->complained)
        log_event(LOG_LEVEL_ERROR, "can't renew the output server's certificate, keeping the old",
                  LOG_TEXT("error", err.text));
    cert->complained = r < 0;
    return changed;
}

int output_cert_new(const struct output_cert_options *options, struct output_cert **ret_cert,
                    struct error *err)
{
    struct output_cert *cert = calloc(1, sizeof(*cert));
    bool changed = false;
    int r = 0;

    if (!cert)
        return error_set_errno(err, ENOMEM, "certificate");
    cert->options = *options;
    if (!options->cert_file) {
        r = make(cert, err);
    } else if (secret_file_init(&cert->cert_file, options->cert_file, MAX_OUTPUT_CERT) < 0 ||
               secret_file_init(&cert->key_file, options->key_file, MAX_OUTPUT_CERT) < 0) {
        r = error_set_errno(err, ENOMEM, "certificate");
    } else {
        r = load(cert, &changed, err);
    }
    if (r < 0) {
        output_cert_free(cert);
        return r;
    }
    *ret_cert = cert;
    return 0;
}

void output_cert_free(struct output_cert *cert)
{
    if (!cert)
        return;
    secret_file_done(&cert->cert_file);
    secret_file_done(&cert->key_file);
    free(cert->certificate);
    wipe(cert->key);
    free(cert);
}

const char *output_cert_certificate(const struct output_cert *cert)
{
    return cert->certificate;
}

const char *output_cert_key(const struct output_cert *cert)
{
    return cert->key;
}
