/* SPDX-License-Identifier: Apache-2.0 */
/* The whole way of a file's bytes: YAML or JSON, strict decoding, bounds. What is taken encodes to
 * a request; what is refused has a message that names the source and is one line of text. */
#include "node-agent/agent/request.h"
#include "node-agent/cli/documents.h"

#include "common/parse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_run(const struct sandboxrun *run)
{
    struct buf request;
    check(parse_is_dns_subdomain(run->name));
    check(request_encode(&run->spec, &request, NULL) == 0);
    check(request.len >= 28 + strlen(run->spec.code));
    check(run->spec.timeout_seconds > 0 && run->spec.memory_bytes > 0 && run->spec.cpu_milli > 0);
    buf_done(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct document_list list = {0};
    struct error err = {0};
    int r = documents_add(&list, "file", (const char *)bytes, len, &err);
    if (r < 0) {
        check(strncmp(err.text, "file: ", 6) == 0 && err.code > 0);
    } else {
        check(list.count > 0);
        for (size_t i = 0; i < list.count; i++)
            check_run(&list.items[i].run);
    }
    documents_done(&list);
    return 0;
}
