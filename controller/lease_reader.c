/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/lease_reader.h"

#include "common/buf.h"
#include "common/kube/lease.h"
#include "controller/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct read {
    struct lease_reader *reader;
    struct kube_call *call;
    char *name;
    int64_t steady_us;
    struct read *prev, *next;
};

struct lease_reader {
    struct kube_client *client;
    const char *name_space;
    lease_read_fn fn;
    void *arg;
    struct read *reads;
    unsigned int count;
};

static void read_free(struct read *read)
{
    DL_DELETE(read->reader->reads, read);
    read->reader->count--;
    free(read->name);
    free(read);
}

static void on_answer(const struct kube_response *response, void *arg)
{
    struct read *read = arg;
    struct lease_reader *reader = read->reader;
    cleanup_json cJSON *tree = NULL;
    struct error err = response->error;
    int status = response->status;
    if (status == 200 && json_parse(response->body, response->body_len, &tree, &err) < 0)
        status = 0;
    reader->fn(read->name, status, tree, read->steady_us, &err, reader->arg);
    read_free(read);
}

static int send(struct read *read, struct error *err)
{
    cleanup_buf struct buf path = BUF_INIT(MAX_LEASE_PATH);
    int r = kube_lease_path(read->reader->name_space, read->name, &path);
    if (r < 0)
        return error_set_errno(err, -r, "can't make the path of a Lease");
    const struct kube_request request = {
        .method = "GET",
        .path = buf_str(&path),
        .timeout_ms = LEASE_LOOK_MS,
    };
    return kube_client_send(read->reader->client, &request, on_answer, read, &read->call, err);
}

int lease_reader_read(struct lease_reader *reader, const char *name, int64_t steady_us,
                      struct error *err)
{
    if (reader->count >= MAX_LEASE_ASKS)
        return error_set(err, EBUSY, "%u Leases are being read", reader->count);
    struct read *read = calloc(1, sizeof(*read));
    if (!read)
        return error_set_errno(err, ENOMEM, "can't read a Lease");
    read->reader = reader;
    read->steady_us = steady_us;
    read->name = strdup(name);
    DL_APPEND(reader->reads, read);
    reader->count++;
    int r = read->name ? send(read, err) : error_set_errno(err, ENOMEM, "can't read a Lease");
    if (r < 0)
        read_free(read);
    return r;
}

int lease_reader_new(struct kube_client *client, const char *name_space, lease_read_fn fn,
                     void *arg, struct lease_reader **ret_reader, struct error *err)
{
    struct lease_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return error_set_errno(err, ENOMEM, "can't read Leases");
    *reader =
        (struct lease_reader){.client = client, .name_space = name_space, .fn = fn, .arg = arg};
    *ret_reader = reader;
    return 0;
}

void lease_reader_free(struct lease_reader *reader)
{
    struct read *read, *next;
    if (!reader)
        return;
    DL_FOREACH_SAFE (reader->reads, read, next) {
        kube_call_cancel(read->call);
        read_free(read);
    }
    free(reader);
}
