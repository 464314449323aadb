# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads the environment and the command line of process 1
# matters: supervisors are handed tokens that way
# expect: ENOENT
from attempt import reading

reading("/proc/1/environ", "/proc/1/cmdline")
