# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: takes no_new_privs back
# matters: without it set-uid programs and file capabilities work
# expect: EINVAL
from attempt import prctl, through, trying

if prctl(39) != 1:
    through("no_new_privs isn't set")
with trying("PR_SET_NO_NEW_PRIVS 0"):
    prctl(38, 0)
