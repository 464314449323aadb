# SPDX-License-Identifier: Apache-2.0
"""The cgroups of this machine as a test sees them, and programs that run beside the test."""

import contextlib
import glob
import json
import os
import signal
import subprocess
import tempfile
import time

from helpers import local

MOUNT = "/sys/fs/cgroup"
PARENT = os.path.join(MOUNT, "sandboxrun")
WITHIN_S = 40
# Below these uids nobody but the sandboxes' users lives here.
FIRST_SANDBOX_UID = 100000


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read().strip()


def write(text, *path):
    with open(os.path.join(*path), "w", encoding="ascii") as file:
        file.write(text)


def sandboxes(parent=PARENT):
    """Cgroups of the sandboxes that exist."""
    return sorted(path.rstrip("/") for path in glob.glob(os.path.join(parent, "jailer-*/*/")))


def processes(cgroup):
    return [int(pid) for pid in read(cgroup, "cgroup.procs").split()]


def wait_for(condition, what):
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {WITHIN_S} s: {what}")


def sandbox_processes():
    """Processes of this machine that run as a sandbox's user, the dead ones left out."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            fields = dict(line.split(":", 1) for line in read("/proc", pid, "status").splitlines()
                          if ":" in line)
            uid, state = int(fields["Uid"].split()[0]), fields["State"].split()[0]
            if uid >= FIRST_SANDBOX_UID and state not in "ZX":
                found.append(int(pid))
    return found


class Run:
    """`sandboxrun run` of one document beside the test; ended, if need be, by SIGINT."""

    def __init__(self, code, *options, **spec):
        self.stdout = self.stderr = None
        self.input = tempfile.TemporaryFile()
        self.input.write(json.dumps(local.document(code, **(local.TIMEOUT | spec))).encode())
        self.input.seek(0)
        self.process = subprocess.Popen(
            [local.program("sandboxrun"), "run", "--runtimes-dir", local.RUNTIMES, *options, "-"],
            stdin=self.input, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
        self.input.close()

    def line(self):
        line = self.process.stdout.readline().decode()
        if not line:
            raise AssertionError(f"it ended without a word: {self.end()[1]}")
        return line.rstrip("\n")

    def end(self):
        """Ends it if it hasn't ended; exit status and stderr."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self):
        """Exit status and stderr."""
        if self.stderr is None:
            stdout, stderr = self.process.communicate(timeout=WITHIN_S)
            self.stdout = stdout.decode(errors="replace")
            self.stderr = stderr.decode(errors="replace")
        return self.process.returncode, self.stderr

    def status(self):
        """The status of a run with `-o json`."""
        self.wait()
        return json.loads(self.stdout)["status"]

    def jailer(self):
        """Pid of the jailer that it has started."""
        pid = self.process.pid
        children = read(f"/proc/{pid}/task/{pid}/children").split()
        named = [int(child) for child in children
                 if read(f"/proc/{child}/comm").startswith("sandboxrun-jail")]
        if len(named) != 1:
            raise AssertionError(f"not one jailer: {children}")
        return named[0]


@contextlib.contextmanager
def jailer_wrapper(*commands):
    """A program for --jailer that does the shell commands first; its last word is the jailer."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "sandboxrun-jailer")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nset -e\n" + "\n".join(commands) + "\n")
        os.chmod(path, 0o755)
        yield path


@contextlib.contextmanager
def cgroup(name, controllers=("memory", "cpu", "pids")):
    """An empty cgroup at the root, with the controllers or some of them."""
    path = os.path.join(MOUNT, name)
    with open(os.path.join(MOUNT, "cgroup.subtree_control"), "w", encoding="ascii") as file:
        file.write(" ".join("+" + controller for controller in ("memory", "cpu", "pids")))
    os.mkdir(path)
    inner = os.path.join(path, "inner")
    try:
        with open(os.path.join(path, "cgroup.subtree_control"), "w", encoding="ascii") as file:
            file.write(" ".join("+" + controller for controller in controllers))
        os.mkdir(inner)
        yield inner
    finally:
        for directory in (inner, path):
            with contextlib.suppress(FileNotFoundError):
                os.rmdir(directory)
