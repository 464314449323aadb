# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: opens /proc/1/ns/mnt and its sisters
# matters: an open namespace file holds the namespace
# expect: ENOENT
from attempt import reading

reading(*(f"/proc/1/ns/{name}" for name in ("mnt", "user", "pid", "net", "cgroup")))
