# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: system call number -1 and the largest number
# matters: a table that is indexed without a check, or a filter that compares signed
# expect: ENOSYS, SIGSYS
from attempt import ended, refused, syscall, through

for number in (-1, 0x7FFFFFFF, -0x80000000):
    word = ended(lambda number=number: syscall(number, 0, 0, 0))
    if word == "returned":
        through(f"number {number} was answered")
refused(word)
