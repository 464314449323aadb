# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_NFC socket, of each type
# matters: near field radio, CVE-2020-25670 and following
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 39, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
