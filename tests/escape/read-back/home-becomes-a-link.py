# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: replaces its home and /tmp by links to the host's directories
# matters: collectors of files start there
# expect: EROFS, EACCES, EBUSY, EPERM
import os

from attempt import canary, each

each({
    "the home": lambda: os.rename("/home/sandbox", "/home/old"),
    "the home, removed": lambda: os.rmdir("/home/sandbox"),
    "/tmp": lambda: os.rename("/tmp", "/old"),
    "/tmp, removed": lambda: os.rmdir("/tmp"),
    "a link beside": lambda: os.symlink(canary("DIRECTORY"), "/home/other"),
})
