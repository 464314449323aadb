# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: changes mode, owner and times of the runtime's files
# matters: a set-uid bit on a shared file would wait for somebody
# expect: EROFS, EACCES, EPERM
import os
import sys

from attempt import each

program = os.path.realpath(sys.executable)
each({
    "mode": lambda: os.chmod(program, 0o4777),
    "mode of a directory": lambda: os.chmod("/etc", 0o777),
    "owner": lambda: os.chown(program, 65532, 65532),
    "times": lambda: os.utime(program),
})
