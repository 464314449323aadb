# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: fills the memory so that the kernel's killer must choose between the two of them
# matters: a run whose process 1 was killed must end as what it was
# memory: 48Mi
# expect: OOMKilled
import os

for _ in range(4):
    os.fork()
held = []
while True:
    held.append(bytearray(b"x" * (1 << 20)))
