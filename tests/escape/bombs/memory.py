# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: takes memory without an end
# matters: at the node's limit somebody else's process would be killed
# timeout: 2
# expect: OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
held = []
while True:
    held.append(bytearray(b"x" * (1 << 20)))
