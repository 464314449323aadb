# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: children that crash, without an end
# matters: each crash is a line in the node's log, and may start a handler
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import ctypes
import os

while True:
    child = os.fork()
    if child == 0:
        ctypes.string_at(0)
    os.waitpid(child, 0)
