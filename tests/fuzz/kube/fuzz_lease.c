/* SPDX-License-Identifier: Apache-2.0 */

/* Whatever stands in a Lease: decode, encode, decode again, with nothing changed on the way. */
#include "common/kube/lease.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    cleanup_json cJSON *tree = NULL;
    cleanup_json cJSON *again = NULL;
    cleanup_buf struct buf body = BUF_INIT(1 << 16);
    struct kube_lease lease, back;
    struct error err = {0};
    if (json_parse((const char *)bytes, len, &tree, &err) < 0)
        return 0;
    if (kube_lease_decode(tree, &lease, &err) < 0) {
        if (err.code == 0 || !err.text[0])
            abort();
        return 0;
    }
    /* As it would be created: then it has its name, and a version of the server's. */
    lease.version[0] = '\0';
    if (kube_lease_encode(&lease, LEASE_LABEL_NODE, &body) < 0 ||
        json_parse(body.data, body.len, &again, &err) < 0)
        abort();
    if (kube_lease_decode(again, &back, &err) == 0)
        abort();
    const char *holder = json_get_string(again, "spec.holderIdentity");
    if (!holder || strcmp(holder, lease.holder) != 0)
        abort();
    return 0;
}
