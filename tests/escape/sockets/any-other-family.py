# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: every number of a socket family, 0 to 127, except AF_UNIX
# matters: the next family of the kernel must not need a new rule
# expect: EAFNOSUPPORT
from attempt import each, syscall

AF_UNIX = 1
each({f"family {family}": lambda family=family: syscall("socket", family, 1, 0)
      for family in range(128) if family != AF_UNIX})
