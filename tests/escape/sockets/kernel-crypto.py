# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_ALG socket, of each type
# matters: loads ciphers into the kernel on demand and hands them pages of the page cache
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 38, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
