# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for blocked or ignored signals, for pending ones and for a running timer
# matters: an ignored SIGTERM or a pending alarm is a message from the parent
# expect: own only
import signal

from attempt import own_status, refused, through

blocked, pending = int(own_status("SigBlk"), 16), int(own_status("ShdPnd"), 16)
# The interpreter itself ignores SIGPIPE and SIGXFSZ; 32 and 33 are the C library's.
ignored = int(own_status("SigIgn"), 16)
allowed = sum(1 << (number - 1) for number in (signal.SIGPIPE, signal.SIGXFSZ, 32, 33))
if blocked or pending or ignored & ~allowed or any(signal.getitimer(kind)[0] for kind in (0, 1, 2)):
    through(f"blocked {blocked:x} pending {pending:x} ignored {ignored:x}")
refused("own only")
