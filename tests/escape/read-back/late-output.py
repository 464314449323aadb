# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: prints from a daemon after the main program has ended
# matters: the end of the main program is the end of the run; what comes later must not appear in
#   this result or another
# expect: Completed
import os
import time

if os.fork() == 0:
    os.setsid()
    time.sleep(0.5)
    print("THROUGH a daemon lived on", flush=True)
    os._exit(0)
