# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: makes a Landlock ruleset of its own
# matters: it can only restrict itself; the call is off since nothing needs it
# expect: ENOSYS
from attempt import syscall, trying

with trying("a ruleset"):
    syscall("landlock_create_ruleset", bytes(8), 8, 0)
