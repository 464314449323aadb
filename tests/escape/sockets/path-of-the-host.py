# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: connects to a unix socket of the host by its path, and to the usual daemons
# matters: docker.sock is root on the node
# expect: ENOENT
import socket

from attempt import canary, each

PATHS = ("/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/crio/crio.sock",
         "/run/systemd/private", "/run/systemd/notify", "/run/dbus/system_bus_socket",
         "/run/systemd/journal/stdout", "/dev/log", "/run/sandboxrun/jailer.sock",
         "/var/lib/kubelet/pod-resources/kubelet.sock", "/run/udev/control")
each({path: lambda path=path: socket.socket(socket.AF_UNIX).connect(path)
      for path in (*PATHS, canary("SOCKET"))})
