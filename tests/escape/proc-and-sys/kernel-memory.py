# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads the memory of the kernel by /proc/kcore and its relatives
# matters: everything that anybody on the node has ever read
# expect: ENOENT
from attempt import reading

reading("/proc/kcore", "/proc/kmem", "/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup",
        "/proc/vmcore", "/proc/iomem", "/proc/vmallocinfo", "/proc/slabinfo")
