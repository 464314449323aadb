# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_VSOCK socket, of each type
# matters: the hypervisor and the node listen there, and no network namespace is in between
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 40, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
