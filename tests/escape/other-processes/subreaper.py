# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: becomes the reaper of its descendants
# matters: process 1 must be the one that gets the orphans
# expect: ENOSYS
from attempt import prctl, trying

with trying("PR_SET_CHILD_SUBREAPER"):
    prctl(36, 1)
