# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: a cgroup v1 hierarchy with the memory controller, and one without any
# matters: the second step of the release_agent escape
# expect: EPERM
from attempt import each, syscall

each({
    "the memory hierarchy": lambda: syscall("mount", "cgroup", "/tmp", "cgroup", 0, "memory"),
    "the rdma hierarchy": lambda: syscall("mount", "cgroup", "/tmp", "cgroup", 0, "rdma"),
    "a named hierarchy": lambda: syscall("mount", "cgroup", "/tmp", "cgroup", 0, "none,name=x"),
})
