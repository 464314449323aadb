# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: calls that its policy doesn't know, as a newer C library would
# matters: langgenius/dify-sandbox#274: one run in a thousand died by SIGSYS, and nobody knew of
#   what
# source: E1
# expect: soft
from attempt import ended, refused, syscall, through

for call in ("landlock_create_ruleset", "openat2", "preadv2", "statmount", "mlock", "io_setup",
             "get_mempolicy", "membarrier", "timerfd_create", "memfd_create", "clone3"):
    word = ended(lambda call=call: syscall(call, 0, 0, 0, 0, 0, 0))
    if word not in ("ENOSYS", "EPERM", "EINVAL", "EFAULT"):
        through(f"{call}: {word}")
for call in range(500, 600):
    if (word := ended(lambda call=call: syscall(call))) != "ENOSYS":
        through(f"number {call}: {word}")
refused("soft")
