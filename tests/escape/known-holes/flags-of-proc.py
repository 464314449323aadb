# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: looks for /proc without nosuid, nodev, noexec and read-only
# matters: google/nsjail#283: proc was mounted without the first three
# source: S9
# expect: own only
from attempt import refused, through

with open("/proc/self/mountinfo", encoding="utf-8") as file:
    flags = next(line.split()[5] for line in file if line.split()[4] == "/proc")
missing = {"ro", "nosuid", "nodev", "noexec"} - set(flags.split(","))
if missing:
    through(f"/proc without {sorted(missing)}")
refused("own only")
