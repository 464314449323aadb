# SPDX-License-Identifier: Apache-2.0
"""The census finds each kind of thing that is left behind, and the judge of ends each wrong end."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import census
import programs
from flights import KILLED, WAYS, Flight, end_of
from helpers import jailer_protocol as protocol

UID = census.UIDS.start + 7
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUTS, CLONE_NEWNET = 0x04000000, 0x40000000


def in_child(function):
    """Runs it in a process of its own, which then ends; waits for that."""
    pid = os.fork()
    if pid == 0:
        code = 1
        with contextlib.suppress(BaseException):
            function()
            code = 0
        os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert status == 0, status


def namespace_descriptor(flag, kind):
    """A descriptor of a new namespace in which no process is."""
    ours, theirs = socket.socketpair()

    def make():
        if LIBC.unshare(flag) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        socket.send_fds(theirs, [b"x"], [os.open(f"/proc/self/ns/{kind}", os.O_RDONLY)])

    with ours, theirs:
        in_child(make)
        _, fds, _, _ = socket.recv_fds(ours, 1, 1)
    return fds[0]


class Plants:
    """One thing of each kind, and their removal in the reverse order."""

    def __init__(self, stack):
        self.stack = stack
        self.scratch = tempfile.mkdtemp(prefix=census.OWN_PREFIX)
        stack.callback(os.rmdir, self.scratch)

    def process(self):
        child = subprocess.Popen(["sleep", "60"], user=UID)
        self.stack.callback(child.wait)
        self.stack.callback(child.kill)

    def zombie(self):
        """Nobody's child any more, dead, and not collected before the census looks."""
        pid = os.fork()
        if pid == 0:
            os.setuid(UID)
            os._exit(0)
        self.stack.callback(os.waitpid, pid, 0)

    def cgroup(self):
        top = next(path for path in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup") if os.path.exists(
            path + "/cgroup.procs"))
        for path in (f"{top}/{census.PARENT}", f"{top}/{census.PARENT}/census"):
            if not os.path.exists(path):
                os.mkdir(path)
                self.stack.callback(os.rmdir, path)

    def file(self):
        handle, path = tempfile.mkstemp(dir="/tmp")
        os.close(handle)
        os.chown(path, UID, UID)
        self.stack.callback(os.unlink, path)

    def key(self):
        """In the keyring of a process, with which it goes."""
        def add():
            process_keyring, chown = -2, 4
            key = LIBC.syscall(programs.REFUSED["add_key"], b"user", b"soak", b"x", 1,
                               process_keyring)
            LIBC.syscall(programs.REFUSED["keyctl"], chown, key, UID, -1)
            time.sleep(60)
        pid = os.fork()
        if pid == 0:
            add()
        self.stack.callback(os.waitpid, pid, 0)
        self.stack.callback(os.kill, pid, signal.SIGKILL)
        end = time.monotonic() + 10
        while not census.keys() and time.monotonic() < end:
            time.sleep(0.01)

    def namespace(self):
        self.stack.callback(os.close, namespace_descriptor(CLONE_NEWUTS, "uts"))

    def namespaces_nobody_holds(self):
        """On the way in a socket that nobody reads, where no /proc shows them."""
        ours, theirs = socket.socketpair()
        self.stack.callback(ours.close)
        self.stack.callback(theirs.close)
        for _ in range(4):
            fd = namespace_descriptor(CLONE_NEWNET, "net")
            socket.send_fds(theirs, [b"x"], [fd])
            os.close(fd)

    def inotify(self):
        for _ in range(3):
            self.stack.callback(os.close, LIBC.inotify_init1(os.O_CLOEXEC))

    def mount(self):
        subprocess.run(["mount", "-t", "tmpfs", "none", self.scratch], check=True)
        self.stack.callback(subprocess.run, ["umount", self.scratch], check=True)

    def interface(self):
        subprocess.run(["ip", "link", "add", "soak0", "type", "veth", "peer", "name", "soak1"],
                       check=True)
        self.stack.callback(subprocess.run, ["ip", "link", "del", "soak0"], check=True)

    def system_v(self):
        private, create = 0, 0o1600
        key = LIBC.shmget(private, 4096, create)
        self.stack.callback(LIBC.shmctl, key, 0, None)

    def shared_memory(self):
        fd = os.memfd_create("soak")
        self.stack.callback(os.close, fd)
        os.write(fd, bytes(4 << 20))

    def dying_memory_cgroups(self):
        """Each is removed while a page of the tmpfs file above it is charged to it."""
        top = "/sys/fs/cgroup/memory" if V1 else "/sys/fs/cgroup"
        fd = os.memfd_create("soak")
        self.stack.callback(os.close, fd)
        os.mkdir(f"{top}/sandboxrun-soak-dying")
        self.stack.callback(os.rmdir, f"{top}/sandboxrun-soak-dying")
        for number in range(census.DYING["memory"] + 4):
            path = f"{top}/sandboxrun-soak-dying/{number}"
            os.mkdir(path)

            def charge(path=path, number=number):
                with open(path + "/cgroup.procs", "w", encoding="ascii") as file:
                    file.write("0")
                os.pwrite(fd, b"x" * 4096, number * 4096)

            in_child(charge)
            os.rmdir(path)


V1 = os.path.exists("/sys/fs/cgroup/memory")
DYING = "dying cgroups, v1 memory" if V1 else "dying cgroups, v2"

# What the plants must be found as.
FOUND = {"processes and zombies of ours", "cgroups of ours, all hierarchies", "files of ours",
         "kernel keys of ours", "namespaces of ours", "inotify instances of ours", "mounts",
         "network interfaces", "System V objects", "network namespaces nobody holds",
         "tmpfs and shared memory", DYING}  # fmt: skip


@unittest.skipUnless(os.geteuid() == 0, "needs root to leave things behind")
class TestCensus(unittest.TestCase):
    def test_what_is_left_behind_is_found_and_named(self):
        known = set()
        counted = census.Census(census.Orphans(lambda: known))
        with contextlib.ExitStack() as stack:
            plants = Plants(stack)
            for name in [name for name in vars(Plants) if not name.startswith("_")]:
                getattr(plants, name)()
            known |= census.Orphans(set).pids()  # else they would be collected
            counted.settle(within=0)
            table = counted.table()
            self.assertEqual({row.name for row in counted.left()} & FOUND, FOUND, table)
            for text in (" sleep", f"{census.PARENT}/census", "soak0", plants.scratch):
                self.assertIn(text, table)
            self.assertGreater(counted.count(), len(FOUND))
        known.clear()
        counted.settle()
        self.assertEqual({row.name for row in counted.left()} & FOUND, set(), counted.table())

    def test_what_comes_and_goes_is_not_left(self):
        self.assertEqual(census.at_least({"a"}, {"a", "b", "c"}, {"b", "d"}), {"b"})
        self.assertEqual(census.at_least(3, 9, 5), 5)
        self.assertEqual(census.at_least(3, 4, 7), 4)


class TestEnds(unittest.TestCase):
    def finished(self, **fields):
        known = dict.fromkeys(("end", "wait_status", "has_status", "oom_kills"), 0)
        return end_of(protocol.FINISHED, {**known, **fields})

    def test_ends(self):
        exited = {"end": protocol.END_EXITED, "has_status": 1}
        for fields, end in (
                (exited, programs.COMPLETED), ({**exited, "wait_status": 3 << 8}, ("Error", 3)),
                ({**exited, "wait_status": 9}, ("Signaled", 137)),
                ({**exited, "wait_status": 9, "oom_kills": 1}, programs.OOM),
                ({**exited, "wait_status": 31}, programs.FORBIDDEN),
                ({"end": protocol.END_EXITED}, ("ReaperDied", protocol.END_EXITED)),
                ({"end": protocol.END_DEADLINE}, programs.DEADLINE),
                ({"end": protocol.END_KILLED}, KILLED),
                ({"end": protocol.END_REAPER}, ("ReaperDied", protocol.END_REAPER))):
            self.assertEqual(self.finished(**fields), end)

    def test_another_end_than_expected(self):
        hello = programs.BY_NAME["hello"]
        for end, stdout, right in (
                (programs.COMPLETED, "hello\n", True), (programs.COMPLETED, None, True),
                (programs.COMPLETED, "hell", False), (("Error", 1), "hello\n", False),
                (programs.DEADLINE, "hello\n", False)):
            self.assertEqual(programs.differs(hello, hello.ends, end, stdout) is None, right)

    def test_a_kill_is_the_only_excuse(self):
        ways = {way.name: way for way in WAYS}
        hello = programs.BY_NAME["hello"]
        self.assertEqual(Flight(hello, ways["as usual"]).expected(), (programs.COMPLETED,))
        self.assertEqual(Flight(hello, ways["killed in the making"]).expected(), (KILLED,))
        self.assertEqual(Flight(hello, ways["killed while running"]).expected(),
                         (programs.COMPLETED, KILLED))

    def test_names_of_programs_are_their_own(self):
        self.assertEqual(len(programs.BY_NAME), len(programs.PROGRAMS))


if __name__ == "__main__":
    unittest.main()
