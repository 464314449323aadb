# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: looks for sockets of others in the table of unix sockets, and tries the usual names
# matters: dbus, X11, systemd and shims listen on abstract names
# expect: own only
import socket

from attempt import refused, through

with open("/proc/self/net/unix", encoding="utf-8", errors="replace") as file:
    names = [line.split()[7] for line in file.readlines()[1:] if len(line.split()) > 7]
if names:
    through(f"{names[:4]}")
for name in ("/tmp/.X11-unix/X0", "/run/systemd/notify", "/tmp/dbus-1", "/com/ubuntu/upstart"):
    try:
        socket.socket(socket.AF_UNIX).connect("\0" + name)
        through(name)
    except OSError:
        pass
refused("own only")
