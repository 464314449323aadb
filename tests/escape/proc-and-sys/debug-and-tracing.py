# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: opens the kernel's debug and trace files
# matters: they show what every process of the node does
# expect: ENOENT
from attempt import reading

reading("/sys/kernel/debug/sched/debug", "/sys/kernel/tracing/trace",
        "/sys/kernel/debug/tracing/trace", "/sys/kernel/notes", "/sys/kernel/vmcoreinfo",
        "/sys/kernel/btf/vmlinux", "/sys/kernel/security/apparmor/profiles")
