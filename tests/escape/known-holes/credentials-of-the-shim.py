# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: the abstract socket names of container shims
# matters: CVE-2020-15257: containerd's shim listened there, as root, in the host's network
#   namespace
# expect: ECONNREFUSED, EPERM, EACCES
import socket

from attempt import canary, each

each({name: lambda name=name: socket.socket(socket.AF_UNIX).connect("\0" + name)
      for name in ("/containerd-shim/moby/x/shim.sock", "/containerd-shim/k8s.io/x/shim.sock",
                   canary("ABSTRACT"))})
