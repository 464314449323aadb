# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: has a pipe send SIGIO to process 1, by F_SETOWN alone
# matters: its default action would end process 1
# expect: no effect, EPERM
import fcntl
import os

from attempt import REAPER, signalled

read_end, write_end = os.pipe()
fcntl.fcntl(read_end, fcntl.F_SETOWN, REAPER)
fcntl.fcntl(read_end, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
signalled(REAPER, range(100), lambda *_: os.write(write_end, b"x"))
