# SPDX-License-Identifier: Apache-2.0
"""Sandboxes that are forked from an interpreter that has started: none is like another where it
matters, none reaches what it was forked from, and what can't be forked starts afresh."""

import collections
import glob
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from helpers.cgroup_tree import (parent_is_gone, processes_below, processes_by_sandbox,
                                 sandboxes_below, zygotes_below)
from helpers.deny import denying
from helpers.deny_asked import denying_asked
from helpers.jailer_process import descriptors_of
from helpers import jailer_protocol as protocol
from helpers.local import EMULATED, FULL, PATIENCE, ROOT, RUNTIMES, need_root
from helpers.wait import wait_until
from test_pool import LOOK
from warm import Pool, kinds_of_descriptors, runtime_alone, runtimes_with_runner

PARENT = "sandboxrun-fork"
# Other jailers of this machine have other parents, and so must have other uids.
OPTIONS = ("--cgroup-parent", PARENT, "--uid-base", "2101300000")
MIB = 1 << 20
# Linux: include/uapi/linux/capability.h.
ZYGOTE_CAPABILITIES = sum(1 << number for number in (6, 7, 8, 18, 21))
CHILDREN = 1000 if FULL else 60 if EMULATED else 200

# Draws before anything is forked: what is remembered of it would come back in every child.
DRAWN_BEFORE = """
import random, secrets, ssl, uuid
DRAWS = [random.random(), secrets.token_hex(8), ssl.RAND_bytes(8), uuid.uuid4()]
"""

DRAW = """
import json, os, random, secrets, ssl, sys, tempfile, uuid
draws = {"random": random.random(), "secrets": secrets.token_hex(16),
         "ssl": ssl.RAND_bytes(16).hex(), "uuid4": str(uuid.uuid4()),
         "urandom": os.urandom(16).hex(), "system": random.SystemRandom().random(),
         "name": next(tempfile._get_candidate_names())}
if "numpy" in sys.modules:
    import numpy
    draws["numpy"] = numpy.random.random()
    draws["generator"] = numpy.random.default_rng().random()
print(json.dumps([os.getpid(), "drawn_before" in sys.modules, draws]))
"""

LOOK_FURTHER = LOOK + """
import gc, signal, threading, time
print(json.dumps({
    "signals": [str(signal.getsignal(number)) for number in range(1, 32)],
    "thread": [threading.main_thread().name, threading.get_native_id(),
               threading.current_thread() is threading.main_thread()],
    "streams": [[stream.name, stream.mode, stream.encoding, stream.errors, stream.line_buffering,
                 stream.write_through, stream.seekable()] for stream in
                (sys.__stdout__, sys.__stderr__)],
    "flags": str(sys.flags), "warnings": len(sys.warnoptions), "hooks": len(sys.meta_path),
    "garbage": [gc.isenabled(), gc.get_threshold(), len(gc.garbage)],
    "cpu": time.process_time() < 30, "uid": [os.getuid(), os.getgid(), os.getgroups()],
    "group": [os.getpgid(0), os.getsid(0)], "maps": sorted({
        line.split()[1][3] for line in open("/proc/self/maps")}),
    "proc": [name for name in os.listdir("/proc") if not name.isdigit()],
    "cgroup": open("/proc/self/cgroup").read(), "ids": open("/proc/self/uid_map").read().split()[::2],
}))
"""


# So that there is one zygote.
one_runtime = None


def setUpModule():
    global one_runtime
    need_root()
    one_runtime = runtime_alone(unittest.addModuleCleanup)


def tearDownModule():
    assert parent_is_gone(PARENT), sandboxes_below(PARENT)


class ForkPool(Pool):
    """Whatever kind the layer is run for."""

    def __init__(self, least, most, *options, **others):
        super().__init__(least, most, "--pool-min", str(least), "--pool-max", str(most), *OPTIONS,
                         *options, **others)

    def got(self, warm):
        pass


def forking(size, *options, **others):
    others.setdefault("runtimes", one_runtime)
    return ForkPool(size, size, "--pool-mode", "fork", *options, **others)


def wait_for_forks(pool, size, more_than=0):
    """Until so many wait, and more than so many were forked since the start."""
    pool.said.clear()
    return pool.wait(lambda said: said["waiting"] == size and said["forked"] > more_than)


def the_zygote(pool):
    """Its pid."""
    wait_until("a zygote", lambda: len(zygotes_below(PARENT)) == 1)
    return zygotes_below(PARENT).pop()


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def quotas_of(sandbox):
    """Of one that was made for its run, whose cgroup bears its name."""
    found = []
    for name in ("cpu.max", "*/cpu.cfs_quota_us"):
        place, _, file = name.rpartition("/")
        for path in glob.glob(f"/sys/fs/cgroup/{place}/**/{PARENT}/**/{sandbox}/{file}",
                              recursive=True):
            with open(path, encoding="ascii") as value:
                found.append(value.read().split()[0])
    return found


def command_line(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().decode().split("\0")[:-1]


class Case(unittest.TestCase):
    def runtimes_with(self, **modules):
        """A copy of the runtimes whose interpreter finds further modules."""
        runner = os.path.join(RUNTIMES, "python3.12/usr/lib/sandboxrun/runner.py")
        with open(runner, encoding="utf-8") as file:
            directory = runtimes_with_runner(self, file.read())
        for name, text in modules.items():
            path = os.path.join(directory, f"python3.12/usr/lib/python3.12/{name}.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return directory


class TestLook(Case):
    def test_a_run_can_not_tell(self):
        with ForkPool(0, 0) as none, forking(1, "--zygote-modules", "") as pool:
            wait_for_forks(pool, 1)
            for limits in ({}, {"memory": 64 * MIB, "cpu": 250}):
                with self.subTest(limits=limits):
                    seen = []
                    for place in (none, pool):
                        result, _ = place.run(LOOK_FURTHER, stdin=b"in", args=["x"],
                                              env=[("A", "b")], **limits)
                        self.assertEqual(result.stderr, b"")
                        seen.append([json.loads(line) for line in result.stdout.splitlines()])
                    self.assertEqual(seen[0], seen[1])
                    wait_for_forks(pool, 1)

    def test_its_command_line_is_that_of_one_that_waits(self):
        with forking(1) as pool:
            wait_for_forks(pool, 1)
            self.assertEqual(command_line(max(processes_below(PARENT))),
                             ["/usr/bin/python3", "-I", "-u", "-B",
                              "/usr/lib/sandboxrun/runner.pyc", "waits"])

    def test_modules_are_there_before(self):
        with forking(1, "--zygote-modules", "json,no_such_module,decimal") as pool:
            wait_for_forks(pool, 1)
            result, _ = pool.run("import sys; print([name in sys.modules for name in "
                                 "('json', 'decimal', 'no_such_module', 'sandboxrun_zygote', "
                                 "'gc', 'atexit')])")
            self.assertEqual(result.stdout, b"[True, True, False, False, False, False]\n", result)

    def test_what_a_module_leaves_for_the_end_is_done(self):
        runtimes = self.runtimes_with(at_end="import atexit\natexit.register(print, 'the end')\n")
        with forking(1, "--zygote-modules", "at_end", runtimes=runtimes) as pool:
            wait_for_forks(pool, 1)
            self.assertEqual(pool.run("print(1)")[0].stdout, b"1\nthe end\n")


    def test_the_kernel_keeps_its_processor_s_number(self):
        """For the C library's restartable sequences, of which process 1 has none to pass on."""
        code = """
import ctypes, os
number = ctypes.CDLL(None).sched_getcpu
seen = []
for cpu in sorted(os.sched_getaffinity(0)):
    os.sched_setaffinity(0, {cpu})
    seen.append((cpu, number()))
print(len(seen) > 1, [pair for pair in seen if len(set(pair)) > 1])
"""
        with forking(1) as pool:
            wait_for_forks(pool, 1)
            self.assertEqual(pool.run(code)[0].stdout, b"True []\n")


class TestDraws(Case):
    def give_the_zygote_pid_2(self, pool):
        """As all its children have, each in a pid namespace of its own."""
        for _ in range(10):
            zygote = the_zygote(pool)
            if status_of(zygote)["NSpid"].split()[-1] == "2":
                return
            os.kill(zygote, signal.SIGKILL)
            wait_until("its death", lambda: zygote not in zygotes_below(PARENT))
            # The next process of the jailer's pid namespace will have the number behind this one.
            subprocess.run(["nsenter", "-t", str(self.jailer_pid(pool)), "--pid", "--",
                            "sh", "-c", "echo 1 >/proc/sys/kernel/ns_last_pid"], check=True)
            wait_until("another", lambda: zygotes_below(PARENT) - {zygote})
            forked = pool.said["python3.12"]["forked"]
            while pool.said["python3.12"]["forked"] == forked:
                pool.run("pass")
                pool.listen(1)
        self.fail("the zygote never had pid 2")

    def jailer_pid(self, pool):
        pid = pool.jailer.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return int(file.read().split()[0])

    @staticmethod
    def draw(pool, at_once):
        connection = pool.jailer.connection
        for sandbox in [connection.create(memory=64 * MIB) for _ in range(at_once)]:
            kind, fields, fds = connection.receive_about(sandbox)
            if kind != protocol.CREATED:
                raise AssertionError(fields)
            result = protocol.finish(connection, sandbox, fds, DRAW)
            if result.stderr:
                raise AssertionError(result.stderr.decode())
            yield json.loads(result.stdout)

    def test_all_are_different(self):
        runtimes = self.runtimes_with(drawn_before=DRAWN_BEFORE)
        alone = ("unshare", "--pid", "--mount-proc", "--fork", "--kill-child")
        with forking(2, "--zygote-modules", "drawn_before,numpy", runtimes=runtimes,
                     wrapper=alone) as pool:
            wait_for_forks(pool, 2)
            self.give_the_zygote_pid_2(pool)
            seen, forked = collections.defaultdict(set), 0
            while forked < CHILDREN:
                for pid, was_forked, draws in self.draw(pool, 8):
                    if not was_forked:  # it was made while there was no zygote
                        continue
                    forked += 1
                    self.assertEqual(pid, 2)
                    for name, value in draws.items():
                        self.assertNotIn(value, seen[name], name)
                        seen[name].add(value)
            self.assertLessEqual({"random", "ssl", "uuid4", "name"}, set(seen))
            self.assertEqual(status_of(the_zygote(pool))["NSpid"].split()[-1], "2")


class TestIsolation(Case):
    def test_nothing_is_shared(self):
        """Neither memory that can be written, nor a pipe, socket, namespace, uid or cgroup."""
        with forking(2) as pool:
            wait_for_forks(pool, 2)
            zygote = the_zygote(pool)
            families = [{zygote}, *processes_by_sandbox(PARENT).values()]
            self.assertEqual([len(family) for family in families], [1, 2, 2])
            held = []
            for family in families:
                held.append(collections.Counter())
                for pid in family:
                    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
                        modes = {line.split()[1] for line in file}
                    self.assertFalse([mode for mode in modes if "w" in mode and "s" in mode])
                    links = [os.readlink(f"/proc/{pid}/fd/{fd}")
                             for fd in os.listdir(f"/proc/{pid}/fd")]
                    names = [link for link in links if link.startswith(("pipe:", "socket:"))]
                    names += [os.readlink(f"/proc/{pid}/ns/{kind}")
                              for kind in ("mnt", "net", "ipc", "uts", "user")]
                    names.append("uid " + status_of(pid)["Uid"].split()[0])
                    held[-1].update(names)
            for index, one in enumerate(held):
                for other in held[index + 1:]:
                    self.assertFalse(set(one) & set(other))

    def test_the_zygote_has_no_right_over_the_host(self):
        with forking(1) as pool:
            wait_for_forks(pool, 1)
            zygote = the_zygote(pool)
            status = status_of(zygote)
            self.assertEqual(status["NoNewPrivs"], "1")
            self.assertEqual(status["Groups"].split(), [])
            for name in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
                self.assertEqual(int(status[name], 16), ZYGOTE_CAPABILITIES, name)
            uids = set(status["Uid"].split())
            self.assertEqual(len(uids), 1)
            with open(f"/proc/{zygote}/uid_map", encoding="ascii") as file:
                inside, outside, count = map(int, file.read().split())
            self.assertEqual(inside, outside)
            self.assertIn(int(uids.pop()), range(inside, inside + count))
            self.assertGreaterEqual(inside, 65536)
            for kind in ("user", "mnt", "net", "ipc", "uts"):
                self.assertNotEqual(os.readlink(f"/proc/{zygote}/ns/{kind}"),
                                    os.readlink(f"/proc/self/ns/{kind}"), kind)
            with open(f"/proc/{zygote}/mountinfo", encoding="utf-8") as file:
                places = {line.split()[4] for line in file}
            self.assertEqual(places, {"/", "/dev", "/proc", "/tmp"})
            links = [os.readlink(f"/proc/{zygote}/fd/{fd}").split(":")[0]
                     for fd in os.listdir(f"/proc/{zygote}/fd")]
            self.assertEqual(sorted(links), ["/dev/null", "/tmp/reaper", "pipe", "pipe", "socket"])
            with open(f"/proc/{zygote}/environ", "rb") as file:
                self.assertNotIn(b"SANDBOXRUN", file.read())

    def test_process_1_has_nothing_of_its_memory(self):
        with forking(2) as pool:
            wait_for_forks(pool, 2)
            reapers = [min(family) for family in processes_by_sandbox(PARENT).values()]
            for pid in reapers:
                status = status_of(pid)
                self.assertEqual((status["Name"], status["NSpid"].split()[-1]), ("reaper", "1"))
                self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
                with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
                    mapped = {line.split(maxsplit=5)[5].rstrip() for line in file
                              if len(line.split()) > 5}
                self.assertLessEqual({os.path.basename(name) for name in mapped if name[0] != "["},
                                     {"reaper"})
                self.assertNotIn("[heap]", mapped)
                links = [os.readlink(f"/proc/{pid}/fd/{fd}").split(":")[0]
                         for fd in os.listdir(f"/proc/{pid}/fd")]
                self.assertEqual(sorted(links), ["anon_inode", "anon_inode", "pipe", "pipe"])
            # Neither it nor the zygote is anybody's to look at, whatever was forked.
            for pid in [*reapers, the_zygote(pool)]:
                self.assertEqual(os.stat(f"/proc/{pid}/fd").st_uid, 0)

    def test_a_child_can_not_reach_it(self):
        code = """
import os, signal
reached = []
for pid in {pids}:
    try:
        os.kill(pid, 0)
        reached.append(pid)
    except OSError:
        pass
print(reached, [name for name in os.listdir("/proc") if name.isdigit()])
try:
    os.kill(-1, signal.SIGTERM)
except OSError as error:
    print(type(error).__name__)
"""
        with forking(1) as pool:
            wait_for_forks(pool, 1)
            zygote = the_zygote(pool)
            result, _ = pool.run(code.replace("{pids}", str([zygote, zygote - 1, 3, 4])))
            self.assertEqual(result.stdout.splitlines()[0], b"[] ['2']", result)
            wait_for_forks(pool, 1, 1)
            self.assertEqual(the_zygote(pool), zygote)

    def test_under_a_proc_of_which_parts_are_hidden(self):
        """As container runtimes mount it: no process of a user namespace could mount its own."""
        hide = ("mount --make-rprivate /; mount -t tmpfs -o ro tmpfs /proc/acpi; "
                "mount --bind /dev/null /proc/keys; mount --bind /proc/sys /proc/sys; "
                'mount -o remount,bind,ro /proc/sys; exec "$@"')
        with forking(1, wrapper=("unshare", "--mount", "sh", "-c", hide, "sh")) as pool:
            wait_for_forks(pool, 1)
            self.assertEqual(pool.run("import os; print(sorted(os.listdir('/proc')))")[0].stdout,
                             b"['2', 'self', 'thread-self']\n")


class TestWithout(Case):
    """Where there is no zygote, or none any more, sandboxes start afresh."""

    def test_one_that_dies_is_replaced_and_nobody_waits(self):
        with forking(2) as pool:
            wait_for_forks(pool, 2)
            zygote = the_zygote(pool)
            os.kill(zygote, signal.SIGKILL)
            wait_until("its death", lambda: zygote not in zygotes_below(PARENT))
            for _ in range(4):
                self.assertEqual(pool.run("print(1)")[0].stdout, b"1\n")
            before = pool.said["python3.12"]["forked"]
            pool.wait(lambda said: said["made"] - said["forked"] > 0)
            wait_until("another", lambda: zygotes_below(PARENT) - {zygote})
            for _ in range(3):
                pool.run("pass")
            wait_for_forks(pool, 2, before)
            self.assertEqual(pool.jailer.log_text().count("not forked for now"), 1)

    def test_a_run_that_finds_none_is_forked_all_the_same(self):
        with forking(1) as pool:
            wait_for_forks(pool, 1)
            connection = pool.jailer.connection
            ids = [connection.create(memory=64 * MIB, cpu=300) for _ in range(6)]
            outputs, quotas = [], []
            for sandbox in ids:
                kind, fields, fds = connection.receive_about(sandbox)
                self.assertEqual(kind, protocol.CREATED, fields)
                quotas += quotas_of(sandbox)
                result = protocol.finish(connection, sandbox, fds, "import os; print(os.statvfs("
                                         "'/tmp').f_blocks * 4096, open('/proc/self/cmdline')."
                                         "read().split('\\0')[-2])")
                outputs.append((fields["warm"], result.stdout))
            self.assertEqual(outputs[0], (2, b"16777216 waits\n"))
            self.assertIn((0, b"16777216 waits\n"), outputs)
            self.assertEqual(set(quotas), {"30000"})

    def test_a_run_whose_zygote_stands_still_starts_afresh(self):
        with forking(1) as pool:
            wait_for_forks(pool, 1)
            os.kill(the_zygote(pool), signal.SIGSTOP)
            seen = []
            for _ in range(3):
                result, warm = pool.run("print(open('/proc/self/cmdline').read().split('\\0')[-2])")
                seen.append((warm, result.stdout))
            self.assertEqual(seen[0], (True, b"waits\n"))
            self.assertIn((False, b"/usr/lib/sandboxrun/runner.pyc\n"), seen)
            self.assertIn("did not fork in time", pool.jailer.log_text())

    def test_one_made_ahead_holds_no_run_up(self):
        """The zygote stands still while process 1 sets its locks: so it has a run's part of the CPU,
        not the least one of what is made for nobody yet."""
        root, below = "/sys/fs/cgroup", f"{PARENT}/jailer-*/*-*-*-*"
        with tempfile.NamedTemporaryFile("r", encoding="ascii") as seen:
            look = (f"cat {root}/{below}/cpu.weight {root}/*/{below}/cpu.shares 2>/dev/null "
                    f"| sort -u >{seen.name}")
            with forking(1, wrapper=denying_asked("sethostname", caller="python3",
                                                  meanwhile=look)):
                wait_until("a fork in the making", lambda: os.path.getsize(seen.name))
            self.assertIn(seen.read().split(), (["100"], ["1024"]))

    def test_a_run_with_little_cpu_holds_no_other_up(self):
        root, below = "/sys/fs/cgroup", f"{PARENT}/jailer-*/*-*-*-*"
        with tempfile.NamedTemporaryFile("r", encoding="ascii") as seen:
            look = (f"cat {root}/{below}/cpu.max {root}/*/{below}/cpu.cfs_quota_us 2>/dev/null "
                    f">{seen.name}")
            with ForkPool(0, 1, "--pool-mode", "fork", runtimes=one_runtime,
                          wrapper=denying_asked("sethostname", caller="python3",
                                                meanwhile=look)) as pool:
                the_zygote(pool)
                def forks():
                    sandbox = pool.jailer.connection.create(cpu=50)
                    pool.jailer.connection.receive_about(sandbox)
                    return os.path.getsize(seen.name)
                wait_until("a fork in the making", forks)
            self.assertEqual(seen.read().split()[0], "100000")

    def test_one_ends_whose_process_1_is_killed_as_it_forks(self):
        """The C library may have locked for that what the zygote needs, in the memory of both. The
        jailer, which would kill it, stands still."""
        root, below = "/sys/fs/cgroup", f"{PARENT}/jailer-*"
        with tempfile.NamedTemporaryFile("r", encoding="ascii") as seen:
            kill = (f"pids() {{ cat {root}/{below}/$1/cgroup.procs {root}/*/{below}/$1/cgroup.procs "
                    "2>/dev/null | sort -u; }; zygote=$(pids 'zygote-*'); "
                    "jailer=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$zygote/status); "
                    "kill -STOP $jailer; kill -KILL $(pids '*-*-*-*'); sleep 0.3; "
                    f"grep State: /proc/$zygote/status >{seen.name}; kill -CONT $jailer")
            with forking(1, wrapper=denying_asked("clone", caller="python3", meanwhile=kill)):
                wait_until("its end", lambda: os.path.getsize(seen.name))
            self.assertEqual(seen.read().split()[1], "Z")

    def test_one_with_threads_is_none(self):
        thread = ("import threading, time\n"
                  "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n")
        runtimes = self.runtimes_with(threaded=thread)
        with forking(1, "--zygote-modules", "threaded", runtimes=runtimes) as pool:
            pool.wait(lambda said: said["waiting"] == 1)
            self.assertEqual(pool.said["python3.12"]["forked"], 0)
            self.assertIn("has threads", pool.jailer.log_text())
            self.assertEqual(pool.run("print(1)")[0].stdout, b"1\n")

    def test_one_whose_module_waits_for_no_children(self):
        ignoring = "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        runtimes = self.runtimes_with(ignoring=ignoring)
        with forking(1, "--zygote-modules", "ignoring", runtimes=runtimes) as pool:
            wait_for_forks(pool, 1)
            result, _ = pool.run("import sys; sys.exit(3)")
            self.assertEqual((result.finished["end"], result.exit_code),
                             (protocol.END_EXITED, 3))

    def test_one_whose_module_fails_is_none(self):
        runtimes = self.runtimes_with(broken="raise RuntimeError('of no use')\n")
        with forking(1, "--zygote-modules", "broken", runtimes=runtimes) as pool:
            pool.wait(lambda said: said["waiting"] == 1)
            self.assertEqual(pool.said["python3.12"]["forked"], 0)
            self.assertIn("RuntimeError: of no use", pool.jailer.log_text())

    def test_what_process_1_can_not_do(self):
        for rule, text in (("execveat", "execute the reaper"),
                           ("seccomp:0=1:1=0", "load the filter reaper")):
            with self.subTest(rule), forking(1, wrapper=denying(rule)) as pool:
                wait_until("why nothing is forked", lambda: any(
                    "not forked for now" in line and text in line
                    for line in pool.jailer.log_text().splitlines()))

    def test_where_user_namespaces_can_not_be_entered(self):
        deny = ("python3", os.path.join(ROOT, "tests/helpers/deny.py"),
                f"setns:1={0x10000000:#x}/{0x10000000:#x}", "--")
        with forking(1, wrapper=deny) as pool:
            pool.wait(lambda said: said["waiting"] == 1)
            self.assertEqual(pool.said["python3.12"]["forked"], 0)
            self.assertIn("enter the family's user namespace", pool.jailer.log_text())

    def test_where_the_node_is_too_small(self):
        with forking(1, "--memory-capacity", "256Mi") as pool:
            pool.wait(lambda said: said["waiting"] == 1)
            self.assertEqual(pool.said["python3.12"]["forked"], 0)
            self.assertIn("too little memory", pool.jailer.log_text())


class TestLife(Case):
    def test_one_is_replaced_after_so_many_forks(self):
        with forking(2, "--zygote-forks", "3") as pool:
            wait_for_forks(pool, 2)
            seen = set()
            until = time.monotonic() + 60 * PATIENCE
            while len(seen) < 3 and time.monotonic() < until:
                seen |= zygotes_below(PARENT)
                self.assertEqual(pool.run("print(1)")[0].stdout, b"1\n")
            self.assertGreaterEqual(len(seen), 3)
            self.assertNotIn("not forked", pool.jailer.log_text())

    def test_nothing_leaks(self):
        with forking(2) as pool:
            wait_for_forks(pool, 2)
            pool.run("print(1)")
            wait_for_forks(pool, 2, 2)
            pool.wait_at_rest(lambda said: said["waiting"] == 2)
            before = kinds_of_descriptors(pool.jailer)
            for _ in range(30):
                pool.run("print(1)")
            wait_for_forks(pool, 2, 5)
            wait_until("as many descriptors as before",
                       lambda: kinds_of_descriptors(pool.jailer) == before)
            os.kill(the_zygote(pool), signal.SIGKILL)
            for _ in range(5):
                pool.run("print(1)")
            jailer = pool.jailer.process.pid
            wait_until("no dead children", lambda: not self.dead_children(jailer))
            self.assertTrue(descriptors_of(pool.jailer))
            self.assertEqual(pool.jailer.stop(), 0)
        self.assertTrue(parent_is_gone(PARENT))

    @staticmethod
    def dead_children(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
        dead = []
        for child in children:
            try:
                if status_of(child)["State"].startswith("Z"):
                    dead.append(child)
            except OSError:
                pass
        return dead


if __name__ == "__main__":
    unittest.main()
