# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: opens the running interpreter for writing by /proc/self/exe from a child, after it has
#   gone
# matters: CVE-2019-5736: runc was overwritten this way by the container that it had entered
# expect: EACCES, EROFS
import os

from attempt import each

exe = os.open("/proc/self/exe", os.O_PATH)
child = os.fork()
if child == 0:
    os.execv("/usr/bin/true", ["true"])
os.waitpid(child, 0)
each({
    "by the handle": lambda: os.open(f"/proc/self/fd/{exe}", os.O_WRONLY | os.O_TRUNC),
    "by the link": lambda: os.open("/proc/self/exe", os.O_WRONLY | os.O_TRUNC),
})
