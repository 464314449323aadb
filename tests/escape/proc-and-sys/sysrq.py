# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: writes /proc/sysrq-trigger
# matters: one letter reboots the node, another shows its memory
# expect: ENOENT
from attempt import writing

writing("/proc/sysrq-trigger", b"h")
