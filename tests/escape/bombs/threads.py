# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: starts threads until none is given, and keeps them all busy
# matters: threads are entries of the same table
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import threading

def work():
    while True:
        pass


threading.stack_size(65536)
while True:
    try:
        threading.Thread(target=work, daemon=True).start()
    except RuntimeError:
        pass
