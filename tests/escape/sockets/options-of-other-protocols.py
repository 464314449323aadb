# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: options of IP, TCP, netfilter, TLS and the like on the socket that it has
# matters: iptables is configured by socket options (CVE-2016-4997, CVE-2021-22555)
# expect: ENOSYS
# toolcall: ENOSYS, ENOTSUP
import socket

from attempt import each

sock = socket.socket(socket.AF_UNIX)
each({f"level {level} option {option}":
      lambda level=level, option=option: sock.setsockopt(level, option, bytes(84))
      for level in (0, 6, 17, 41, 58, 132, 255, 263, 270, 279, 282, 284) for option in (1, 31, 64)})
