# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: hangs up the terminal of whoever started it
# matters: the user of the command line would be logged out
# expect: EPERM
from attempt import syscall, trying

with trying("vhangup"):
    syscall("vhangup")
