# SPDX-License-Identifier: Apache-2.0
"""The jailer alone in a cgroup further down, as the kubelet starts it: --cgroup-parent self."""

import os
import unittest

import cgroups
from helpers.local import ROOT, program

JAILER = f'exec {program("sandboxrun-jailer")} "$@" --cgroup-parent self'
WAITING = "import time; print('up', flush=True); time.sleep(30)"


def enter(path):
    return f"echo $$ >{path}/cgroup.procs"


def pod(*mounts, wrapper=""):
    """What a container runtime does for a container with a cgroup namespace of its own."""
    commands = "\n".join(["umount /sys/fs/cgroup", "mount -t cgroup2 cgroup2 /sys/fs/cgroup",
                          *mounts])
    return f"""exec unshare --cgroup --mount sh -c '
{commands}
exec {wrapper} {program("sandboxrun-jailer")} "$@" --cgroup-parent self' jailer "$@" """


READ_ONLY = "mount -o remount,bind,ro /sys/fs/cgroup"
MS_REMOUNT = 0x20
NO_REMOUNT = f"python3 {os.path.join(ROOT, 'tests/helpers/deny.py')} " \
             f"mount:3={MS_REMOUNT:#x}/{MS_REMOUNT:#x} --"


class TestSelf(unittest.TestCase):
    def setUp(self):
        self.cgroup = self.enterContext(cgroups.cgroup("pod"))

    def check(self, command):
        with open(os.path.join(self.cgroup, "memory.oom.group"), "w", encoding="ascii") as file:
            file.write("1")
        wrapper = self.enterContext(cgroups.jailer_wrapper(enter(self.cgroup), command))
        with cgroups.Run(WAITING, "--jailer", wrapper, timeoutSeconds=40) as run:
            self.assertEqual(run.line(), "up")
            self.assertEqual(cgroups.processes(self.cgroup), [])
            self.assertIn(run.jailer(),
                          cgroups.processes(os.path.join(self.cgroup, "supervisor")))
            self.assertLessEqual({"memory", "cpu", "pids"},
                                 set(cgroups.read(self.cgroup, "cgroup.subtree_control").split()))
            self.assertEqual(cgroups.read(self.cgroup, "memory.oom.group"), "0")
            found = cgroups.sandboxes(self.cgroup)
            self.assertEqual(len(found), 1, found)
            self.assertEqual(len(cgroups.processes(found[0])), 2)
            self.assertEqual(cgroups.read(found[0], "memory.oom.group"), "1")
            status, text = run.end()
            self.assertEqual(status, 130, text)
        self.assertEqual([entry for entry in os.listdir(self.cgroup)
                          if os.path.isdir(os.path.join(self.cgroup, entry))], [])

    def test_seen_from_the_host(self):
        self.check(JAILER)

    def test_in_a_cgroup_namespace(self):
        self.check(pod())

    def test_a_read_only_file_system_is_made_writable_for_the_jailer_alone(self):
        self.check(pod(READ_ONLY))

    def test_where_it_stays_read_only_nothing_runs(self):
        wrapper = self.enterContext(cgroups.jailer_wrapper(
            enter(self.cgroup), pod(READ_ONLY, wrapper=NO_REMOUNT)))
        with cgroups.Run("print(1)", "--jailer", wrapper) as run:
            status, text = run.wait()
        self.assertEqual((status, run.stdout), (125, ""), text)
        self.assertIn("read-only", text)

    def test_no_peak_is_told_where_the_kernel_does_not_tell_it(self):
        """As before Linux 5.19. The jailer of a Pod can't read what its owner may not."""
        wrapper = self.enterContext(cgroups.jailer_wrapper(enter(self.cgroup), JAILER))
        with cgroups.Run("import time; time.sleep(2)", "-o", "json", "--jailer", wrapper,
                         timeoutSeconds=40) as run:
            found = cgroups.wait_for(lambda: cgroups.sandboxes(self.cgroup), "a sandbox")
            os.chmod(os.path.join(found[0], "memory.peak"), 0)
            status = run.status()
        self.assertEqual(status["reason"], "Completed", status)
        self.assertEqual(set(status["usage"]), {"cpuMilliseconds", "wallMilliseconds"})

    def test_a_neighbour_in_the_same_cgroup_is_refused(self):
        """The kernel's rule of no inner processes: said, not suffered."""
        wrapper = self.enterContext(cgroups.jailer_wrapper(
            enter(self.cgroup), "sleep 1000 & trap 'kill $!' EXIT",
            JAILER.removeprefix("exec ")))
        with cgroups.Run("print(1)", "--jailer", wrapper) as run:
            status, text = run.wait()
        self.assertEqual(status, 125, text)
        self.assertIn("processes of its own", text)

    def test_a_run_that_is_killed_for_its_memory_leaves_the_jailer_alone(self):
        wrapper = self.enterContext(cgroups.jailer_wrapper(enter(self.cgroup), JAILER))
        code = "held = []\nwhile True: held.append(bytearray(b'x' * (4 << 20)))"
        with cgroups.Run(code, "--jailer", wrapper,
                         resources={"limits": {"memory": "64Mi"}}) as run:
            status, text = run.wait()
        self.assertEqual(status, 137, text)


class TestRefusals(unittest.TestCase):
    def refusal(self, *commands):
        wrapper = self.enterContext(cgroups.jailer_wrapper(*commands))
        with cgroups.Run("print(1)", "--jailer", wrapper) as run:
            status, text = run.wait()
        self.assertEqual(status, 125, text)
        self.assertEqual(cgroups.sandbox_processes(), [])
        return text

    def test_a_controller_that_the_parent_keeps_for_itself(self):
        path = self.enterContext(cgroups.cgroup("poor", controllers=("cpu", "pids")))
        text = self.refusal(enter(path), JAILER)
        self.assertRegex(text, r"needs the controllers memory, cpu and pids .* only: cpu pids;")
        self.assertEqual(cgroups.processes(path), [])

    def test_a_file_system_that_can_not_be_written(self):
        text = self.refusal(f"""exec unshare --mount sh -c '
{READ_ONLY}
exec {program("sandboxrun-jailer")} "$@"' jailer "$@" """)
        self.assertIn("read-only", text)

    def test_no_cgroup_file_system_at_all(self):
        text = self.refusal(f"""exec unshare --mount sh -c '
umount /sys/fs/cgroup
exec {program("sandboxrun-jailer")} "$@"' jailer "$@" """)
        self.assertIn("not mounted", text)


if __name__ == "__main__":
    unittest.main()
