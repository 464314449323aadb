# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: ends its first thread and goes on in a second
# matters: the process looks like a zombie and is none
# timeout: 1
# expect: DeadlineExceeded
import threading
import time

from attempt import syscall

threading.Thread(target=time.sleep, args=(3600,)).start()
time.sleep(0.1)
# exit, not exit_group: this thread alone.
syscall("exit", 0)
