# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: allows any process to trace it
# matters: with Yama this opens it to strangers of the same uid
# expect: ENOSYS
from attempt import prctl, trying

with trying("PR_SET_PTRACER"):
    prctl(0x59616D61, 0xFFFFFFFFFFFFFFFF)
