# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: allows setgroups again
# matters: dropping a group can open files that are closed to it
# expect: EROFS, EACCES
from attempt import writing

writing("/proc/self/setgroups", b"allow")
