# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads its own kernel stack and where it waits in the kernel
# matters: both have shown kernel addresses
# expect: EACCES, own only
from attempt import name_of, refused, through

met = set()
for name in ("stack", "wchan"):
    try:
        with open("/proc/self/" + name, encoding="ascii") as file:
            text = file.read()
    except OSError as error:
        met.add(name_of(error))
        continue
    if "ffff" in text or "+0x" in text:
        through(f"{name}: {text[:80]}")
    met.add("own only")
refused(", ".join(sorted(met)))
