# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: renames, links and removes in a crowded directory
# matters: renaming takes a lock of the whole file system
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

for _ in range(3):
    os.fork()
pid = os.getpid()
for name in range(200):
    os.mkdir(f"/tmp/{pid}-{name}")
while True:
    for name in range(200):
        os.rename(f"/tmp/{pid}-{name}", f"/tmp/{pid}-x")
        os.rename(f"/tmp/{pid}-x", f"/tmp/{pid}-{name}")
