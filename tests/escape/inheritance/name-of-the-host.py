# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: reads the host's name and domain, its machine id and its kernel's boot id
# matters: they tell one node from another
# expect: own only, ENOENT
import os

from attempt import name_of, refused, through

if os.uname().nodename != "sandbox":
    through(os.uname().nodename)
met = {"own only"}
for path in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id", "/etc/hostname",
             "/var/lib/dbus/machine-id", "/proc/sys/kernel/hostname"):
    try:
        with open(path, encoding="ascii") as file:
            through(file.read())
    except OSError as error:
        met.add(name_of(error))
refused(", ".join(sorted(met)))
