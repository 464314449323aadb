# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: walks /proc/bus, /proc/irq, /proc/acpi, /proc/scsi, /proc/driver, /proc/fs, /proc/sysvipc
# matters: container runtimes mask these paths one by one; here none may exist
# expect: ENOENT
import os

from attempt import each

each({"listed " + path: lambda path=path: os.listdir(path)
      for path in ("/proc/bus", "/proc/irq", "/proc/acpi", "/proc/scsi", "/proc/driver",
                   "/proc/fs", "/proc/sysvipc", "/proc/sys", "/proc/asound", "/proc/tty")})
