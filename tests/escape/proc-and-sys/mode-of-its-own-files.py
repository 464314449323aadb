# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: changes mode and owner of files in /proc/self
# matters: proc is one file system for all that share the pid namespace, and has had such bugs
# expect: EROFS, EACCES, EPERM, ENOENT
import os

from attempt import each

each({
    "mode of mem": lambda: os.chmod("/proc/self/mem", 0o777),
    "mode of environ": lambda: os.chmod("/proc/self/environ", 0o777),
    "owner": lambda: os.chown("/proc/self/environ", 65532, 65532),
    "a new file": lambda: os.open("/proc/self/new", os.O_CREAT | os.O_WRONLY),
    "a new directory": lambda: os.mkdir("/proc/new"),
})
