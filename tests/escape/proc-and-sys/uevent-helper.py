# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: writes /sys/kernel/uevent_helper
# matters: the kernel starts what is named there as root at the next device event
# expect: ENOENT
from attempt import writing

writing("/sys/kernel/uevent_helper", b"/tmp/handler")
