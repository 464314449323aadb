/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/zygote/rseq.h"

#include <errno.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What every kernel takes; the library's own area is at least as long. */
#define ORIGINAL_SIZE 32

/* Of a library without them, nothing. */
#pragma weak __rseq_offset
#pragma weak __rseq_size

int rseq_register(struct error *err)
{
    if (!&__rseq_offset || !&__rseq_size || __rseq_size == 0)
        return 0;
    void *area = (char *)__builtin_thread_pointer() + __rseq_offset;
    /* Before Linux 5.5 a child that shares memory kept them, if it was no thread. */
    if (syscall(SYS_rseq, area, ORIGINAL_SIZE, 0, RSEQ_SIG) < 0 && errno != EBUSY)
        return error_set(err, errno, "register restartable sequences");
    return 0;
}
