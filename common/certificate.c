/* SPDX-License-Identifier: Apache-2.0 */
#include "common/certificate.h"

#include "common/cleanup.h"
#include "common/net/ip_prefix.h"
#include "common/parse.h"
#include "common/random.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdbool.h>
#include <string.h>

/* The subject is for people: clients look at the names alone (RFC 6125). */
#define COMMON_NAME "sandboxrun"

#define SERIAL_BYTES 16u

struct pair {
    gnutls_x509_crt_t certificate;
    gnutls_x509_privkey_t key;
};

static void pair_done(struct pair *pair)
{
    if (pair->certificate)
        gnutls_x509_crt_deinit(pair->certificate);
    if (pair->key)
        gnutls_x509_privkey_deinit(pair->key);
}

static int fail(int code, const char *what, struct error *err)
{
    return error_set(err, code == GNUTLS_E_MEMORY_ERROR ? ENOMEM : EINVAL, "%s: %s", what,
                     gnutls_strerror(code));
}

static int add_names(gnutls_x509_crt_t certificate, const struct certificate_subject *subject,
                     struct error *err)
{
    for (size_t i = 0; i < subject->name_count; i++) {
        const char *name = subject->names[i];
        struct ip_address address;
        bool numeric = ip_address_parse(name, &address) == 0;
        if (!numeric && !parse_is_dns_subdomain(name))
            return error_set(err, EINVAL, "\"%.64s\" is no host name and no address", name);
        int code = numeric ? gnutls_x509_crt_set_subject_alt_name(
                                 certificate, GNUTLS_SAN_IPADDRESS, address.bytes,
                                 (unsigned int)ip_family_bytes(address.family), GNUTLS_FSAN_APPEND)
                           : gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME,
                                                                  name, (unsigned int)strlen(name),
                                                                  GNUTLS_FSAN_APPEND);
        if (code < 0)
            return fail(code, "can't put a name into a certificate", err);
    }
    return 0;
}

/* No authority: it vouches for nothing but this one key. */
static int describe(const struct pair *pair, const struct certificate_subject *subject)
{
    gnutls_x509_crt_t certificate = pair->certificate;
    unsigned char serial[SERIAL_BYTES];
    unsigned char id[64];
    size_t id_len = sizeof(id);
    int code = random_bytes(serial, sizeof(serial)) < 0 ? GNUTLS_E_RANDOM_FAILED : 0;

    serial[0] &= 0x7f; /* a positive number */
    serial[0] |= 0x40;
    if (code >= 0)
        code = gnutls_x509_crt_set_version(certificate, 3);
    if (code >= 0)
        code = gnutls_x509_crt_set_serial(certificate, serial, sizeof(serial));
    if (code >= 0)
        code = gnutls_x509_crt_set_activation_time(certificate, (time_t)subject->from_s);
    if (code >= 0)
        code = gnutls_x509_crt_set_expiration_time(certificate, (time_t)subject->until_s);
    if (code >= 0)
        code = gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0,
                                             COMMON_NAME, (unsigned int)strlen(COMMON_NAME));
    if (code >= 0)
        code = gnutls_x509_crt_set_basic_constraints(certificate, 0, -1);
    if (code >= 0)
        code = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
    if (code >= 0)
        code = gnutls_x509_crt_set_key_purpose_oid(certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
    if (code >= 0)
        code = gnutls_x509_crt_set_key(certificate, pair->key);
    if (code >= 0)
        code = gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA1, id, &id_len);
    if (code >= 0)
        code = gnutls_x509_crt_set_subject_key_id(certificate, id, id_len);
    return code;
}

static int export_pair(const struct pair *pair, struct buf *certificate, struct buf *key,
                       struct error *err)
{
    gnutls_datum_t pem = {0};
    int r = 0;
    int code = gnutls_x509_crt_export2(pair->certificate, GNUTLS_X509_FMT_PEM, &pem);

    if (code >= 0) {
        r = buf_append(certificate, pem.data, pem.size);
        gnutls_free(pem.data);
        pem = (gnutls_datum_t){0};
        code = gnutls_x509_privkey_export2_pkcs8(pair->key, GNUTLS_X509_FMT_PEM, NULL,
                                                 GNUTLS_PKCS_PLAIN, &pem);
    }
    if (code < 0)
        return fail(code, "can't write a certificate down", err);
    if (r == 0)
        r = buf_append(key, pem.data, pem.size);
    explicit_bzero(pem.data, pem.size);
    gnutls_free(pem.data);
    return r < 0 ? error_set_errno(err, -r, "can't write a certificate down") : 0;
}

static int make(struct pair *pair, const struct certificate_subject *subject, struct error *err)
{
    int code = gnutls_x509_privkey_init(&pair->key);

    if (code >= 0)
        code = gnutls_x509_privkey_generate(pair->key, GNUTLS_PK_ECDSA,
                                            GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (code >= 0)
        code = gnutls_x509_crt_init(&pair->certificate);
    if (code >= 0)
        code = describe(pair, subject);
    if (code < 0)
        return fail(code, "can't make a certificate", err);
    int r = add_names(pair->certificate, subject, err);
    if (r < 0)
        return r;
    code = gnutls_x509_crt_sign2(pair->certificate, pair->certificate, pair->key, GNUTLS_DIG_SHA256,
                                 0);
    return code < 0 ? fail(code, "can't sign a certificate", err) : 0;
}

int certificate_make(const struct certificate_subject *subject, struct buf *certificate,
                     struct buf *key, struct error *err)
{
    struct pair pair = {0};
    int r = make(&pair, subject, err);

    if (r == 0)
        r = export_pair(&pair, certificate, key, err);
    pair_done(&pair);
    return r;
}

static gnutls_datum_t datum(const char *text)
{
    /* It is only read, though the type can't say so. */
    union {
        const char *text;
        unsigned char *bytes;
    } data = {.text = text};

    return (gnutls_datum_t){.data = data.bytes, .size = (unsigned int)strlen(text)};
}

/* The first certificate's public key is that of the key. */
static int compare(const struct pair *pair, bool *ret_same)
{
    unsigned char ids[2][64];
    size_t lens[2] = {sizeof(ids[0]), sizeof(ids[1])};
    int code =
        gnutls_x509_crt_get_key_id(pair->certificate, GNUTLS_KEYID_USE_SHA256, ids[0], &lens[0]);

    if (code >= 0)
        code = gnutls_x509_privkey_get_key_id(pair->key, GNUTLS_KEYID_USE_SHA256, ids[1], &lens[1]);
    if (code >= 0)
        *ret_same = lens[0] == lens[1] && memcmp(ids[0], ids[1], lens[0]) == 0;
    return code;
}

static int read_pair(struct pair *pair, const char *certificate, const char *key)
{
    const gnutls_datum_t certificate_pem = datum(certificate);
    const gnutls_datum_t key_pem = datum(key);
    int code = gnutls_x509_crt_init(&pair->certificate);

    if (code >= 0)
        code = gnutls_x509_crt_import(pair->certificate, &certificate_pem, GNUTLS_X509_FMT_PEM);
    if (code >= 0)
        code = gnutls_x509_privkey_init(&pair->key);
    if (code >= 0)
        code = gnutls_x509_privkey_import2(pair->key, &key_pem, GNUTLS_X509_FMT_PEM, NULL, 0);
    return code;
}

int certificate_check(const char *certificate, const char *key, int64_t *ret_until_s,
                      struct error *err)
{
    struct pair pair = {0};
    bool same = false;
    int64_t until_s = 0;
    int code = read_pair(&pair, certificate, key);

    if (code >= 0)
        code = compare(&pair, &same);
    if (code >= 0)
        until_s = (int64_t)gnutls_x509_crt_get_expiration_time(pair.certificate);
    pair_done(&pair);
    if (code < 0)
        return fail(code, "certificate and key can't be used", err);
    if (!same)
        return error_set(
            err, EINVAL,
            "certificate and key can't be used: the key is that of another certificate");
    *ret_until_s = until_s;
    return 0;
}
