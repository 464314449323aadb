# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: reads its command line and its auxiliary vector for names of the host
# matters: the path of the program that was executed is told there
# expect: own only
from attempt import refused, through

with open("/proc/self/cmdline", "rb") as file:
    arguments = file.read().split(b"\0")
if arguments[:5] != [b"/usr/bin/python3", b"-I", b"-u", b"-B", b"/usr/lib/sandboxrun/runner.pyc"]:
    through(repr(arguments))
with open("/proc/self/mem", "rb", 0) as memory, open("/proc/self/maps", encoding="utf-8") as maps:
    stack = next(line for line in maps if "[stack]" in line)
    first, last = (int(part, 16) for part in stack.split()[0].split("-"))
    memory.seek(last - 4096)
    text = memory.read(4096)
if b"/run/" in text or b"runtimes" in text:
    through("a path of the host on the stack")
refused("own only")
