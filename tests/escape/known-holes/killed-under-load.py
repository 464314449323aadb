# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: many threads and processes that start, wait, sleep and end at the same time
# matters: langgenius/dify-sandbox#276: calls that only a loaded machine makes were missing in the
#   list
# source: E2
# timeout: 30
# expect: soft
import concurrent.futures
import os
import subprocess
import threading

from attempt import number, refused

lock = threading.Lock()


def work(number):
    with lock:
        pass
    event = threading.Event()
    event.wait(0.001)
    if number % 20 == 0:
        subprocess.run(["true"], check=True)
    return os.getpid()


with concurrent.futures.ThreadPoolExecutor(32) as pool:
    if set(pool.map(work, range(400))) != {os.getpid()}:
        raise SystemExit("a thread got lost")
refused("soft")
