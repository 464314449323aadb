# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: fills /tmp, /dev/shm and its home, deletes and fills again
# matters: files in memory are memory
# timeout: 2
# expect: DeadlineExceeded, OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

while True:
    for place in ("/tmp", "/dev/shm", "/home/sandbox"):
        try:
            with open(os.path.join(place, "fill"), "wb") as file:
                for _ in range(16):
                    file.write(bytes(1 << 20))
        except OSError:
            pass
        os.unlink(os.path.join(place, "fill"))
