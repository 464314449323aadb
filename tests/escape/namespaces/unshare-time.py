# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a time namespace for its children, by unshare
# matters: clocks of its own could confuse whoever measures the run
# expect: EPERM
from attempt import CLONE_NEWTIME, syscall, trying

with trying("a time namespace"):
    syscall("unshare", CLONE_NEWTIME)
