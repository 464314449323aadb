# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: prints what takes six bytes for one when it is encoded
# matters: the result would outgrow what the API server takes, and the run would never end
# expect: Completed
# host: json
import os

for _ in range(32):
    os.write(1, b"\x01<>&\x1b" * 4096)
    os.write(2, b"\x00\x7f\xff<" * 4096)
