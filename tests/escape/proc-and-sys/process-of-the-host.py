# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads environment and memory of a process of the host by its pid there
# matters: the pid namespace must leave no name for it
# expect: ENOENT
from attempt import canary, reading

pid = canary("PID")
reading(f"/proc/{pid}/environ", f"/proc/{pid}/cmdline", f"/proc/{pid}/mem", f"/proc/{pid}/maps")
