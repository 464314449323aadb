# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: makes mappings until none is given
# matters: each is an object of the kernel
# timeout: 2
# expect: bounded, OOMKilled, DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import mmap

from attempt import refused, through

held = []
try:
    while len(held) < 200000:
        held.append(mmap.mmap(-1, 4096, prot=1 + 2 * (len(held) % 2)))
except OSError:
    refused("bounded")
through(f"{len(held)} mappings")
