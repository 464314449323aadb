# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: takes twice its memory limit
# matters: the memory of the node is everybody's
# memory: 64Mi
# expect: OOMKilled
from attempt import through

held = [bytearray(b"x" * (1 << 20)) for _ in range(128)]
through(f"held {len(held)} MiB")
