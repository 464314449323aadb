# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: ends itself with 0 in the very moment of the deadline
# matters: both ends are true; the run must have one of them and not hang between
# timeout: 1
# expect: Completed, DeadlineExceeded
import time

# Not to the millisecond: what counts is that there is an end at all.
time.sleep(1.0 - time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID))
