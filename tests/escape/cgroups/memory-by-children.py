# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: takes its memory limit in each of six children
# matters: a limit per process is none
# memory: 64Mi
# expect: OOMKilled
import os
import time

from attempt import through

pipe = os.pipe()
for _ in range(6):
    if os.fork() == 0:
        held = bytearray(b"x" * (40 << 20))
        os.write(pipe[1], b"x")
        time.sleep(30)
count = 0
while count < 6:
    count += len(os.read(pipe[0], 6))
through("six times 40 MiB")
