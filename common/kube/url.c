/* SPDX-License-Identifier: Apache-2.0 */
#include "common/buf.h"
#include "common/kube/client.h"

#include <string.h>

int kube_append_escaped(struct buf *buf, const char *text)
{
    static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "0123456789-._~";

    for (; *text; text++) {
        int r = strchr(unreserved, *text)
                    ? buf_append_char(buf, *text)
                    : buf_printf(buf, "%%%02X", (unsigned int)(unsigned char)*text);
        if (r < 0)
            return r;
    }
    return 0;
}
