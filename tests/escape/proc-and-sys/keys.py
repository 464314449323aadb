# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads /proc/keys and /proc/key-users
# matters: key rings belong to no namespace: every user of the node is in the list
# expect: ENOENT
from attempt import reading

reading("/proc/keys", "/proc/key-users")
