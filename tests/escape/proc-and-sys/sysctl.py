# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads and writes other settings of the kernel
# matters: address layout, panic on oops, the largest pid, forwarding
# expect: ENOENT
import os

from attempt import each

NAMES = ("kernel/randomize_va_space", "kernel/panic", "kernel/pid_max", "kernel/kptr_restrict",
         "kernel/unprivileged_bpf_disabled", "net/ipv4/ip_forward", "vm/overcommit_memory",
         "vm/drop_caches", "fs/protected_symlinks", "fs/suid_dumpable", "user/max_user_namespaces",
         "kernel/ns_last_pid", "kernel/random/boot_id")
tries = {}
for name in NAMES:
    path = "/proc/sys/" + name
    tries["opened " + path] = lambda path=path: os.open(path, os.O_RDONLY)
    tries["opened for writing " + path] = lambda path=path: os.open(path, os.O_WRONLY)
each(tries)
