# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: SCTP, DCCP, UDP-Lite, MPTCP and L2TP over IP
# matters: autoloaded protocols with a history (CVE-2017-6074, CVE-2021-23133)
# expect: EAFNOSUPPORT
# toolcall: ENOSYS
from attempt import each, syscall

each({f"family {family} type {kind} protocol {protocol}":
      lambda family=family, kind=kind, protocol=protocol: syscall("socket", family, kind, protocol)
      for family in (2, 10) for kind, protocol in ((1, 132), (5, 132), (6, 33), (2, 136), (1, 262),
                                                   (2, 115))})
