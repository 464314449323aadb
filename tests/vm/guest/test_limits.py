# SPDX-License-Identifier: Apache-2.0
"""A run's cgroup on a host with cgroup v2: its limits, who is inside, what is left of it."""

import contextlib
import errno
import json
import os
import subprocess
import tempfile
import unittest

import cgroups
from helpers.local import (ROOT, RUNTIMES, document, program, run_json, run_status,
                           sandboxrun)

DENY = os.path.join(ROOT, "tests/helpers/deny.py")
WAITING = "import time; print('up', flush=True); time.sleep(30)"
HUNGRY = "held = []\nwhile True: held.append(bytearray(b'x' * (4 << 20)))"
SWAP_BYTES = 24 << 20


class TestLimits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = cls.enterClassContext(cgroups.Run(
            WAITING, timeoutSeconds=40, resources={"limits": {"memory": "64Mi", "cpu": "500m"}}))
        cls.assertEqual(cls(), cls.run_.line(), "up")
        found = cgroups.sandboxes()
        cls.assertEqual(cls(), len(found), 1, found)
        cls.cgroup = found[0]

    def read(self, attribute):
        return cgroups.read(self.cgroup, attribute)

    def test_memory(self):
        self.assertEqual(self.read("memory.max"), str(64 << 20))

    def test_no_swap(self):
        self.assertEqual(self.read("memory.swap.max"), "0")

    def test_out_of_memory_ends_the_group(self):
        self.assertEqual(self.read("memory.oom.group"), "1")

    def test_processes(self):
        limit = int(self.read("pids.max"))
        self.assertGreaterEqual(limit, 16)
        self.assertLessEqual(limit, 1024)

    def test_cpu(self):
        self.assertEqual(self.read("cpu.max"), "50000 100000")

    def test_the_reaper_and_the_program_are_inside_and_nobody_else(self):
        inside = cgroups.processes(self.cgroup)
        self.assertEqual(sorted(inside), sorted(cgroups.sandbox_processes()))
        self.assertEqual(len(inside), 2)

    def test_the_jailer_is_outside(self):
        path = cgroups.read(f"/proc/{self.run_.jailer()}/cgroup").removeprefix("0::")
        self.assertFalse((path + "/").startswith("/sandboxrun/jailer-"), path)

    def test_no_cgroup_on_the_way_has_processes_and_all_hand_on_the_controllers(self):
        way = os.path.dirname(self.cgroup)
        while len(way) >= len(cgroups.PARENT):
            self.assertEqual(cgroups.processes(way), [], way)
            self.assertLessEqual({"memory", "cpu", "pids"},
                                 set(cgroups.read(way, "cgroup.subtree_control").split()), way)
            way = os.path.dirname(way)

    def test_the_cgroup_has_the_name_of_the_sandbox(self):
        self.assertRegex(os.path.basename(self.cgroup), r"\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-")

    def test_nobody_else_may_enter(self):
        self.assertEqual(os.stat(self.cgroup).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(os.path.join(self.cgroup, "cgroup.procs")).st_uid, 0)


class TestInside(unittest.TestCase):
    def test_the_program_sees_its_own_cgroup_as_the_root(self):
        self.assertEqual(run_json("import json; print(json.dumps(open('/proc/self/cgroup').read()"
                                  "))"), "0::/\n")

    def test_there_is_no_cgroup_file_system(self):
        self.assertNotIn("cgroup", run_json("import json; print(json.dumps("
                                            "open('/proc/self/mounts').read()))"))


class TestUsage(unittest.TestCase):
    def test_peak_memory_is_told(self):
        usage = run_status("held = bytearray(40 << 20)\nheld[::4096] = bytes(len(held[::4096]))",
                           resources={"limits": {"memory": "128Mi"}})["usage"]
        self.assertGreaterEqual(usage["peakMemoryBytes"], 40 << 20)
        self.assertLessEqual(usage["peakMemoryBytes"], 128 << 20)

    def test_a_tenth_of_a_processor_is_a_tenth(self):
        status = run_status("while True: pass", timeoutSeconds=5,
                            resources={"limits": {"cpu": "100m"}})
        self.assertEqual(status["reason"], "DeadlineExceeded")
        self.assertGreater(status["usage"]["cpuMilliseconds"], 100)
        self.assertLess(status["usage"]["cpuMilliseconds"], 900)


class TestMemory(unittest.TestCase):
    def test_a_hungry_child_takes_the_whole_group_with_it(self):
        status = run_status("""
import os, signal, sys
child = os.fork()
if child == 0:
    held = []
    while True:
        held.append(bytearray(b"x" * (4 << 20)))
print("waiting", flush=True)
os.wait()
print("survived", flush=True)
""", resources={"limits": {"memory": "64Mi"}})
        self.assertEqual((status["reason"], status["exitCode"]), ("OOMKilled", 137))
        self.assertEqual(status["stdout"], "waiting\n")

    def test_files_in_tmp_are_charged_to_the_run(self):
        status = run_status("""
with open("/tmp/fill", "wb") as file:
    for _ in range(48):
        file.write(bytes(1 << 20))
held = bytearray(b"x" * (40 << 20))
print("survived")
""", resources={"limits": {"memory": "64Mi"}})
        self.assertIn(status["reason"], ("OOMKilled", "Error"))
        self.assertNotIn("survived", status["stdout"])


@contextlib.contextmanager
def swap():
    """The machine has some, for a while."""
    with tempfile.NamedTemporaryFile(dir="/") as file:
        os.posix_fallocate(file.fileno(), 0, SWAP_BYTES)
        subprocess.run(["mkswap", file.name], check=True, capture_output=True)
        subprocess.run(["swapon", file.name], check=True, capture_output=True)
        try:
            yield
        finally:
            subprocess.run(["swapoff", file.name], check=True, capture_output=True)


def swap_in_use():
    lines = cgroups.read("/proc/swaps").splitlines()[1:]
    return sum(int(line.split()[3]) << 10 for line in lines)


class TestSwap(unittest.TestCase):
    # A kernel whose cgroups don't limit swap, as the jailer sees it: memory.swap.max isn't there.
    WITHOUT_LIMIT = (f"exec python3 {DENY} 'faccessat2!{errno.ENOENT}' -- "
                     f'{program("sandboxrun-jailer")} "$@"')

    def test_a_run_gets_none_where_there_is_some(self):
        with swap():
            before = swap_in_use()
            with cgroups.Run(HUNGRY, "-o", "json",
                             resources={"limits": {"memory": "64Mi"}}) as run:
                self.assertEqual(run.status()["reason"], "OOMKilled")
            self.assertLess(swap_in_use() - before, 1 << 20)

    def test_where_it_can_not_be_limited_and_there_is_none_runs_go_on(self):
        wrapper = self.enterContext(cgroups.jailer_wrapper(self.WITHOUT_LIMIT))
        with cgroups.Run("print(1)", "--jailer", wrapper) as run:
            self.assertEqual(run.wait()[0], 0, run.stderr)

    def test_where_it_can_not_be_limited_and_there_is_some_nothing_runs(self):
        wrapper = self.enterContext(cgroups.jailer_wrapper(self.WITHOUT_LIMIT))
        with swap(), cgroups.Run("print(1)", "--jailer", wrapper) as run:
            self.assertEqual(run.wait()[0], 125, run.stderr)
        self.assertIn("this host has swap", run.stderr)
        self.assertEqual(run.stdout, "")


class TestProcesses(unittest.TestCase):
    def test_the_limit_of_processes_refuses(self):
        made = run_json("""
import os, time
made, errno = 0, 0
while made < 5000 and not errno:
    try:
        if os.fork() == 0:
            time.sleep(600)
        made += 1
    except OSError as refusal:
        errno = refusal.errno
print([made, errno])
""", timeoutSeconds=60)
        self.assertEqual(made[1], errno.EAGAIN)
        self.assertLess(made[0], 1024)

    def test_a_bomb_is_gone_at_the_deadline(self):
        status = run_status("import os\nwhile True:\n try: os.fork()\n except OSError: pass",
                            timeoutSeconds=5)
        self.assertEqual((status["reason"], status["exitCode"]), ("DeadlineExceeded", -1))
        self.assertEqual(cgroups.sandbox_processes(), [])


class TestNeighbours(unittest.TestCase):
    def test_each_comes_to_its_own_end(self):
        ends = {"Completed": "print(len(bytearray(b'y' * (20 << 20)).strip(b'x')))",
                "OOMKilled": "held = []\nwhile True: held.append(bytearray(b'x' * (4 << 20)))",
                "DeadlineExceeded": "while True: pass",
                "Error": "raise SystemExit(3)"}
        documents = "\n".join("---\n" + json.dumps(document(
            code, name=reason.lower(), timeoutSeconds=20,
            resources={"limits": {"memory": "96Mi", "cpu": "500m"}}))
            for reason, code in ends.items())
        done = sandboxrun("run", "--runtimes-dir", RUNTIMES, "--parallel", "4", "-o", "json", "-",
                          input=documents)
        found = [item["status"] for item in json.loads(done.stdout)["items"]]
        self.assertEqual([status["reason"] for status in found], list(ends))
        self.assertEqual(found[0]["stdout"], f"{20 << 20}\n")
        self.assertEqual([status["exitCode"] for status in found], [0, 137, -1, 3])


class TestEnd(unittest.TestCase):
    def assert_nothing_left(self):
        self.assertEqual(cgroups.sandbox_processes(), [])
        self.assertFalse(os.path.exists(cgroups.PARENT), os.path.exists(cgroups.PARENT) and
                         os.listdir(cgroups.PARENT))

    def test_nothing_is_left_of_a_run(self):
        self.assertEqual(run_status("print(1)")["stdout"], "1\n")
        self.assert_nothing_left()

    def test_daemons_are_gone_at_the_deadline(self):
        status = run_status("""
import os, signal, time
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 64)
            while True:
                time.sleep(1)
        os._exit(0)
    os.wait()
print("left", flush=True)
os.closerange(0, 64)
os.kill(os.getpid(), signal.SIGSTOP)
""", timeoutSeconds=10)
        self.assertEqual((status["reason"], status["stdout"]), ("DeadlineExceeded", "left\n"),
                         status.get("stderr"))
        self.assertLess(status["usage"]["wallMilliseconds"], 15000)
        self.assert_nothing_left()

    def test_daemons_are_gone_when_the_program_ends(self):
        status = run_status("""
import os, time
for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
print("left")
""")
        self.assertEqual((status["reason"], status["stdout"]), ("Completed", "left\n"))
        self.assert_nothing_left()

    def test_a_cancelled_run_leaves_nothing(self):
        with cgroups.Run(WAITING, timeoutSeconds=40) as run:
            self.assertEqual(run.line(), "up")
            status, text = run.end()
        self.assertEqual(status, 130, text)
        self.assert_nothing_left()

    def test_an_operator_ends_one_by_cgroup_kill(self):
        # It has a child only once its program runs, which its own output can't tell in JSON.
        with cgroups.Run("import os; os.fork(); " + WAITING, "-o", "json",
                         timeoutSeconds=40) as run:
            found = cgroups.wait_for(lambda: [path for path in cgroups.sandboxes()
                                              if len(cgroups.processes(path)) == 3], "a sandbox")
            cgroups.write("1", found[0], "cgroup.kill")
            status = run.status()
        self.assertEqual((status["phase"], status["reason"]), ("Failed", "Error"), status)
        self.assert_nothing_left()

    def test_a_killed_jailer_takes_its_runs_with_it_and_the_next_one_sweeps(self):
        with cgroups.Run(WAITING, timeoutSeconds=40) as run:
            self.assertEqual(run.line(), "up")
            inside = cgroups.processes(cgroups.sandboxes()[0])
            os.kill(run.jailer(), 9)
            cgroups.wait_for(lambda: not set(inside) & set(cgroups.sandbox_processes()),
                             "the sandbox's end")
            status, text = run.wait()
        self.assertEqual(status, 125, text)
        self.assertEqual(run_status("print(1)")["reason"], "Completed")
        self.assert_nothing_left()

    def test_a_killed_command_line_takes_its_runs_with_it(self):
        with cgroups.Run(WAITING, timeoutSeconds=40) as run:
            self.assertEqual(run.line(), "up")
            run.process.kill()
        cgroups.wait_for(lambda: not os.path.exists(cgroups.PARENT), "the end of all cgroups")
        self.assertEqual(cgroups.sandbox_processes(), [])

    def test_ended_runs_do_not_pin_their_cgroups(self):
        """A file of the runtime that were charged to a run would keep its cgroup in memory."""
        def dying():
            words = cgroups.read(cgroups.MOUNT, "cgroup.stat").split()
            return int(words[words.index("nr_dying_descendants") + 1])

        before = dying()
        documents = "\n".join("---\n" + json.dumps(document("print(1)", name=f"run-{i}"))
                              for i in range(16))
        done = sandboxrun("run", "--runtimes-dir", RUNTIMES, "-", input=documents)
        self.assertEqual((done.returncode, done.stdout), (0, "1\n" * 16), done.stderr)
        cgroups.wait_for(lambda: dying() - before < 8, "the end of most cgroups that were removed")


if __name__ == "__main__":
    unittest.main()
