# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: a file without a name in / and in /usr
# matters: O_TMPFILE takes another way through the file system than creating
# expect: EROFS, EACCES
import os

from attempt import each

each({f"O_TMPFILE in {path}": lambda path=path: os.open(path, os.O_TMPFILE | os.O_WRONLY)
      for path in ("/", "/usr", "/usr/lib", "/etc")})
