# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: kill(-1, SIGKILL), to everything that it may signal
# matters: on a shared pid namespace that is every process of the uid, those of the host included
# expect: own only
# host: outside
import os
import signal

from attempt import refused

# A bystander of our own shows that the call does something. Those outside, who have the same
# kernel uid, are watched by the test.
bystander = os.fork()
if bystander == 0:
    signal.pause()
os.kill(-1, signal.SIGKILL)
if os.waitpid(bystander, 0)[1] != signal.SIGKILL:
    raise SystemExit("not even the bystander was hit")
refused("own only")
