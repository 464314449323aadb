# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: compares its namespaces with those of the host
# matters: one that is shared would make the other locks worthless
# expect: own only
import os

from attempt import canary, refused, through

for pair in canary("NAMESPACES").split():
    name, _, host = pair.partition("=")
    if os.readlink("/proc/self/ns/" + name) == host:
        through(f"the {name} namespace is the host's")
refused("own only")
