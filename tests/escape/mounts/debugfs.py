# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: debugfs, tracefs, securityfs, configfs, bpf, fusectl, pstore, efivarfs and hugetlbfs
# matters: kernel file systems that are meant for root alone
# expect: EPERM
from attempt import each, syscall

NAMES = ("debugfs", "tracefs", "securityfs", "configfs", "bpf", "fusectl", "pstore", "efivarfs",
         "hugetlbfs", "binfmt_misc", "selinuxfs", "rpc_pipefs", "nfsd")
each({f"mounted {name}": lambda name=name: syscall("mount", name, "/tmp", name, 0, None)
      for name in NAMES})
