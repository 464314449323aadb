# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: the release_agent escape: namespaces, a cgroup v1 mount, notify_on_release and a program
#   for the host to run
# matters: CVE-2022-0492: the kernel starts the program as root on the host
# expect: EPERM
import os

from attempt import CLONE_NEWCGROUP, CLONE_NEWNS, CLONE_NEWUSER, syscall, trying

with trying("a release agent"):
    syscall("unshare", CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP)
    os.mkdir("/tmp/cg")
    syscall("mount", "cgroup", "/tmp/cg", "cgroup", 0, "rdma")
    with open("/tmp/cg/release_agent", "w", encoding="ascii") as file:
        file.write("/tmp/handler")
