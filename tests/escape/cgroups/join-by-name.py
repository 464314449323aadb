# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: opens the cgroup directories of the host by the paths that the test names
# matters: the path of the own group, known from outside
# expect: ENOENT
from attempt import canary, reading

reading(*(path + "/cgroup.procs" for path in canary("CGROUPS").split()))
