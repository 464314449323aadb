# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: a hundred threads that compute, sleep and wait for each other
# matters: a kill must reach every thread of every process
# timeout: 2
# expect: DeadlineExceeded
import threading
import time

lock = threading.Lock()


def work(number):
    while True:
        if number % 3 == 0:
            time.sleep(1)
        elif number % 3 == 1:
            lock.acquire()
        else:
            sum(range(1000))


for number in range(100):
    threading.Thread(target=work, args=(number,)).start()
