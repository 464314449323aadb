/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/buf.h"
#include "common/certificate.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/output_cert.h"
#include "tests/unit/common/scratch_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The linker has the code's clocks go through here. */
static uint64_t skipped_s;
uint64_t real_monotonic_ns(void) __asm__("__real_clock_monotonic_ns");
uint64_t skipped_monotonic_ns(void) __asm__("__wrap_clock_monotonic_ns");
int64_t real_realtime_us(void) __asm__("__real_clock_realtime_us");
int64_t skipped_realtime_us(void) __asm__("__wrap_clock_realtime_us");

uint64_t skipped_monotonic_ns(void)
{
    return real_monotonic_ns() + skipped_s * 1000000000u;
}

int64_t skipped_realtime_us(void)
{
    return real_realtime_us() + (int64_t)skipped_s * 1000000;
}

static const char *const names[] = {"node-a", "10.0.0.7"};

static void test_one_of_our_own(void **state)
{
    (void)state;
    const struct output_cert_options options = {.names = names, .name_count = 2};
    struct output_cert *cert = NULL;
    struct error err = {0};
    int64_t until_s = 0;

    skipped_s = 0;
    assert_int_equal(output_cert_new(&options, &cert, &err), 0);
    cleanup_free char *first = strdup(output_cert_certificate(cert));
    assert_int_equal(certificate_check(first, output_cert_key(cert), &until_s, &err), 0);
    assert_false(output_cert_refresh(cert));
    skipped_s = OUTPUT_CERT_SECONDS - OUTPUT_CERT_RENEW_SECONDS - 100;
    assert_false(output_cert_refresh(cert));
    skipped_s += 200;
    assert_true(output_cert_refresh(cert));
    assert_string_not_equal(output_cert_certificate(cert), first);
    assert_int_equal(
        certificate_check(output_cert_certificate(cert), output_cert_key(cert), &until_s, &err), 0);
    assert_true(until_s > clock_realtime_us() / 1000000 + OUTPUT_CERT_RENEW_SECONDS);
    assert_false(output_cert_refresh(cert));
    output_cert_free(cert);
}

struct files {
    char cert[128];
    char key[128];
};

static void put(const char *path, const char *text)
{
    char half[160];
    (void)snprintf(half, sizeof(half), "%s.new", path);
    cleanup_close int fd = open(half, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_full(fd, text, strlen(text)), 0);
    assert_int_equal(rename(half, path), 0);
}

static void make(struct buf *certificate, struct buf *key)
{
    const struct certificate_subject subject = {
        .names = names, .name_count = 2, .from_s = 1, .until_s = 4000000000};
    buf_done(certificate);
    buf_done(key);
    assert_int_equal(certificate_make(&subject, certificate, key, NULL), 0);
}

static void test_files(void **state)
{
    const struct scratch_dir *dir = *state;
    struct files files;
    cleanup_buf struct buf certificate = BUF_INIT(1 << 16);
    cleanup_buf struct buf key = BUF_INIT(1 << 16);
    struct output_cert *cert = NULL;
    struct error err = {0};
    const struct output_cert_options options = {.cert_file = files.cert, .key_file = files.key};

    skipped_s = 0;
    (void)snprintf(files.cert, sizeof(files.cert), "%s/tls.crt", dir->path);
    (void)snprintf(files.key, sizeof(files.key), "%s/tls.key", dir->path);
    assert_int_equal(output_cert_new(&options, &cert, &err), -ENOENT);
    assert_non_null(strstr(err.text, files.cert));
    make(&certificate, &key);
    put(files.cert, buf_str(&certificate));
    put(files.key, "no key");
    assert_int_equal(output_cert_new(&options, &cert, &err), -EINVAL);
    assert_non_null(strstr(err.text, files.key));
    put(files.key, buf_str(&key));
    assert_int_equal(output_cert_new(&options, &cert, &err), 0);
    assert_string_equal(output_cert_certificate(cert), buf_str(&certificate));
    skipped_s += 10;
    assert_false(output_cert_refresh(cert));
    /* Renewed, one file after the other: the old pair stays until both are there. */
    make(&certificate, &key);
    put(files.cert, buf_str(&certificate));
    skipped_s += 10;
    assert_false(output_cert_refresh(cert));
    assert_string_not_equal(output_cert_certificate(cert), buf_str(&certificate));
    skipped_s += 10;
    assert_false(output_cert_refresh(cert));
    put(files.key, buf_str(&key));
    skipped_s += 10;
    assert_true(output_cert_refresh(cert));
    assert_string_equal(output_cert_certificate(cert), buf_str(&certificate));
    assert_string_equal(output_cert_key(cert), buf_str(&key));
    skipped_s += 10;
    assert_false(output_cert_refresh(cert));
    /* Gone: kept. */
    assert_int_equal(unlink(files.cert), 0);
    skipped_s += 100;
    assert_false(output_cert_refresh(cert));
    assert_string_equal(output_cert_certificate(cert), buf_str(&certificate));
    output_cert_free(cert);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_of_our_own),
        cmocka_unit_test_setup_teardown(test_files, scratch_dir_setup, scratch_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
