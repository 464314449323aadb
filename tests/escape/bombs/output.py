# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: prints as fast as it can on both streams
# matters: whoever reads pays for it, and the disk that keeps it fills
# timeout: 2
# expect: OutputLimitExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

while True:
    os.write(1, b"x" * 65536)
    os.write(2, b"y" * 65536)
