# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: switches process accounting on, into a file of its own
# matters: it would be told of every process that ends on the node
# expect: EPERM
from attempt import syscall, trying

with trying("accounting"):
    syscall("acct", "/tmp/accounts")
