# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads the memory of process 1
# matters: it was born from the jailer's image
# expect: ENOENT
from attempt import reading

reading("/proc/1/mem", "/proc/1/maps", "/proc/1/smaps", "/proc/1/pagemap", "/proc/1/auxv")
