# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: the paths that runtimes mask, and a masked path's mount moved away
# matters: CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881: runc's masks could be pointed
#   elsewhere by links
# expect: ENOENT, EROFS, EACCES, EPERM
import os

from attempt import MNT_DETACH, each, syscall

PATHS = ("/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
         "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi",
         "/sys/firmware", "/sys/devices/virtual/powercap", "/proc/bus", "/proc/fs", "/proc/irq",
         "/proc/sys", "/proc/sysrq-trigger", "/proc/interrupts")
tries = {path: lambda path=path: os.stat(path) for path in PATHS}
tries["/dev/null, to put a link in its place"] = lambda: os.unlink("/dev/null")
tries["/dev/console"] = lambda: os.open("/dev/console", os.O_WRONLY)
tries["unmounted a mask"] = lambda: syscall("umount2", "/proc/kcore", MNT_DETACH)
each(tries)
