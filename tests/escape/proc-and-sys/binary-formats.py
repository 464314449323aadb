# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: registers a binary format
# matters: with the flags C and F it starts a program with the rights of whatever is executed
# expect: ENOENT
from attempt import writing

writing("/proc/sys/fs/binfmt_misc/register", b":x:M::x::/tmp/handler:CF")
