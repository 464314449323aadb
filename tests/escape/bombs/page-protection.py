# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: changes the protection of pages that many threads use
# matters: each change interrupts the other processors that run this program
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import ctypes
import mmap
import threading

held = mmap.mmap(-1, 1 << 20)
address = ctypes.addressof(ctypes.c_char.from_buffer(held))
libc = ctypes.CDLL(None)


def work():
    while True:
        for right in (1, 3):
            libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(1 << 20), right)


for _ in range(8):
    threading.Thread(target=work, daemon=True).start()
work()
