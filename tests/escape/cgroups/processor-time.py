# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: uses sixteen processes to get more of the processor than its limit
# matters: the limit is for the run, not for a process; the neighbours' share comes from the rest
# cpu: 250m
# timeout: 15
# expect: bounded
import os
import time

from attempt import refused, through

SHARE, SECONDS = 0.25, 2.0
for _ in range(15):
    if os.fork() == 0:
        while True:
            pass
end = time.monotonic() + SECONDS
while time.monotonic() < end:
    pass
used = 0.0
for pid in (name for name in os.listdir("/proc") if name.isdigit()):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
# A period of 100 ms may be half over at either end, and every processor may overrun its slice.
if used > SHARE * SECONDS * 1.5 + 0.2:
    through(f"{used:.2f} s of processor time in {SECONDS} s")
refused("bounded")
