# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: ends itself by SIGKILL, as the memory killer would
# matters: an operator would look for a memory leak
# expect: Signaled
import os
import signal

os.kill(os.getpid(), signal.SIGKILL)
