# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: setrlimit, for the core limit and the rest
# matters: the older call for the same
# expect: EPERM
import struct

from attempt import each, syscall

each({f"limit {limit}": lambda limit=limit: syscall("setrlimit", limit, struct.pack("QQ", 1, 1))
      for limit in (4, 7, 6)})
