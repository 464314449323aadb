# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: reads control register 0 and a model-specific register, writes the descriptor table
#   register
# matters: whoever sets these owns the machine
# expect: SIGSEGV
# needs: x86_64
from attempt import ended, machine_code, refused, through

for code in ("0f20c0c3", "b9800000c00f32c3", "0f0118c3"):  # mov rax, cr0; rdmsr; lidt [rax]
    word = ended(machine_code(bytes.fromhex(code)))
    if word == "returned":
        through(f"instruction {code}")
refused(word)
