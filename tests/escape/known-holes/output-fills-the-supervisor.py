# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: a flood of output
# matters: python-discord/snekbox#81: the supervisor kept all of it and was killed for its memory
# source: C4
# expect: OutputLimitExceeded
import os

from attempt import through

for _ in range(2048):
    os.write(1, b"x" * 65536)
through("128 MiB of output were taken")
