# SPDX-License-Identifier: Apache-2.0
"""Network namespaces of the tests' own: without a name, gone with the process that holds them.

Nothing is made in the machine's own namespace: interfaces are made in the namespaces themselves.
"""

import os
import subprocess

from helpers.libc import checked, libc

CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG, SIGKILL = 1, 9


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, SIGKILL)


def new_network():
    """The calling thread gets a network namespace of its own."""
    checked(libc.unshare(CLONE_NEWNET), "unshare")


def join_network(fd):
    """The calling thread goes to a network namespace."""
    checked(libc.setns(fd, CLONE_NEWNET), "setns")


def _enter_new():
    die_with_parent()
    new_network()


class Namespace:
    """A network namespace that a sleeping process holds."""

    def __init__(self):
        # Popen comes back after the exec: by then the namespace exists.
        self.holder = subprocess.Popen(["sleep", "infinity"], preexec_fn=_enter_new,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.pid = self.holder.pid
        self.identity = os.stat(f"/proc/{self.pid}/ns/net").st_ino

    def close(self):
        if self.holder.returncode is None:
            self.holder.kill()
            self.holder.wait()

    def enter(self, *argv):
        """The words that run argv inside."""
        return enter(self.pid, *argv)

    def run(self, *argv, **options):
        return run_inside(self.pid, *argv, **options)

    def ip(self, text):
        """The lines of an `ip -batch`."""
        self.run("ip", "-batch", "-", input=text)

    def nft(self, text):
        self.run("nft", "-f", "-", input=text)

    def sysctl(self, **values):
        """Values by name with __ for the dots."""
        words = [f"{name.replace('__', '.')}={value}" for name, value in values.items()]
        self.run("sysctl", "-q", "-w", *words)


def enter(pid, *argv):
    return ["nsenter", f"--net=/proc/{pid}/ns/net", "--", *argv]


def run_inside(pid, *argv, check=True, **options):
    """Runs argv in the network namespace of a process; the finished process with text output."""
    options = {"capture_output": True, "text": True, "timeout": 60} | options
    done = subprocess.run(enter(pid, *argv), **options)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}: {done.stdout}{done.stderr}")
    return done
