# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: writes and reads extended attributes of the runtime's files
# matters: file capabilities, labels and overlay marks are stored there
# expect: ENOTSUP
import os

from attempt import each

each({
    "wrote one": lambda: os.setxattr("/etc/passwd", "user.x", b"1"),
    "wrote a capability": lambda: os.setxattr("/etc/passwd", "security.capability", bytes(20)),
    "listed them": lambda: os.listxattr("/etc/passwd"),
})
