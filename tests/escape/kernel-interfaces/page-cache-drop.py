# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: drops the interpreter's library files from the page cache
# matters: they are shared: the neighbours' next start would wait for the disk, and the timing
#   tells which files they use
# expect: ENOSYS
import glob
import os
import time

from attempt import name_of, refused, through

# Files that nothing has open: what is mapped stays whatever is advised.
paths = glob.glob("/usr/lib/python3*/**/test_*.pyc", recursive=True)
paths += glob.glob("/usr/lib/python3*/**/__pycache__/*.pyc", recursive=True)
paths += glob.glob("/usr/local/lib/python3*/**/__pycache__/*.pyc", recursive=True)


def blocks_read():
    with open("/proc/self/io", encoding="ascii") as file:
        return int(dict(line.split(": ") for line in file)["read_bytes"])


def read_all():
    for path in paths:
        with open(path, "rb") as file:
            file.read()


if len(paths) < 50:
    raise SystemExit("no files to try it with")
read_all()
before = blocks_read()
read_all()
if blocks_read() != before:
    time.sleep(0.5)
    read_all()
before = blocks_read()
for path in paths:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError as error:
        refused(name_of(error))
    os.close(fd)
read_all()
if blocks_read() > before:
    through(f"{blocks_read() - before} bytes had to be read from the disk again")
refused("no effect")
