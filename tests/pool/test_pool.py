# SPDX-License-Identifier: Apache-2.0
"""Sandboxes that are made before their run is there: who gets one, what it is like until then, and
that a run can't tell."""

import json
import os
import re
import threading
import time
import unittest

from helpers import jailer_protocol as protocol
from helpers.cgroup_tree import parent_is_gone, processes_below, sandboxes_below
from helpers.deny import denying
from helpers.local import PATIENCE, need_root
from helpers.wait import wait_until
from warm import (PARENT, Pool, kill, kinds_of_descriptors, new_jailer,
                  runtimes_with_runner)

MIB = 1 << 20

# What a program sees of where it is, and what of that differs from run to run anyway.
LOOK = """
import json, os, resource, sys, threading
print(json.dumps({
    "argv": sys.argv, "orig_argv": sys.orig_argv, "path": sys.path, "env": dict(os.environ),
    "cwd": os.getcwd(), "files": sorted(os.listdir(".")), "tmp": os.listdir("/tmp"),
    "modules": sorted(sys.modules), "main": sorted(vars(sys.modules["__main__"])),
    "descriptors": sorted(os.listdir("/proc/self/fd")), "pid": os.getpid(), "parent": os.getppid(),
    "threads": threading.active_count(), "stdin": sys.stdin.read(),
    "limits": [resource.getrlimit(i) for i in range(16)],
    "sizes": [os.statvfs(place).f_blocks * 4096 for place in ("/tmp", "/dev/shm", os.getcwd())],
    "status": [line for line in open("/proc/self/status") if line.startswith(
        ("Cap", "Sec", "NoNew", "Uid", "Gid", "Groups", "Sig", "Shd", "NSpid"))],
    "nice": os.nice(0), "affinity": len(os.sched_getaffinity(0)), "umask": os.umask(0),
}))
"""


def setUpModule():
    need_root()


def tearDownModule():
    assert parent_is_gone(PARENT), sandboxes_below(PARENT)


class TestTaking(unittest.TestCase):
    def test_a_run_gets_one_and_can_not_tell(self):
        """All that a program sees is the same in one made for it and in one made before."""
        request = {"args": ["-x", "ä"], "env": [("NAME", "value"), ("TZ", "Asia/Tokyo")],
                   "stdin": b"in"}
        for limits in ({}, {"memory": 64 * MIB, "cpu": 250}, {"memory": 32 * MIB}):
            with self.subTest(limits=limits), Pool(0, 0) as none, Pool(1, 1) as pool:
                pool.wait(lambda said: said["waiting"] == 1)
                seen = {}
                for name, place in (("cold", none), ("warm", pool)):
                    result, warm = place.run(LOOK, **request, **limits)
                    self.assertEqual(result.stderr, b"")
                    self.assertEqual(warm, name == "warm")
                    seen[name] = json.loads(result.stdout)
                self.assertEqual(seen["warm"], seen["cold"])
                self.assertEqual(seen["warm"]["argv"][1:], ["-x", "ä"])
                self.assertEqual(seen["warm"]["stdin"], "in")
                self.assertEqual(seen["warm"]["sizes"], [limits.get("memory", 512 * MIB) // 4] * 3)

    def test_each_is_used_once(self):
        with Pool(2, 2) as pool:
            seen = set()
            for _ in range(6):
                pool.wait(lambda said: said["waiting"] == 2)
                before = set(sandboxes_below(PARENT))
                result, warm = pool.run("open('/tmp/mark', 'x').close()\n"
                                        "open('/dev/shm/mark', 'x').close()\n"
                                        "open('mark', 'x').close()\nprint('fresh')")
                self.assertEqual((result.stdout, warm), (b"fresh\n", True), result)
                used = before - set(sandboxes_below(PARENT))
                self.assertEqual(len({os.path.basename(path) for path in used}), 1, used)
                self.assertFalse(seen & used)
                seen |= used
                pool.said.clear()

    def test_an_empty_pool_is_no_error(self):
        with Pool(1, 2) as pool:
            pool.wait(lambda said: said["waiting"] == 1)
            connection = pool.jailer.connection
            ids = [connection.create(memory=64 * MIB) for _ in range(6)]
            warm = []
            for sandbox in ids:
                kind, fields, fds = connection.receive_about(sandbox)
                self.assertEqual(kind, protocol.CREATED, fields)
                warm.append(bool(fields["warm"]))
                result = protocol.finish(connection, sandbox, fds, "print(1)")
                self.assertEqual(result.stdout, b"1\n")
            self.assertTrue(warm[0])
            self.assertIn(False, warm)
            # Those that found none have made it larger, up to its most.
            said = pool.wait(lambda said: said["size"] == 2 and said["waiting"] == 2)
            self.assertEqual(said["hits"] + said["misses"], 6)
            self.assertGreaterEqual(said["made"], 3)
            self.assertGreater(said["made_us"], 0)

    def test_where_uids_are_few_fewer_wait(self):
        with new_jailer() as jailer:
            runtimes = len(jailer.hello["runtimes"])
        with Pool(2, 4, "--max-runs", "3", "--uid-count", str(128 * (3 + runtimes))) as pool:
            pool.wait(lambda said: (said["waiting"], said["size"]) == (1, 1))
            self.assertIn("fewer sandboxes can be made ahead", pool.jailer.log_text())

    def test_only_snippet_has_one(self):
        with Pool(1, 1) as pool:
            pool.wait(lambda said: said["waiting"] == 1)
            connection = pool.jailer.connection
            sandbox = connection.create(**protocol.AS_TOOL_CALL)
            kind, fields, _ = connection.receive_about(sandbox)
            self.assertEqual(kind, protocol.REFUSED, fields)
            self.assertEqual(pool.run("print(1)")[1], True)


class TestLimits(unittest.TestCase):
    def run_tight(self, code, **limits):
        with Pool(1, 1) as pool:
            pool.wait(lambda said: said["waiting"] == 1)
            result, warm = pool.run(code, **limits)
            self.assertTrue(warm)
            return result

    def test_memory(self):
        result = self.run_tight("held = []\nfor i in range(300):\n"
                                "    held.append(bytearray(b'x' * (1 << 20)))\n"
                                "    print(i, flush=True)", memory=64 * MIB)
        self.assertEqual(result.finished["end"], protocol.END_OOM)
        self.assertLess(len(result.stdout.splitlines()), 64)

    def test_more_memory_than_one_that_waits_has(self):
        result = self.run_tight("held = bytearray(b'x') * (300 << 20); print(len(held))",
                                memory=512 * MIB)
        self.assertEqual(result.stdout, b"314572800\n", result)

    def test_the_file_systems(self):
        result = self.run_tight("import errno\n"
                                "for place in ('/tmp/f', '/dev/shm/f', 'f'):\n"
                                "    try:\n"
                                "        with open(place, 'wb', 0) as file:\n"
                                "            for i in range(64): file.write(bytes(1 << 20))\n"
                                "    except OSError as error:\n"
                                "        print(errno.errorcode[error.errno], i)", memory=64 * MIB)
        self.assertEqual(result.stdout, b"ENOSPC 16\n" * 3, result)

    def test_cpu(self):
        """A tenth of a processor for a second is a tenth of a second of it, besides what it took the
        interpreter to start."""
        result = self.run_tight("import time\nend = time.monotonic() + 1.5\n"
                                "before = time.process_time()\n"
                                "while time.monotonic() < end: pass\n"
                                "print(time.process_time() - before < 0.75)", cpu=100)
        self.assertEqual(result.stdout, b"True\n")
        self.assertLess(result.finished["cpu_us"], 900_000)

    def test_the_deadline(self):
        result = self.run_tight("import time; time.sleep(60)", timeout_ms=700)
        self.assertEqual(result.finished["end"], protocol.END_DEADLINE)
        self.assertGreaterEqual(result.finished["wall_us"], 700_000)

    def test_what_it_took_to_start_is_not_the_run_s(self):
        result = self.run_tight("pass")
        self.assertLess(result.finished["wall_us"], 5_000_000 * PATIENCE)
        cold = new_jailer()
        with cold:
            once = cold.run("pass")
        self.assertLess(result.finished["cpu_us"], once.finished["cpu_us"])


class TestWaiting(unittest.TestCase):
    def test_every_lock_is_on(self):
        """Of one that waits, seen from outside: nothing of its program has run, all is set."""
        with Pool(2, 2) as pool:
            pool.wait(lambda said: said["waiting"] == 2)
            # Of each sandbox process 1 and the program.
            sandboxes = 2 * len(pool.jailer.hello["runtimes"])
            wait_until("their processes",
                       lambda: len(processes_below(PARENT)) == 2 * sandboxes)
            pids = processes_below(PARENT)
            uids = set()
            for pid in pids:
                with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                    status = dict(line.split(":\t", 1) for line in file.read().splitlines()
                                  if ":\t" in line)
                self.assertEqual(status["Seccomp"], "2")
                self.assertEqual(status["NoNewPrivs"], "1")
                for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                    self.assertEqual(int(status[name], 16), 0)
                uids.add(status["Uid"])
                self.assertEqual(len(set(status["Uid"].split() + status["Gid"].split())), 1)
                for kind in ("pid", "net", "mnt", "ipc", "uts", "user", "cgroup"):
                    theirs = os.readlink(f"/proc/{pid}/ns/{kind}")
                    self.assertNotEqual(theirs, os.readlink(f"/proc/self/ns/{kind}"), kind)
            self.assertEqual(len(uids), sandboxes)
            self.assertTrue(pool.run("print(1)")[1])

    def test_it_holds_nothing_and_knows_nothing(self):
        with Pool(1, 1) as pool:
            pool.wait(lambda said: said["waiting"] == 1)
            program_pid = max(processes_below(PARENT))
            links = sorted(os.readlink(f"/proc/{program_pid}/fd/{fd}").split(":")[0]
                           for fd in os.listdir(f"/proc/{program_pid}/fd"))
            self.assertEqual(links, ["/dev/null", "pipe", "pipe", "pipe"])
            with open(f"/proc/{program_pid}/environ", "rb") as file:
                names = {entry.split(b"=")[0] for entry in file.read().split(b"\0") if entry}
            self.assertEqual(names, {b"PATH", b"HOME", b"TMPDIR", b"LANG", b"USER", b"LOGNAME",
                                     b"PYTHONDONTWRITEBYTECODE", b"PYTHONUNBUFFERED",
                                     b"MPLCONFIGDIR", b"MPLBACKEND"})
            self.assertTrue(pool.run("print(1)")[1])

    def test_one_that_dies_is_replaced(self):
        with Pool(2, 2) as pool:
            pool.wait(lambda said: said["waiting"] == 2 and said["made"] == 2)
            for pid in processes_below(PARENT):
                kill(pid)
            pool.wait(lambda said: said["waiting"] == 2 and said["made"] >= 4)
            self.assertEqual(pool.run("print(1)")[0].stdout, b"1\n")

    def test_one_that_is_killed_while_it_is_taken(self):
        """The run ends like any whose sandbox was killed, or gets another one: it never waits."""
        with Pool(1, 1) as pool:
            for _ in range(12 // PATIENCE + 2):
                pool.wait(lambda said: said["waiting"] == 1)
                pids = processes_below(PARENT)
                killer = threading.Thread(target=lambda: [kill(pid) for pid in pids])
                killer.start()
                connection = pool.jailer.connection
                sandbox = connection.create()
                kind, fields, fds = connection.receive_about(sandbox)
                if kind == protocol.CREATED:
                    result = protocol.finish(connection, sandbox, fds, "print(1)")
                    self.assertIn((result.finished["end"], result.stdout),
                                  ((protocol.END_EXITED, b"1\n"), (protocol.END_REAPER, b""),
                                   (protocol.END_REAPER, b"1\n"), (protocol.END_EXITED, b"")))
                else:
                    self.assertEqual(kind, protocol.FINISHED, fields)
                killer.join()
                pool.said.clear()

    def test_an_agent_that_leaves_leaves_them_to_the_next(self):
        with Pool(2, 2, socket=True) as pool:
            pool.jailer.connect()
            pool.wait(lambda said: said["waiting"] == 2)
            waiting = processes_below(PARENT)
            pool.jailer.connection.close()
            pool.said.clear()
            pool.jailer.connect()
            pool.wait(lambda said: said["waiting"] == 2)
            self.assertEqual(processes_below(PARENT), waiting)
            self.assertTrue(pool.run("print(1)")[1])

    def test_nothing_leaks(self):
        with Pool(2, 2) as pool:
            pool.wait(lambda said: said["waiting"] == 2)
            # Some find none: the jailer makes what helps it with those only once they come.
            for _ in range(8):
                pool.run("print(1)")
            pool.wait_at_rest(lambda said: said["waiting"] == 2)
            before = kinds_of_descriptors(pool.jailer)
            for _ in range(20):
                pool.run("print(1)")
            pool.wait_at_rest(lambda said: said["waiting"] == 2 and said["size"] == 2)
            until = time.monotonic() + 20 * PATIENCE
            while kinds_of_descriptors(pool.jailer) != before and time.monotonic() < until:
                time.sleep(0.05)
            self.assertEqual(kinds_of_descriptors(pool.jailer), before)
            self.assertEqual(pool.jailer.stop(), 0)
        self.assertTrue(parent_is_gone(PARENT))


class TestLocks(unittest.TestCase):
    """A lock that can't be set: nothing ever waits, and a run is refused and told which."""

    def test_nothing_waits_without_one(self):
        for rule, lock, words in (("landlock_restrict_self", "landlock", "restrict the program"),
                                  ("setsid", "exec", "start a session"),
                                  ("seccomp:0=1:1~0", "seccomp", "with a listener"),
                                  ("sethostname", "namespaces", "host name"),
                                  ("setresuid", "user-namespace", "become uid")):
            with self.subTest(rule), Pool(2, 2, wrapper=denying(rule)) as pool:
                wait_until("the pool to say why", lambda pool=pool, words=words: re.search(
                    f"can't make a sandbox ahead.*{words}", pool.jailer.log_text()))
                result = pool.jailer.run("print('ran')")
                self.assertFalse(result.created, result)
                self.assertEqual(result.refused["lock"], lock, result.refused)
                said = pool.wait(lambda said: said["misses"] == 1)
                self.assertEqual((said["waiting"], said["made"], said["hits"]), (0, 0, 0))
                self.assertEqual(pool.jailer.stop(), 0)
            self.assertTrue(parent_is_gone(PARENT))


class TestRunners(unittest.TestCase):
    """Runtimes whose runner does not do what it should: runs go on without."""

    def test_one_that_says_something_else(self):
        runtimes = runtimes_with_runner(self, "import os, sys\nos.write(1, b'hello')\nos.read(3, 1)\n")
        with Pool(1, 1, runtimes=runtimes) as pool:
            result, warm = pool.run("print(1)")
            self.assertEqual((result.stdout, warm), (b"hello", False))
            until = time.monotonic() + 20 * PATIENCE
            said = "did not say that it waits"
            while said not in pool.jailer.log_text() and time.monotonic() < until:
                time.sleep(0.05)
            self.assertIn(said, pool.jailer.log_text())
            self.assertIn("again_ms", pool.jailer.log_text())
            self.assertEqual(pool.jailer.stop(), 0)

    def test_one_that_ends(self):
        runtimes = runtimes_with_runner(self, "print(1)\n")
        with Pool(1, 1, runtimes=runtimes) as pool:
            result, warm = pool.run("print(2)")
            self.assertEqual((result.stdout, warm), (b"1\n", False))


if __name__ == "__main__":
    unittest.main()
