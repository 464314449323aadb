# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: a vsock socket by IORING_OP_SOCKET, past a filter on socket()
# matters: ioi/isolate before 2.6: io_uring made the sockets that the filter refused
# source: S10
# expect: EPERM, EAFNOSUPPORT
from attempt import each, syscall

each({
    "a ring": lambda: syscall("io_uring_setup", 8, bytes(120)),
    "a vsock socket": lambda: syscall("socket", 40, 1, 0),
})
