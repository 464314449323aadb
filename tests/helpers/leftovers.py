# SPDX-License-Identifier: Apache-2.0
"""What runs could leave behind on this machine: cgroups, mounts, processes, files, interfaces."""

import glob
import os
import time

SANDBOX_UIDS = range(2_000_000_000, 2_000_000_000 + 65536)
PROGRAMS = ("sandboxrun", "sandboxrun-jaile")  # comm has 15 characters


def processes():
    found = set()
    for path in glob.glob("/proc/[0-9]*"):
        try:
            uid = os.stat(path).st_uid
            with open(path + "/stat", encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        state = text[text.rindex(")") + 2]
        # A zombie is its parent's to collect, and where that has gone, the machine's init's.
        if state != "Z" and (uid in SANDBOX_UIDS or name[:15] in PROGRAMS):
            found.add(f"process {os.path.basename(path)} {name}")
    return found


def cgroups():
    return {f"cgroup {path}" for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/*")
            for path in glob.glob(root + "/**/sandboxrun/**/", recursive=True)}


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        return {f"mount {line.split()[4]} {line.split()[0]}" for line in file}


def files():
    found = {f"file {path}" for pattern in ("/run/*sandboxrun*", "/dev/shm/*sandboxrun*")
             for path in glob.glob(pattern)}
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        for entry in os.scandir(place):
            try:
                if entry.stat(follow_symlinks=False).st_uid in SANDBOX_UIDS:
                    found.add(f"file {entry.path}")
            except OSError:
                pass
    return found


def interfaces():
    return {f"interface {name}" for name in os.listdir("/sys/class/net")}


def snapshot():
    return processes() | cgroups() | mounts() | files() | interfaces()


class Watch:
    """with Watch(testcase): ...  fails the test if the block leaves something behind."""

    def __init__(self, testcase, within=15.0):
        self.testcase = testcase
        self.within = within

    def __enter__(self):
        self.before = snapshot()
        return self

    def __exit__(self, kind, value, traceback):
        if kind is None:
            self.testcase.assertEqual(self.left(), set(), "left behind")

    def left(self):
        """What came with the block and stays. What others do at the same time comes and goes."""
        end = time.monotonic() + self.within
        left = snapshot() - self.before
        while left and time.monotonic() < end:
            time.sleep(0.05)
            left &= snapshot()
        return left
