# SPDX-License-Identifier: Apache-2.0
"""The jailer's container as the manifest has it, made by hand on this machine.

The jailer gets the manifest's arguments, capabilities and no_new_privs, a read-only root, a cgroup
of its own with a memory limit, and in a new cgroup namespace the cgroup file systems read-only, as
a container runtime mounts them. Only the paths of runtimes, socket and state are this machine's.
"""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

from helpers.controlplane import ROOT
from helpers.manifests import containers, find, kustomize, parse

BIN = os.environ.get("SANDBOXRUN_BIN", os.path.join(ROOT, "build/release/bin"))
RUNTIMES = os.environ.get("SANDBOXRUN_RUNTIMES", os.path.join(ROOT, "build/runtimes"))
CONTROLLERS = {"memory", "cpu", "cpuacct", "pids"}
UID = 65532
MEMORY_LIMIT = 1 << 30

# Says one word of the agent's to the socket: connects, and prints how long the first message is.
AGENT = """
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
    sock.settimeout(10)
    sock.connect(sys.argv[1])
    print(len(sock.recv(65536)))
"""


def cgroup_mounts():
    """(point, file system type, mount options) of every hierarchy that the jailer may use."""
    found = []
    with open("/proc/self/mountinfo", encoding="ascii") as file:
        for line in file:
            fields = line.split()
            kind, _, options = fields[fields.index("-") + 1:]
            controllers = CONTROLLERS.intersection(options.split(","))
            if kind == "cgroup" and controllers:
                found.append((fields[4], kind, ",".join(sorted(controllers))))
            elif kind == "cgroup2" and CONTROLLERS - {"cpuacct"} <= set(
                    read(os.path.join(fields[4], "cgroup.controllers")).split()):
                found.append((fields[4], kind, "rw"))
    return found


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Cgroup:
    """A container's cgroup, below `sandboxrun` of every hierarchy."""

    def __init__(self, mounts):
        self.name = f"sandboxrun/pod-{os.getpid()}"
        self.paths = []
        for point, kind, options in mounts:
            path = os.path.join(point, self.name)
            if kind == "cgroup2":
                self.delegate(point)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                self.delegate(os.path.dirname(path))
            os.makedirs(path)
            self.paths.append(path)
            if kind == "cgroup2":
                write(os.path.join(path, "memory.max"), str(MEMORY_LIMIT))
            elif "memory" in options.split(","):
                write(os.path.join(path, "memory.limit_in_bytes"), str(MEMORY_LIMIT))

    @staticmethod
    def delegate(path):
        write(os.path.join(path, "cgroup.subtree_control"), "+memory +cpu +pids")

    def remove(self):
        for top in self.paths:
            for path, _, _ in os.walk(top, topdown=False):
                os.rmdir(path)


def make_container(mounts, cgroup, directory, capabilities, argv):
    """The shell program that becomes the container's process."""
    lines = [f"echo $$ > {path}/cgroup.procs" for path in cgroup.paths]
    lines.append("exec unshare --mount --cgroup --propagation private -- sh -ec '")
    for point, kind, options in mounts:
        # Anew, or it would show its root as seen from outside the new namespace.
        lines.append(f"umount {point}")
        lines.append(f"mount -t {kind} -o {options} cgroup {point}")
        lines.append(f"mount -o remount,bind,ro,nosuid,nodev,noexec {point}")
    lines.append(f"mount -t tmpfs -o mode=0755 tmpfs {directory}")
    lines.append(f"mkdir -m 0777 {directory}/run")
    lines.append(f"mkdir -m 0755 {directory}/state")
    lines.append("mount -o remount,bind,ro /")
    bounding = ",".join(["-all"] + [f"+{name.lower()}" for name in capabilities])
    lines.append(f"exec setpriv --bounding-set={bounding} --inh-caps=-all --no-new-privs -- "
                 + " ".join(argv) + "'")
    return "\n".join(lines)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class TestJailerContainer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = os.path.join(BIN, "sandboxrun-jailer")
        for path in (program, RUNTIMES):
            if not os.path.exists(path):
                raise unittest.SkipTest(f"{path} is not there")
        pod = find(parse(kustomize()), "DaemonSet",
                   "sandboxrun-node-agent")["spec"]["template"]["spec"]
        cls.jailer = containers(pod)["jailer"]
        cls.dir = tempfile.mkdtemp(prefix="sandboxrun-pod-")
        os.chmod(cls.dir, 0o755)
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.log_path = os.path.join(cls.dir, "log")
        mounts = cgroup_mounts()
        cls.cgroup = Cgroup(mounts)
        cls.addClassCleanup(cls.cgroup.remove)
        os.mkdir(os.path.join(cls.dir, "disk"))
        script = make_container(mounts, cls.cgroup, os.path.join(cls.dir, "disk"),
                                cls.jailer["securityContext"]["capabilities"]["add"],
                                [program, *cls.arguments()])
        with open(cls.log_path, "wb") as log:
            cls.child = subprocess.Popen(["sh", "-ec", script], stdin=subprocess.DEVNULL,
                                         stdout=log, stderr=log, cwd="/",
                                         env={"PATH": os.environ["PATH"]})
        cls.addClassCleanup(cls.stop)
        cls.ready = cls.wait_ready()

    @classmethod
    def arguments(cls):
        disk = os.path.join(cls.dir, "disk")
        places = {"/run/sandboxrun": f"{disk}/run", "/var/lib/sandboxrun": f"{disk}/state",
                  "/usr/lib/sandboxrun/runtimes": RUNTIMES, "$(CPU_LIMIT_MILLI)": "2000"}
        for argument in cls.jailer["args"]:
            for there, here in places.items():
                argument = argument.replace(there, here)
            yield argument

    @classmethod
    def wait_ready(cls):
        end = time.monotonic() + 20
        while time.monotonic() < end and cls.child.poll() is None:
            for line in read(cls.log_path).splitlines():
                if line.startswith("{") and json.loads(line)["msg"] == "ready":
                    return json.loads(line)
            time.sleep(0.05)
        raise AssertionError(f"the jailer isn't ready: {read(cls.log_path)}")

    @classmethod
    def stop(cls):
        if cls.child.poll() is None:
            cls.child.send_signal(signal.SIGTERM)
        cls.child.wait(30)

    def inside(self, *argv):
        done = subprocess.run(["nsenter", f"--target={self.child.pid}", "--mount", "--", *argv],
                              text=True, capture_output=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_its_capacity_is_the_container_s(self):
        self.assertEqual(self.ready["cpu_milli"], 2000)
        self.assertLess(self.ready["memory_bytes"], MEMORY_LIMIT)
        # The rest is the jailer's own, its pools', and that of a zygote for each runtime, of which a
        # machine may have several.
        self.assertGreater(self.ready["memory_bytes"], MEMORY_LIMIT // 4)
        self.assertEqual(self.ready["max_runs"], 64)

    def test_it_lives_below_its_own_cgroup(self):
        for line in read(f"/proc/{self.child.pid}/cgroup").splitlines():
            _, names, path = line.split(":")
            if CONTROLLERS.intersection(names.split(",")) or len(self.cgroup.paths) == 1:
                self.assertIn("/" + self.cgroup.name + "/", path)

    def test_the_spool_is_the_agent_s(self):
        mode, owner = self.inside("stat", "-c", "%a %u", f"{self.dir}/disk/state/spool").split()
        self.assertEqual((mode, owner), ("700", str(UID)))

    def test_the_agent_reaches_the_socket_through_a_read_only_mount(self):
        run = f"{self.dir}/disk"
        script = (f"mount -o remount,bind,ro {run} && exec setpriv --reuid={UID} --regid={UID} "
                  f"--clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs -- "
                  f'/usr/bin/python3 -c "$0" {run}/run/jailer.sock')
        length = self.inside("unshare", "--mount", "sh", "-ec", script, AGENT)
        self.assertGreater(int(length), 100)

    def test_nobody_else_reaches_it(self):
        mode, uid, gid = self.inside("stat", "-c", "%f %u %g",
                                     f"{self.dir}/disk/run/jailer.sock").split()
        self.assertTrue(stat.S_ISSOCK(int(mode, 16)))
        # The group is the jailer's own, which tries a socket that an earlier one left.
        self.assertEqual(stat.S_IMODE(int(mode, 16)), 0o660)
        self.assertEqual((uid, gid), (str(UID), "0"))

    def test_it_has_the_manifest_s_capabilities_and_no_more(self):
        status = read(f"/proc/{self.child.pid}/status")
        bits = int(re.search(r"^CapBnd:\s+([0-9a-f]+)$", status, re.M).group(1), 16)
        wanted = self.jailer["securityContext"]["capabilities"]["add"]
        self.assertEqual(bin(bits).count("1"), len(wanted))
        self.assertRegex(status, r"(?m)^NoNewPrivs:\s+1$")


if __name__ == "__main__":
    unittest.main()
