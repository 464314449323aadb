# SPDX-License-Identifier: Apache-2.0
"""sandboxrun doctor: all well here, and each precondition taken away where nobody else sees it."""

import errno
import glob
import json
import os
import pty
import shutil
import subprocess
import tempfile
import time
import unittest

from helpers import jailer_protocol as protocol
from helpers.deny import denying
from helpers.leftovers import interfaces, mounts
from helpers.local import PATIENCE, RUNTIMES, document, need_root, program, sandboxrun

OPTIONS = ("--cgroup-parent", "sandboxrun-doctor", "--uid-base", "2300000000")
NAMES = {
    "root", "capability.sys-admin", "capability.setpcap", "limit.open-files", "limit.core-file",
    "kernel.version", "syscall.clone3", "syscall.pidfd-open", "syscall.openat2",
    "syscall.mount-setattr", "syscall.close-range", "seccomp.errno", "seccomp.user-notification",
    "landlock", "namespace.pid", "namespace.mount", "namespace.network", "namespace.ipc",
    "namespace.uts", "namespace.cgroup", "namespace.user", "namespace.limits", "mount.proc",
    "mount.tmpfs", "mount.root", "cgroup.version", "cgroup.memory", "cgroup.cpu", "cgroup.pids",
    "cgroup.writable", "cgroup.parent", "cgroup.swap", "cgroup.limits", "cgroup.enter",
    "cgroup.memory-peak", "cgroup.kill", "memory", "runtime.python3.12", "runtimes", "uids.range",
    "uids.number", "core-pattern", "apparmor", "selinux", "trial.python3.12",
    "capability.net-admin", "network.nft", "network.table", "network.veth", "network.forwarding",
    "network.ranges",
}  # fmt: skip
CAPABILITIES = ("sys_admin", "sys_chroot", "setuid", "setgid", "setpcap", "kill", "chown", "mknod",
                "dac_override")  # fmt: skip


def setUpModule():
    need_root()


def cgroup_mounts():
    """Mount points of the hierarchies that a jailer may use."""
    points = []
    with open("/proc/self/mountinfo", encoding="utf-8") as mountinfo:
        for line in mountinfo:
            fields = line.split()
            kind, _, options = fields[fields.index("-") + 1 :]
            if kind == "cgroup2" or (kind == "cgroup" and "name=" not in options):
                points.append(fields[4])
    return points


def trial_cgroups():
    """The one cgroup that a look makes, where it is left."""
    return [path for point in cgroup_mounts()
            for path in glob.glob(os.path.join(point, "sandboxrun/jailer-*/check"))]


def doctor(*args, wrapper=(), runtimes=RUNTIMES, **kwargs):
    argv = [*wrapper, program("sandboxrun"), "doctor", "--runtimes-dir", runtimes, *args]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, **kwargs)


def in_private_mounts(*commands):
    """A wrapper: shell commands in a mount namespace of its own, then the program."""
    return ("unshare", "--mount", "--propagation", "private", "sh", "-ec",
            "\n".join([*commands, 'exec "$@"']), "sh")  # fmt: skip


def without_capability(name):
    return ("setpriv", f"--bounding-set=-{name}", "--")


class DoctorCase(unittest.TestCase):
    def examine(self, expected, **kwargs):
        """The checks by name, after a look at what holds for every report."""
        before = mounts() | interfaces()
        done = doctor("-o", "json", **kwargs)
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        self.assertEqual(mounts() | interfaces(), before)
        self.assertEqual(trial_cgroups(), [])
        report = json.loads(done.stdout)
        self.assertEqual(report["ok"], expected == 0)
        checks = {check["name"]: check for check in report["checks"]}
        self.assertEqual(len(checks), len(report["checks"]))
        unmet = [check for check in checks.values()
                 if check["level"] == "required" and check["outcome"] != "ok"]
        self.assertEqual(bool(unmet), expected != 0)
        for check in checks.values():
            self.assertTrue(check["figure"], check)
            if check["outcome"] == "failed" and check["level"] != "information":
                self.assertTrue(check["advice"], check)
        return checks

    def scratch(self):
        directory = tempfile.mkdtemp(prefix="sbr-doctor-test-")
        self.addCleanup(shutil.rmtree, directory)
        os.chmod(directory, 0o755)
        return directory


class TestAllIsWell(DoctorCase):
    def test_every_check_and_a_trial(self):
        checks = self.examine(0)
        self.assertLessEqual(NAMES, set(checks))
        self.assertEqual({c["outcome"] for c in checks.values() if c["level"] == "required"},
                         {"ok"})
        self.assertIn(os.uname().release, checks["kernel.version"]["figure"])
        with open(os.path.join(RUNTIMES, "python3.12/usr/lib/sandboxrun/version"),
                  encoding="ascii") as version:
            self.assertIn(version.read().strip(), checks["runtime.python3.12"]["figure"])

    def test_text(self):
        done = doctor()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.isascii())
        self.assertRegex(done.stdout, r"(?m)^ok   namespace\.user +made")
        self.assertRegex(done.stdout, r"\n\n\d+ checks: \d+ ok, \d+ failed, \d+ skipped\. "
                                      r"This machine can make sandboxes\.\n\Z")

    def test_yaml(self):
        done = doctor("-o", "yaml")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("ok: true\nchecks:\n"), done.stdout[:80])

    def on_a_terminal(self, locale):
        ours, theirs = pty.openpty()
        with subprocess.Popen([program("sandboxrun"), "doctor", "--runtimes-dir", RUNTIMES],
                              stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
                              env={"LC_ALL": locale}) as process:
            os.close(theirs)
            text = b""
            try:
                while data := os.read(ours, 65536):
                    text += data
            except OSError:
                pass  # the other end is closed
        os.close(ours)
        self.assertEqual(process.returncode, 0)
        return text.decode()

    def test_ticks_on_a_terminal_of_utf_8_alone(self):
        self.assertIn("✓ root ", self.on_a_terminal("C.UTF-8"))
        text = self.on_a_terminal("C")
        self.assertIn("ok   root ", text)
        self.assertTrue(text.isascii())

    def test_beside_a_jailer_at_work(self):
        with subprocess.Popen([program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES, "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
            code = "print('up', flush=True); import time; time.sleep(3); print('undisturbed')"
            running.stdin.write(json.dumps(document(code, timeoutSeconds=50)))
            running.stdin.close()
            self.assertEqual(running.stdout.readline(), "up\n")
            self.examine(0)
            self.assertEqual(running.stdout.read(), "undisturbed\n")
        self.assertEqual(running.returncode, 0)

    def test_usage(self):
        for args in (["x"], ["-o", "xml"], ["--nonsense"]):
            done = doctor(*args)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"\Asandboxrun: [^\n]+; see sandboxrun doctor --help\n\Z")
        done = doctor("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Exit code:", done.stdout)
        self.assertIn("doctor", sandboxrun("--help").stdout)


class TestTakenAway(DoctorCase):
    def missing(self, name, figure, advice, **kwargs):
        """Examines a machine without something; the checks."""
        with self.subTest(check=name, kwargs=kwargs):
            checks = self.examine(1, **kwargs)
            check = checks[name]
            self.assertEqual((check["level"], check["outcome"]), ("required", "failed"), check)
            self.assertIn(figure, check["figure"])
            self.assertIn(advice, check["advice"])
            self.assertEqual(checks["trial"]["outcome"], "skipped")
            return checks
        return {}

    def test_root(self):
        nobody = ("setpriv", "--reuid=65532", "--regid=65532", "--clear-groups", "--")
        checks = self.missing("root", "uid 65532", "sudo", wrapper=nobody)
        self.assertEqual(checks["namespace.user"]["outcome"], "skipped")
        done = doctor(wrapper=nobody)
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAIL root ", done.stdout)
        self.assertIn("\n     -> start it as root", done.stdout)
        self.assertIn("This machine can't make sandboxes yet.", done.stdout)

    def test_each_capability(self):
        for name in CAPABILITIES:
            self.missing("capability." + name.replace("_", "-"), "missing; it is for:",
                         "CAP_" + name.upper(), wrapper=without_capability(name))

    def test_what_only_sandboxes_with_a_network_need(self):
        checks = self.examine(0, wrapper=without_capability("net_admin"))
        check = checks["capability.net-admin"]
        self.assertEqual((check["level"], check["outcome"]), ("recommended", "failed"))
        self.assertIn("NET_ADMIN", check["advice"])
        for name in ("table", "veth", "forwarding", "ranges"):
            self.assertEqual(checks[f"network.{name}"]["outcome"], "skipped")
            self.assertIn("capability.net-admin", checks[f"network.{name}"]["figure"])
        nothing = in_private_mounts(
            "for file in /usr/sbin/nft /sbin/nft /usr/local/sbin/nft /usr/bin/nft; do",
            "  [ ! -e $file ] || mount --bind /dev/null $file", "done")
        checks = self.examine(0, wrapper=nothing)
        self.assertEqual(checks["network.nft"]["outcome"], "failed")
        self.assertIn("nftables", checks["network.nft"]["advice"])
        self.assertIn("network.nft", checks["network.table"]["figure"])
        self.assertEqual(checks["network.veth"]["outcome"], "ok")

    def test_limits_of_the_process(self):
        self.missing("limit.open-files", "1000", "ulimit",
                     wrapper=("prlimit", "--nofile=1000:1000", "--"))
        self.missing("limit.core-file", "core files is 0", "CAP_SYS_RESOURCE",
                     wrapper=("prlimit", "--core=0:0", "--", *without_capability("sys_resource")))

    def test_cgroups_that_can_not_be_written(self):
        remount = (f"mount -o remount,bind,ro {point}" for point in cgroup_mounts())
        checks = self.missing("cgroup.writable", "read-only", "--cgroup-parent=self",
                              wrapper=in_private_mounts(*remount))
        self.assertEqual(checks["cgroup.version"]["outcome"], "ok")
        self.assertEqual(checks["cgroup.limits"]["outcome"], "skipped")
        self.assertIn("cgroup.writable", checks["cgroup.limits"]["figure"])

    def test_no_cgroups(self):
        checks = self.missing("cgroup.version", "not mounted", "cgroup2",
                              wrapper=in_private_mounts("umount -l /sys/fs/cgroup"))
        for controller in ("memory", "cpu", "pids"):
            self.assertEqual(checks[f"cgroup.{controller}"]["outcome"], "failed")

    def test_namespaces_and_mounts_that_a_filter_refuses(self):
        checks = self.missing("namespace.network", "not permitted", "seccomp",
                              wrapper=denying("unshare"))
        for kind in ("mount", "ipc", "uts", "cgroup", "user"):
            self.assertEqual(checks[f"namespace.{kind}"]["outcome"], "failed")
        self.assertEqual(checks["seccomp.inherited"]["outcome"], "failed")
        self.assertEqual(checks["seccomp.inherited"]["level"], "recommended")
        checks = self.missing("mount.proc", "not permitted", "appArmorProfile",
                              wrapper=denying("mount"))
        self.assertEqual(checks["mount.tmpfs"]["outcome"], "failed")
        self.assertEqual(checks["mount.root"]["outcome"], "failed")

    def test_system_calls_that_a_filter_refuses(self):
        self.missing("syscall.setns", "refuses it", "Unconfined", wrapper=denying("setns"))
        self.missing("syscall.close-range", "refuses it", "Unconfined",
                     wrapper=denying("close_range"))
        self.missing("seccomp.errno", "not available", "CONFIG_SECCOMP_FILTER",
                     wrapper=denying("seccomp"))

    def test_each_newer_call(self):
        """There is nothing to fall back to: Linux 5.14 has them all (test_fallbacks.py)."""
        calls = ("clone3", "close-range", "mount-setattr", "move-mount", "open-tree", "openat2",
                 "pidfd-open", "pidfd-send-signal")
        rules = [f"{call.replace('-', '_')}!{errno.ENOSYS}" for call in calls]
        checks = self.missing("syscall.clone3", "doesn't have it", "5.14", wrapper=denying(*rules))
        failed = {name for name, check in checks.items() if check["outcome"] == "failed"}
        self.assertLessEqual({f"syscall.{call}" for call in calls}, failed)

    def test_namespaces_that_are_switched_off(self):
        path = os.path.join(self.scratch(), "zero")
        with open(path, "w", encoding="ascii") as file:
            file.write("0\n")
        self.missing("namespace.limits", "max_user_namespaces is 0", "sysctl",
                     wrapper=in_private_mounts(
                         f"mount --bind {path} /proc/sys/user/max_user_namespaces"))

    def test_uids_that_somebody_else_has(self):
        self.missing("uids.range", "alice", "--uid-base", wrapper=in_private_mounts(
            "mount -t tmpfs tmpfs /etc", "echo alice:2000000100:65536 >/etc/subuid"))

    def test_no_runtime(self):
        checks = self.missing("runtimes", "0 usable", "hack/make-runtime.sh",
                              runtimes=self.scratch())
        self.assertEqual(checks["mount.root"]["outcome"], "skipped")
        self.missing("runtimes", "/nonexistent: No such file", "--runtimes-dir",
                     runtimes="/nonexistent")

    def test_a_runtime_that_is_not_whole(self):
        directory = self.scratch()
        os.makedirs(os.path.join(directory, "broken/usr/lib/sandboxrun"))
        checks = self.missing("runtimes", "0 usable", "make-runtime", runtimes=directory)
        self.assertEqual(checks["runtime.broken"]["outcome"], "failed")
        self.assertIn("/usr/bin/python3", checks["runtime.broken"]["figure"])

    def test_a_runtime_that_can_not_be_executed(self):
        directory = self.scratch()
        wrapper = in_private_mounts(f"mount --bind {RUNTIMES} {directory}",
                                    f"mount -o remount,bind,noexec {directory}")
        checks = self.missing("runtimes", "0 usable", "make-runtime", runtimes=directory,
                              wrapper=wrapper)
        self.assertIn("noexec", checks["runtime.python3.12"]["figure"])

    def test_no_jailer(self):
        for jailer, says in (("/nonexistent", "--jailer /nonexistent: No such file"),
                             ("/bin/true", "the jailer has told nothing of this machine")):
            done = doctor("--jailer", jailer)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(says, done.stderr)


class TestTrial(DoctorCase):
    def test_what_only_the_trial_finds(self):
        """A jailer that looks at this machine, and then works on another one."""
        path = os.path.join(self.scratch(), "jailer")
        real = program("sandboxrun-jailer")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\ncase "$*" in *--check*) exec {real} "$@" ;; esac\n'
                       f'exec {" ".join(denying("sethostname"))} {real} "$@"\n')
        os.chmod(path, 0o755)
        done = doctor("-o", "json", "--jailer", path)
        self.assertEqual(done.returncode, 1, done.stderr)
        checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        self.assertEqual(checks["trial.python3.12"]["outcome"], "failed")
        self.assertIn("SandboxSetupFailed", checks["trial.python3.12"]["figure"])
        self.assertIn("namespaces", checks["trial.python3.12"]["figure"])
        self.assertTrue(checks["trial.python3.12"]["advice"])

    def test_a_jailer_that_does_not_start(self):
        path = os.path.join(self.scratch(), "jailer")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\ncase "$*" in *--check*) ;; *) exit 3 ;; esac\n'
                       f'exec {program("sandboxrun-jailer")} "$@"\n')
        os.chmod(path, 0o755)
        done = doctor("-o", "json", "--jailer", path)
        self.assertEqual(done.returncode, 1, done.stderr)
        trial = json.loads(done.stdout)["checks"][-1]
        self.assertEqual((trial["name"], trial["outcome"]), ("trial", "failed"))


class TestRefusal(DoctorCase):
    """What a jailer does that lacks something."""

    def jailer(self, runtimes, *options, **kwargs):
        return protocol.Jailer(program("sandboxrun-jailer"), runtimes, *OPTIONS, *options, **kwargs)

    def test_a_single_run_is_refused_with_all_that_is_missing(self):
        done = subprocess.run(
            ["prlimit", "--nofile=1000:1000", "--", *without_capability("kill"),
             program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES, "-"],
            input=json.dumps(document("print(1)")), capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertRegex(done.stderr, r"\A[^\n]*\n\Z")
        self.assertIn("CAP_KILL", done.stderr)
        self.assertIn('missing="capability.kill, limit.open-files"', done.stderr)

    def test_checks_are_for_node_agents(self):
        with self.jailer(RUNTIMES) as jailer:
            self.assertEqual(jailer.checks, [])
        with self.jailer(RUNTIMES, socket=True) as jailer:
            jailer.connect()
            checks = jailer.checks
            self.assertGreater(len(checks), 40)
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")
            jailer.connection.close()
            jailer.connect()
            self.assertEqual(jailer.checks, checks)
            self.assertEqual(jailer.stop(), 0)

    def test_a_jailer_without_a_runtime_says_so_until_there_is_one(self):
        runtimes = self.scratch()
        spool = os.path.join(self.scratch(), "spool")
        with self.jailer(runtimes, "--spool-dir", spool, socket=True) as jailer:
            connection = jailer.connect()
            failed = {check["name"]: check for check in jailer.checks
                      if check["outcome"] == protocol.FAILED
                      and check["level"] == protocol.REQUIRED}
            self.assertEqual(set(failed), {"runtimes"})
            self.assertIn("make-runtime", failed["runtimes"]["advice"])
            for field in ("profiles", "max_runs", "memory_bytes", "cpu_milli"):
                self.assertEqual(jailer.hello[field], 0)
            self.assertEqual(jailer.hello["runtimes"], [])
            # The agent reports from it what it had started earlier.
            self.assertTrue(os.path.isdir(spool))

            sandbox = connection.create()
            kind, fields, _ = connection.receive_about(sandbox)
            self.assertEqual((kind, fields["lock"]), (protocol.REFUSED, "request"))
            self.assertIn("it lacks runtimes", fields["text"])

            subprocess.run(["cp", "-a", os.path.join(RUNTIMES, "python3.12"), runtimes],
                           check=True)
            began = time.monotonic()
            self.assertEqual(jailer.process.wait(40), 1)
            self.assertLess(time.monotonic() - began, 35 * PATIENCE)
            self.assertIn("nothing is missing any more", jailer.log_text())
        with self.jailer(runtimes, "--spool-dir", spool, socket=True) as jailer:
            jailer.connect()
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")

    def test_a_jailer_that_lacks_something_can_be_stopped(self):
        with self.jailer(self.scratch(), socket=True) as jailer:
            jailer.connect()
            self.assertEqual(jailer.stop(), 0)


if __name__ == "__main__":
    unittest.main()
