# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: takes the memory in a daemon that has left its session
# matters: a process must not be able to leave its group by leaving its parent
# memory: 64Mi
# expect: OOMKilled
import os
import time

from attempt import through

read_end, write_end = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        held = bytearray(b"x" * (128 << 20))
        os.write(write_end, b"x")
        time.sleep(30)
    os._exit(0)
os.wait()
os.close(write_end)
if os.read(read_end, 1):
    through("a daemon holds 128 MiB")
time.sleep(5)
raise SystemExit("the daemon died alone")
