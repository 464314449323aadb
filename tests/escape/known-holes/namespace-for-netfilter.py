# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: a user and a network namespace for nf_tables
# matters: CVE-2024-1086, CVE-2023-32233, CVE-2022-34918: all of them begin with these two calls
# expect: EPERM, EAFNOSUPPORT
from attempt import CLONE_NEWNET, CLONE_NEWUSER, each, syscall

each({
    "the namespaces": lambda: syscall("unshare", CLONE_NEWUSER | CLONE_NEWNET),
    "netfilter's netlink": lambda: syscall("socket", 16, 3, 12),
})
