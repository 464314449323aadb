# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: a negative nice value for itself
# matters: more of the processor than its weight
# expect: EACCES
import os

from attempt import trying

with trying("nice -20"):
    os.setpriority(os.PRIO_PROCESS, 0, -20)
