# SPDX-License-Identifier: Apache-2.0
"""What stands outside the sandboxes for attempts to reach, and the look at it afterwards.

    with Outside() as outside:
        outside.canaries     {"CANARY_FILE": path, ...} for the environment of attempts
        outside.secrets      texts that nobody inside may know
        outside.jailer       a program for `sandboxrun run --jailer`: cgroups and uids of our own
        outside.changes()    what has been touched since the last look, in plain words

Canary processes run under the very kernel uids that the sandboxes get, so that nothing but the
namespaces stands between. Everything lives in a network namespace of its own.
"""

import fcntl
import glob
import os
import secrets
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
import time

from helpers import kinds, leftovers
from helpers.cgroup_tree import processes_below, sandboxes_below
from helpers.local import RUNTIMES, program
from helpers.netns import join_network, new_network

PARENT = "sandboxrun-escape"
# Where attempts run in sandboxes that have waited, so many wait for each runtime.
MAX_RUNS, WAITING = 8, 6
# A range that no other tests use. Jailers divide the uids into 128 parts, so that each part has as
# many as one can need; the canary processes have those of the first two jailers: the watcher's and
# the attempts'.
UID_BASE, UID_PARTS = 2_110_000_000, 128
OF_A_JAILER = MAX_RUNS + WAITING * len(glob.glob(f"{RUNTIMES}/*/usr/lib/sandboxrun/version"))
UIDS = range(UID_BASE, UID_BASE + OF_A_JAILER * UID_PARTS)
CANARIES = 2 * OF_A_JAILER
SECRET = "sandboxrun-canary-"
SETTLE_S = 15.0

# Of the kernel's settings those that a way out would change.
SETTINGS = ("kernel/core_pattern", "kernel/modprobe", "kernel/hostname", "kernel/domainname",
            "kernel/hotplug", "kernel/poweroff_cmd", "kernel/sysrq", "kernel/panic",
            "kernel/randomize_va_space", "kernel/printk", "fs/suid_dumpable",
            "net/ipv4/ip_forward", "vm/overcommit_memory", "vm/nr_hugepages", "vm/swappiness")


def own_network():
    """Enters a network namespace with nothing but a loopback in it; a handle of the old one."""
    old = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    new_network()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, 0x8914, struct.pack("16sH22x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
    return old


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


class Listeners:
    """Sockets that wait for somebody from inside."""

    def __init__(self, directory):
        name = os.path.basename(directory)
        self.path = os.path.join(directory, "socket")
        self.abstract, self.abstract_datagram = name + "-stream", name + "-datagram"
        self.sockets = {}
        self.listen("unix path", socket.AF_UNIX, socket.SOCK_STREAM, self.path)
        self.listen("abstract stream", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.abstract)
        self.listen("abstract datagram", socket.AF_UNIX, socket.SOCK_DGRAM,
                    "\0" + self.abstract_datagram)
        os.chmod(self.path, 0o777)
        self.tcp = self.listen("TCP", socket.AF_INET6, socket.SOCK_STREAM, ("::", 0))
        self.udp = self.listen("UDP", socket.AF_INET6, socket.SOCK_DGRAM, ("::", 0))

    def listen(self, name, family, kind, address):
        sock = socket.socket(family, kind)
        sock.bind(address)
        if kind == socket.SOCK_STREAM:
            sock.listen()
        sock.setblocking(False)
        self.sockets[name] = sock
        return sock.getsockname()[1] if family == socket.AF_INET6 else None

    def reached(self):
        found = []
        for name, sock in self.sockets.items():
            try:
                if sock.type == socket.SOCK_STREAM:
                    sock.accept()[0].close()
                else:
                    sock.recv(64)
                found.append(f"somebody reached the {name} listener")
            except BlockingIOError:
                pass
        return found

    def strangers(self):
        """Ports that are open in this network namespace and aren't ours."""
        found = []
        for table, states in (("tcp", {"0A"}), ("tcp6", {"0A"}), ("udp", {"07"}), ("udp6", {"07"})):
            for line in (read("/proc/thread-self/net/" + table) or "").splitlines()[1:]:
                fields = line.split()
                port = int(fields[1].rpartition(":")[2], 16)
                if fields[3] in states and port not in (self.tcp, self.udp):
                    found.append(f"port {port} ({table}) is open")
        return found

    def close(self):
        for sock in self.sockets.values():
            sock.close()


class CanaryProcess:
    """Sleeps under one of the sandboxes' kernel uids with a secret in its environment."""

    def __init__(self, uid, secret):
        self.process = subprocess.Popen(["sleep", "3600"], env={"SECRET": secret}, user=uid,
                                        group=uid, extra_groups=[], start_new_session=True)
        self.pid = self.process.pid
        self.before = self.state()

    def state(self):
        """What nobody may change: alive, priority, scheduling, affinity, limits, OOM score."""
        fields = (read(f"/proc/{self.pid}/stat") or ") Z").rsplit(")", 1)[1].split()
        alive = fields[0] in "SR" and self.process.poll() is None
        if not alive:
            return {"state": fields[0]}
        return {"state": "alive", "nice": fields[16], "policy": fields[38],
                "affinity": sorted(os.sched_getaffinity(self.pid)),
                "limits": read(f"/proc/{self.pid}/limits"),
                "oom_score_adj": read(f"/proc/{self.pid}/oom_score_adj"),
                "tracer": [line for line in (read(f"/proc/{self.pid}/status") or "").splitlines()
                           if line.startswith("TracerPid")]}

    def changes(self):
        now = self.state()
        changed = [key for key in self.before if now.get(key) != self.before[key]]
        self.before = now
        return [f"{key} of a process of the host changed" for key in changed]

    def end(self):
        self.process.kill()
        self.process.wait()


class Outside:
    def __enter__(self):
        self.old_network = own_network()
        self.directory = tempfile.mkdtemp(prefix="sandboxrun-escape-", dir="/tmp")
        os.chmod(self.directory, 0o755)
        self.secret = SECRET + secrets.token_hex(16)
        self.secrets = [self.secret]
        self.file = os.path.join(self.directory, "canary")
        self.open_directory = os.path.join(self.directory, "open")
        os.mkdir(self.open_directory)
        os.chmod(self.open_directory, 0o1777)
        with open(self.file, "w", encoding="ascii") as file:
            file.write(self.secret + "\n")
        os.chmod(self.file, 0o666)
        self.jailer = os.path.join(self.directory, "sandboxrun-jailer")
        with open(self.jailer, "w", encoding="ascii") as file:
            # The secret in its environment is there to be looked for, in every sandbox.
            words = kinds.current.command_of_jailer(program("sandboxrun-jailer"), WAITING)
            file.write(f"#!/bin/sh\nSECRET={self.secret} "
                       f"exec {' '.join(words)} \"$@\" --cgroup-parent {PARENT} "
                       f"--uid-base {UID_BASE} --uid-count {len(UIDS)} --max-runs {MAX_RUNS}\n")
        os.chmod(self.jailer, 0o755)
        os.environ["SANDBOXRUN_ESCAPE_SECRET"] = self.secret
        self.listeners = Listeners(self.directory)
        self.processes = [CanaryProcess(uid, self.secret) for uid in UIDS[:CANARIES]]
        self.canaries = {"CANARY_" + name: value for name, value in {
            "FILE": self.file, "DIRECTORY": self.open_directory,
            "PID": str(self.processes[0].pid),
            "PIDS": " ".join(str(process.pid) for process in self.processes),
            "NAMESPACES": " ".join(f"{name}={os.readlink('/proc/self/ns/' + name)}"
                                   for name in ("user", "pid", "mnt", "net", "ipc", "uts",
                                                "cgroup")),
            "TCP": f"127.0.0.1:{self.listeners.tcp}", "UDP": f"127.0.0.1:{self.listeners.udp}",
            "ABSTRACT": self.listeners.abstract,
            "ABSTRACT_DATAGRAM": self.listeners.abstract_datagram,
            "SOCKET": self.listeners.path,
            "CGROUPS": " ".join(["/sys/fs/cgroup", *sorted(glob.glob("/sys/fs/cgroup/*/"))[:8]]),
        }.items()}
        self.before, self.mounts = self.state(), leftovers.mounts()
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.end()
        self.listeners.close()
        join_network(self.old_network)
        os.close(self.old_network)
        os.environ.pop("SANDBOXRUN_ESCAPE_SECRET", None)
        shutil.rmtree(self.directory)

    def state(self):
        info = os.stat(self.file)
        return {
            "a file of the host": (read(self.file), info.st_uid, stat.S_IMODE(info.st_mode),
                                   info.st_nlink),
            "a directory of the host": sorted(os.listdir(self.open_directory)),
            "the directory of the test": sorted(os.listdir(self.directory)),
            **{f"the setting {name}": read("/proc/sys/" + name) for name in SETTINGS},
            "the swap areas": read("/proc/swaps"),
            "the interfaces": socket.if_nameindex(),
            "the release agents": {path: read(path) for path in sorted(
                glob.glob("/sys/fs/cgroup/*/release_agent"))},
            "System V objects": [read("/proc/sysvipc/" + name) for name in ("msg", "sem", "shm")],
        }

    def left_behind(self):
        """Processes, cgroups, files and keys of sandboxes, all of which must be gone."""
        canaries = {process.pid for process in self.processes}
        found = []
        for path in glob.glob("/proc/[0-9]*"):
            pid = int(os.path.basename(path))
            try:
                if os.stat(path).st_uid in UIDS and pid not in canaries:
                    found.append(f"process {pid} is left")
            except OSError:
                continue
        found += [f"cgroup {path} is left" for path in sandboxes_below(PARENT)]
        found += [f"process {pid} is left in a cgroup" for pid in processes_below(PARENT)]
        places = ("/tmp", "/var/tmp", "/dev/shm", "/run")
        found += [f"file {path} is left" for path in leftovers.files_of(UIDS, places)]
        for line in (read("/proc/key-users") or "").splitlines():
            if int(line.split(":")[0]) in UIDS:
                found.append(f"keys are left: {line}")
        # Others may mount at the same time; what they take away again doesn't count.
        return found + [f"{mount} is left" for mount in sorted(leftovers.mounts() - self.mounts)]

    def changes(self):
        """All that is different from the last look. What runs leave behind has a moment to go."""
        end = time.monotonic() + SETTLE_S
        while (left := self.left_behind()) and time.monotonic() < end:
            time.sleep(0.02)
        now = self.state()
        changed = [f"{name} changed: {self.before[name]!r:.200} to {now[name]!r:.200}"
                   for name in now if now[name] != self.before[name]]
        self.before = now
        for process in self.processes:
            changed += process.changes()
        return left + changed + self.listeners.reached() + self.listeners.strangers()

