# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: a grandchild in a session of its own at the deadline
# matters: modelscope/evalscope#1469: the host stopped waiting and the process went on
# source: B9
# timeout: 1
# expect: DeadlineExceeded
import subprocess
import time

subprocess.Popen(["/bin/sh", "-c", "sleep 600 & sleep 600"], start_new_session=True)
time.sleep(600)
