# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: pivot_root into /tmp and onto itself
# matters: the old root would be visible again, if anything were left of it
# expect: EPERM
from attempt import each, syscall

each({
    "into /tmp": lambda: syscall("pivot_root", "/tmp", "/tmp"),
    "onto itself": lambda: syscall("pivot_root", ".", "."),
})
