# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: prints eight megabytes without a line end
# matters: readers that collect lines grow without an end
# expect: Completed
import os

for _ in range(128):
    os.write(1, b"x" * 65536)
