# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: writes kernel.core_pattern
# matters: a program named there is started as root on the host by the next crash
# expect: ENOENT
from attempt import writing

writing("/proc/sys/kernel/core_pattern", b"|/tmp/handler")
