# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: starts programs with the longest arguments and environment that are taken
# matters: arguments are memory that is copied before the new program has a limit
# timeout: 2
# expect: DeadlineExceeded, OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

arguments = ["x" * 100000] * 80
while True:
    child = os.fork()
    if child == 0:
        try:
            os.execve("/usr/bin/true", arguments, {"A": "y" * 100000})
        except OSError:
            os.execve("/usr/bin/true", arguments[:15], {})
    os.waitpid(child, 0)
