# SPDX-License-Identifier: Apache-2.0
"""What runs could leave behind on this machine: cgroups, mounts, processes, files, interfaces."""

import contextlib
import glob
import os
import subprocess
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


def files_of(uids, places):
    """Paths of the files right in the places that have one of the uids."""
    found = set()
    for place in places:
        for entry in os.scandir(place):
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid in uids:
                    found.add(entry.path)
    return found


def files():
    found = {path for pattern in ("/run/*sandboxrun*", "/dev/shm/*sandboxrun*")
             for path in glob.glob(pattern)}
    found |= files_of(SANDBOX_UIDS, ("/tmp", "/var/tmp", "/dev/shm"))
    return {f"file {path}" for path in found}


def slab_objects(cache):
    """The kernel's objects of a kind that are in use, or None. What is kept per processor counts
    as used, so that goes back first."""
    with contextlib.suppress(OSError), \
            open(f"/sys/kernel/slab/{cache}/shrink", "w", encoding="ascii") as file:
        file.write("1")
    with contextlib.suppress(OSError), open("/proc/slabinfo", encoding="ascii") as file:
        for line in file:
            if line.startswith(cache + " "):
                return int(line.split()[1])
    return None


def network_namespaces():
    """How many the kernel has. What goes is freed when the next ones go (Linux 6.13 and later), so
    one of our own goes first, and is what the next look doesn't count."""
    subprocess.run(["unshare", "--net", "true"], check=True)
    time.sleep(0.1)  # it goes after a grace period
    return slab_objects("net_namespace")


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
