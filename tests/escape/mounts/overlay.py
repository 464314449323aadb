# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: an overlay over /usr with its own upper layer
# matters: overlayfs copies files with the rights of the mounter; CVE-2021-3493 and CVE-2023-0386
#   are of this kind
# expect: EPERM
import os

from attempt import syscall, trying

for name in ("upper", "work"):
    os.mkdir("/tmp/" + name)
with trying("an overlay"):
    syscall("mount", "overlay", "/tmp", "overlay", 0,
            "lowerdir=/usr,upperdir=/tmp/upper,workdir=/tmp/work")
