# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: looks for set-uid and set-gid programs and for files of other owners that it may write
# matters: one is enough
# expect: nothing found
import os
import stat

from attempt import refused, through

seen = 0
for top, directories, names in os.walk("/"):
    if top == "/":
        directories.remove("proc")
    for name in names:
        path = os.path.join(top, name)
        info = os.lstat(path)
        seen += 1
        if stat.S_ISREG(info.st_mode) and info.st_mode & 0o6000:
            through(f"{path} is set-uid")
        if stat.S_ISREG(info.st_mode) and info.st_uid != 65532 and os.access(path, os.W_OK):
            through(f"{path} may be written")
if seen < 100:
    raise SystemExit(f"saw only {seen} files")
refused("nothing found")
