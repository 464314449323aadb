# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: looks for a capability in any of its five sets, and in a child's after exec
# matters: a set that was forgotten fills the others at the next exec
# expect: nothing found
import subprocess

from attempt import refused, through

names = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
texts = [open("/proc/self/status", encoding="ascii").read(),
         subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True,
                        check=True).stdout]
for text in texts:
    sets = dict(line.split(":\t", 1) for line in text.splitlines() if line.startswith("Cap"))
    for name in names:
        if int(sets[name], 16):
            through(f"{name} {sets[name]}")
refused("nothing found")
