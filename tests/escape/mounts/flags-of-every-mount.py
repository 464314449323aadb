# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: looks for a mount that is writable and not its own, or that allows set-uid programs
# matters: one forgotten flag undoes a lock
# expect: own only
from attempt import refused, through

OWN = {"/tmp", "/dev/shm", "/home/sandbox"}
for line in open("/proc/self/mountinfo", encoding="utf-8"):
    fields = line.split()
    path, flags = fields[4], set(fields[5].split(","))
    if path not in OWN and "ro" not in flags:
        through(f"{path} is writable")
    if "nosuid" not in flags:
        through(f"{path} allows set-uid programs")
    if "nodev" not in flags and path != "/dev":
        through(f"{path} allows devices")
    if any(field.startswith(("shared:", "master:")) for field in fields[6:fields.index("-")]):
        through(f"{path} has peers outside")
refused("own only")
