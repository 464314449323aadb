# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: writes the clock offsets of its time namespace
# matters: the deadline must not depend on clocks that the program sets
# expect: EROFS, EACCES
from attempt import writing

writing("/proc/self/timens_offsets", b"monotonic 100000 0")
