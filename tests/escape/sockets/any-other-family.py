# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: every number of a socket family, 0 to 127, except AF_UNIX and, as ToolCall, IPv4 and IPv6
# matters: the next family of the kernel must not need a new rule
# expect: EAFNOSUPPORT
from attempt import canary, each, syscall

ALLOWED = {"Snippet": (1,), "ToolCall": (1, 2, 10)}[canary("PROFILE")]
each({f"family {family}": lambda family=family: syscall("socket", family, 1, 0)
      for family in range(128) if family not in ALLOWED})
