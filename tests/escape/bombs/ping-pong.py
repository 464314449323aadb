# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: two processes that wake each other through pipes
# matters: each message wakes a processor up
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

there, back = os.pipe(), os.pipe()
if os.fork() == 0:
    there, back = back, there
    os.write(back[1], b"x")
while True:
    os.read(there[0], 1)
    os.write(back[1], b"x")
