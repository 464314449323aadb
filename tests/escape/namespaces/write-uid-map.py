# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: writes its uid map anew, with uid 0 in it
# matters: the map decides who it is on the host
# expect: EROFS, EACCES
from attempt import writing

writing("/proc/self/uid_map", b"0 0 4294967295")
