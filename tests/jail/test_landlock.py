# SPDX-License-Identifier: Apache-2.0
"""Landlock as a program meets it: what it must not do that every other lock lets pass, and what it
must go on to do."""

import errno
import unittest

from helpers import jailer_protocol as protocol
from helpers.cgroup_tree import sandboxes_below
from helpers.deny import denying
from helpers.local import RUNTIMES, need_root, program, run_json

PARENT = "sandboxrun-landlock"
# Other jailers of this machine have other parents, and so must have other uids.
OPTIONS = ("--cgroup-parent", PARENT, "--uid-base", "2100400000")

SCOPE_ABI = 6

# The system call that is refused, a word of the text. Making a set of rules and asking for the ABI
# are one call: only the former has a size.
CASES = [
    ("landlock_create_ruleset:2=0", "set of Landlock rules"),
    ("landlock_add_rule", "allow reading"),
    ("landlock_restrict_self", "restrict"),
]


def new_jailer(**options):
    return protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, *OPTIONS, **options)


def setUpModule():
    need_root()
    with new_jailer() as jailer:
        global abi
        abi = jailer.hello["landlock_abi"]
        log = jailer.log_text()
    if abi == 0:
        # Whoever reads the log knows that a lock is missing.
        assert "no Landlock" in log, log
        raise unittest.SkipTest("this kernel has no Landlock, or one before 5.19")


class TestInside(unittest.TestCase):
    def test_a_device_that_any_user_may_write_to(self):
        self.assertEqual(run_json("""
import json, os
outcome = {"mode": os.stat("/dev/urandom").st_mode & 0o777}
for name in ("random", "urandom"):
    try:
        os.close(os.open("/dev/" + name, os.O_WRONLY))
        outcome[name] = 0
    except OSError as error:
        outcome[name] = error.errno
print(json.dumps(outcome))
"""), {"mode": 0o666, "random": errno.EACCES, "urandom": errno.EACCES})

    def test_every_private_place_can_be_used(self):
        self.assertEqual(run_json("""
import json, os, socket
for top in ("/tmp", "/dev/shm", "/home/sandbox"):
    os.makedirs(top + "/a/b")
    with open(top + "/a/file", "w+") as file:
        file.write("text")
        file.truncate(1)
    open(top + "/a/file", "w").close()
    os.truncate(top + "/a/file", 0)
    os.rename(top + "/a/file", top + "/a/b/file")
    os.link(top + "/a/b/file", top + "/linked")
    os.symlink("linked", top + "/symbolic")
    os.mkfifo(top + "/a/fifo")
    socket.socket(socket.AF_UNIX).bind(top + "/a/socket")
    os.replace(top + "/a/b", top + "/b")
    os.remove(top + "/b/file")
    os.rmdir(top + "/b")
    os.chmod(top + "/linked", 0o700)
with open("/tmp/script", "w") as script:
    script.write("#!/bin/sh\\nexit 7\\n")
os.chmod("/tmp/script", 0o700)
print(json.dumps(os.waitstatus_to_exitcode(os.system("/tmp/script"))))
"""), 7)

    def test_the_devices_that_keep_nothing(self):
        self.assertEqual(run_json("""
import json, os
written = []
for name in ("null", "zero"):
    with open("/dev/" + name, "wb", buffering=0) as file:
        written.append(file.write(b"x"))
try:
    with open("/dev/full", "wb", buffering=0) as file:
        file.write(b"x")
except OSError as error:
    written.append(error.errno)
with open("/dev/urandom", "rb") as file:
    written.append(file.isatty() or len(file.read(4)))
with open("/dev/stderr", "w") as file:
    written.append(file.write("x"))
print(json.dumps(written))
"""), [1, 1, errno.ENOSPC, 4, 1])

    def test_processes_of_its_own_can_be_signalled_and_talked_to(self):
        self.assertEqual(run_json("""
import json, os, signal, socket, subprocess
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
os.kill(child.pid, signal.SIGTERM)
listener = socket.socket(socket.AF_UNIX)
listener.bind("\\0name")
listener.listen()
if os.fork() == 0:
    peer = socket.socket(socket.AF_UNIX)
    peer.connect("\\0name")
    peer.send(b"hello")
    os._exit(0)
print(json.dumps([child.wait(), listener.accept()[0].recv(9).decode()]))
"""), [-15, "hello"])

    def test_process_one_is_out_of_reach(self):
        # Before that signals have no scope: process 1 takes none, but one may be sent.
        expected = errno.EPERM if abi >= SCOPE_ABI else 0
        self.assertEqual(run_json("""
import json, os
try:
    os.kill(1, 0)
    print(0)
except OSError as error:
    print(error.errno)
"""), expected)


class TestLock(unittest.TestCase):
    def test_it_is_named_when_it_can_not_be_set(self):
        for rule, text in CASES:
            with self.subTest(rule=rule), new_jailer(wrapper=denying(rule)) as jailer:
                result = jailer.run("print('ran')")
                self.assertFalse(result.created)
                self.assertEqual(result.refused["lock"], "landlock", result.refused)
                self.assertIn(text, result.refused["text"])
                self.assertEqual(sandboxes_below(PARENT), [])


if __name__ == "__main__":
    unittest.main()
