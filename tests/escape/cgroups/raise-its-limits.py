# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: raises its own hard limits: processes, files, memory lock, file size, queues, priority
# matters: the second net below the cgroup
# expect: EPERM
import resource

from attempt import each

names = ("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_MEMLOCK", "RLIMIT_FSIZE", "RLIMIT_MSGQUEUE",
         "RLIMIT_NICE", "RLIMIT_RTPRIO", "RLIMIT_SIGPENDING", "RLIMIT_STACK", "RLIMIT_CORE")


def raise_limit(name):
    kind = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (hard + 1, hard + 1))
    except ValueError as error:  # Python's word for EPERM here
        raise PermissionError(1, str(error)) from None


each({name: lambda name=name: raise_limit(name) for name in names})
