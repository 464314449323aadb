# SPDX-License-Identifier: Apache-2.0
# family: core-dumps
# tries: crashes in each of its directories, by every signal that dumps core
# matters: a core file holds memory; where the host collects them they fill its disk
# expect: nothing found
import os
import signal

from attempt import refused, through

for place in ("/tmp", "/home/sandbox", "/dev/shm"):
    os.chdir(place)
    before = set(os.listdir(place))
    for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT, signal.SIGBUS, signal.SIGILL,
                   signal.SIGFPE, signal.SIGTRAP, signal.SIGXCPU):
        child = os.fork()
        if child == 0:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSIGNALED(status):
            raise SystemExit(f"signal {number} didn't end a child")
        if os.WCOREDUMP(status):
            through(f"the kernel dumped core for signal {number}")
    if set(os.listdir(place)) != before:
        through(f"{set(os.listdir(place)) - before}")
refused("nothing found")
