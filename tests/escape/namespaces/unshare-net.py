# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a network namespace of its own, by unshare
# matters: in it the program would own interfaces, routes and netfilter, all of it code with a
#   history
# expect: EPERM
from attempt import CLONE_NEWNET, syscall, trying

with trying("a network namespace"):
    syscall("unshare", CLONE_NEWNET)
