# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: makes / shared, so that mounts spread
# matters: propagation is how a mount inside could appear outside
# expect: EPERM
from attempt import MS_REC, MS_SHARED, syscall, trying

with trying("a shared root"):
    syscall("mount", None, "/", None, MS_SHARED | MS_REC, None)
