# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: draws from the kernel's generator as fast as it can
# matters: the generator is one for the whole node
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

for _ in range(3):
    os.fork()
fd = os.open("/dev/urandom", os.O_RDONLY)
while True:
    os.getrandom(1 << 20)
    os.read(fd, 1 << 20)
