# SPDX-License-Identifier: Apache-2.0
# family: core-dumps
# tries: has more of its memory dumped: shared files, huge pages
# matters: a handler would get pages of the files that every run shares
# expect: EROFS, EACCES
from attempt import writing

writing("/proc/self/coredump_filter", b"0xff")
