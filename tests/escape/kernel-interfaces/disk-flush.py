# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: has the host's disk flush its cache, by fsync and fdatasync on a file of the runtime
# matters: each call is a wait of the whole disk, and no limit counts it
# expect: no effect
import errno
import os

from attempt import name_of, refused, through

# A descriptor for reading is enough for it. Whether the calls reach the kernel shows with one that
# nothing can be flushed to.
file = os.open("/usr/bin/python3", os.O_RDONLY)
read_end, _ = os.pipe()
for function in (os.fsync, os.fdatasync):
    function(file)
    try:
        function(read_end)
    except OSError as error:
        if error.errno == errno.EINVAL:
            through(f"{function.__name__} reached the kernel")
        refused(name_of(error))
refused("no effect")
