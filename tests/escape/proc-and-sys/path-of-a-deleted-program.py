# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: replaces itself by a link while another interpreter starts, and reads /proc/self/exe
# matters: /proc/self/exe is a door to the file that was executed, on whatever mount it is
# expect: EROFS, EACCES
import os

from attempt import each

each({f"opened /proc/self/exe with {flags:#x}":
      lambda flags=flags: os.open("/proc/self/exe", flags)
      for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_WRONLY | os.O_APPEND)})
