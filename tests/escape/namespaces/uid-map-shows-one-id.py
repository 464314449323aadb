# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: looks for a second id in its uid and gid maps
# matters: every id in the map is one that it could become or give files to
# expect: own only
from attempt import refused, through

for name in ("uid_map", "gid_map"):
    with open("/proc/self/" + name, encoding="ascii") as file:
        lines = file.read().splitlines()
    if len(lines) != 1 or lines[0].split()[2] != "1":
        through(f"{name}: {lines}")
    if int(lines[0].split()[1]) < 65536:
        through(f"an id of the host's own: {lines}")
refused("own only")
