# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: hlt and cli, which stop a processor or its interrupts
# matters: a neighbour's processor would stand still
# expect: SIGSEGV
# needs: x86_64
from attempt import ended, machine_code, refused, through

for code in ("f4c3", "fac3"):
    word = ended(machine_code(bytes.fromhex(code)))
    if word == "returned":
        through(f"instruction {code}")
refused(word)
