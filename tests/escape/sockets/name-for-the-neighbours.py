# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: listens on an abstract name and on a path, and waits for somebody from outside
# matters: two sandboxes could talk past every policy
# expect: nothing found
import socket

from attempt import refused, through

abstract = socket.socket(socket.AF_UNIX)
abstract.bind("\0sandboxrun-meeting-point")
path = socket.socket(socket.AF_UNIX)
path.bind("/tmp/meeting-point")
for sock in (abstract, path):
    sock.listen()
    sock.settimeout(0.3)
    try:
        sock.accept()
        through("somebody came")
    except TimeoutError:
        pass
refused("nothing found")
