# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: unlinks, renames and re-creates the nodes in /dev
# matters: a /dev/null that keeps what is written to it
# expect: EROFS, EACCES
import os

from attempt import each

each({
    "unlinked": lambda: os.unlink("/dev/null"),
    "renamed": lambda: os.rename("/dev/null", "/dev/old"),
    "mode": lambda: os.chmod("/dev/null", 0o777),
    "a new file": lambda: os.open("/dev/new", os.O_CREAT | os.O_WRONLY),
    "a link": lambda: os.symlink("/tmp", "/dev/new"),
    "a directory": lambda: os.mkdir("/dev/new"),
})
