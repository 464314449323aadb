# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: reads all files of the runtime again and again
# matters: they are shared with every other run
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

while True:
    for top, directories, names in os.walk("/usr"):
        for name in names:
            with open(os.path.join(top, name), "rb") as file:
                while file.read(1 << 20):
                    pass
