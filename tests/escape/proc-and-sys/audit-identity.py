# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: changes its login uid
# matters: the host's audit log would name somebody else
# expect: EROFS, EACCES
from attempt import writing

writing("/proc/self/loginuid", b"0")
