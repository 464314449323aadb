# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_PACKET socket, of each type
# matters: every frame of an interface; CVE-2016-8655, CVE-2017-7308, CVE-2020-14386
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 17, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
