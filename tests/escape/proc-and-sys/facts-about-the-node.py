# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads command line, memory, processors, interrupts, disks and mounts of the node
# matters: /proc/cmdline has held passwords; the rest tells what runs beside
# expect: ENOENT
from attempt import reading

reading("/proc/cmdline", "/proc/meminfo", "/proc/cpuinfo", "/proc/interrupts", "/proc/diskstats",
        "/proc/partitions", "/proc/swaps", "/proc/loadavg", "/proc/uptime", "/proc/stat",
        "/proc/version", "/proc/locks", "/proc/schedstat", "/proc/timer_list", "/proc/zoneinfo",
        "/proc/pressure/cpu", "/proc/cgroups", "/proc/crypto", "/proc/devices", "/proc/misc")
