# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: starts programs without an end
# matters: each start maps files and throws memory away
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import subprocess

while True:
    subprocess.run(["/usr/bin/true"])
