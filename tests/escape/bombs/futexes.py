# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: many threads that wait for one lock
# matters: wait queues are in a hash table of the whole node
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import ctypes
import threading

from attempt import syscall

word = ctypes.c_int(0)
address = ctypes.addressof(word)


def work():
    while True:
        try:
            syscall("futex", address, 0, 0, bytes(8) + (1000).to_bytes(8, "little"), None, 0)
        except OSError:
            pass
        syscall("futex", address, 1, 1 << 30, None, None, 0)


for _ in range(40):
    threading.Thread(target=work, daemon=True).start()
work()
