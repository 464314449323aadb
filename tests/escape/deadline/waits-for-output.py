# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: writes into a pipe that nobody reads
# matters: a blocked write is a wait in the kernel
# timeout: 1
# expect: DeadlineExceeded
import os

read_end, write_end = os.pipe()
while True:
    os.write(write_end, bytes(65536))
