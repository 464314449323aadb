# SPDX-License-Identifier: Apache-2.0
# family: core-dumps
# tries: raises, removes and zeroes the core limit, of itself and of a child to come
# matters: 1 is the one value at which the kernel starts no piped handler, which would run as root
# expect: EPERM
import struct

from attempt import each, syscall

each({f"limit of {value}": lambda value=value, call=call: call(struct.pack("QQ", value, value))
      for value in (0, 2, 1 << 30, 0xFFFFFFFFFFFFFFFF)
      for call in (lambda limit: syscall("prlimit64", 0, 4, limit, None),
                   lambda limit: syscall("setrlimit", 4, limit))})
