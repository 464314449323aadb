# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: three thousand orphans for process 1 to reap
# matters: each is a pid; whoever doesn't reap runs out of them
# timeout: 20
# expect: no effect
import os
import time

from attempt import refused, through

for _ in range(3000):
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.waitpid(child, 0)
end = time.monotonic() + 5
while time.monotonic() < end and len([n for n in os.listdir("/proc") if n.isdigit()]) > 1:
    time.sleep(0.01)
if len([name for name in os.listdir("/proc") if name.isdigit()]) > 1:
    through("orphans stay")
refused("no effect")
