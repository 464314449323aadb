# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: netlink sockets of every protocol: routing, sockets, audit, events, netfilter, crypto
# matters: the control channels of the kernel, some of them the same in every namespace
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"protocol {protocol}": lambda protocol=protocol: syscall("socket", 16, 3, protocol)
      for protocol in range(32)})
