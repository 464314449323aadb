# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: searches all of its memory for a secret that the host's processes hold
# matters: a child is a copy of its parent until exec, and of more if there is none
# expect: nothing found
from attempt import SECRET, refused, through

# The environment of the run names canaries, and no secret.
searched = 0
with open("/proc/self/maps", encoding="utf-8") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        span, rights = line.split()[:2]
        if "r" not in rights or line.rstrip().endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
            continue
        first, last = (int(part, 16) for part in span.split("-"))
        memory.seek(first)
        try:
            data = memory.read(last - first)
        except OSError:
            continue
        searched += len(data)
        at = data.find(SECRET)
        while at >= 0:
            # Sixteen digits follow in a secret; the search pattern itself has none.
            if data[at + len(SECRET):at + len(SECRET) + 16].isalnum():
                through(f"a secret at {first + at:#x}")
            at = data.find(SECRET, at + 1)
if searched < 1 << 20:
    raise SystemExit(f"searched only {searched} bytes")
refused("nothing found")
