# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads symbols and modules of the kernel
# matters: the first thing an exploit needs is where the kernel lies
# expect: ENOENT
from attempt import reading

reading("/proc/kallsyms", "/proc/modules", "/proc/ksyms", "/proc/config.gz")
