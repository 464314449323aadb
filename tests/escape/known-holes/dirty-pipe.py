# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: splices a page of a read-only file into a pipe and writes over it
# matters: CVE-2022-0847: the write reached the page cache of the file
# expect: ENOSYS
import os

from attempt import syscall, trying

fd = os.open("/etc/passwd", os.O_RDONLY)
read_end, write_end = os.pipe()
os.write(write_end, bytes(65536))
os.read(read_end, 65536)
with trying("a page of the file is in a pipe"):
    syscall("splice", fd, bytes(8), write_end, None, 1, 0)
    os.write(write_end, b"evil")
