# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: ptrace under its x32 number, 521
# matters: some calls have numbers of their own there, which a list of plain numbers doesn't know
# expect: SIGSYS
# needs: x86_64
from attempt import dies, syscall

dies(lambda: syscall(0x40000000 | 521, 0, 0, 0, 0), "ptrace was answered by the x32 entry")
