# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_RDS socket, of each type
# matters: autoloaded, CVE-2010-3904 to CVE-2019-11815
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 21, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
