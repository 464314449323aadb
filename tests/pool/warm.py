# SPDX-License-Identifier: Apache-2.0
"""Jailers with pools, for the tests of those. Which kind of sandbox waits in them is the layer's."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time

from helpers import jailer_protocol as protocol
from helpers import kinds
from helpers.jailer_process import descriptors_of
from helpers.local import PATIENCE, RUNTIMES, program

PARENT = "sandboxrun-pool"
# Other jailers of this machine have other parents, and so must have other uids.
OPTIONS = ("--cgroup-parent", PARENT, "--uid-base", "2100800000")
# A jailer that is making a sandbox tells of it sooner.
QUIET_S = 0.5


def new_jailer(*options, runtimes=RUNTIMES, **others):
    return protocol.Jailer(program("sandboxrun-jailer"), runtimes, *OPTIONS, *options, **others)


def gated_jailer(waiting=8):
    """Each run of it gets a sandbox that has waited, or it is an error."""
    return new_jailer(waiting=waiting)


def runtime_alone(add_cleanup):
    """A directory with one runtime and no other."""
    directory = tempfile.mkdtemp(prefix="sandboxrun-pool-")
    add_cleanup(shutil.rmtree, directory)
    # By its names where both are in one file system.
    same = os.stat(RUNTIMES).st_dev == os.stat(directory).st_dev
    subprocess.run(["cp", "-al" if same else "-a", os.path.join(RUNTIMES, "python3.12"),
                    os.path.join(directory, "python3.12")], check=True)
    return directory


def runtimes_with_runner(test, text):
    """A directory with a runtime whose runner is this program; it goes with the test."""
    directory = runtime_alone(test.addCleanup)
    root = os.path.join(directory, "python3.12")
    compiled = os.path.join(root, "usr/lib/sandboxrun/runner.pyc")
    os.unlink(compiled)  # the runtime's own has another name for the same file
    with open(os.path.join(root, "runner.py"), "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["chroot", root, "/usr/bin/python3", "-I", "-c", "import py_compile; "
                    "py_compile.compile('/runner.py', '/usr/lib/sandboxrun/runner.pyc', "
                    "doraise=True)"], check=True)
    return directory


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def kinds_of_descriptors(jailer):
    return sorted(link.split(":")[0] for link in descriptors_of(jailer)[0])


class Pool:
    """A jailer with a pool, and what it has said of that."""

    def __init__(self, least, most, *options, **others):
        self.jailer = new_jailer(*kinds.current.kind.options(least, most), *options, **others)
        self.said = {}

    def __enter__(self):
        self.jailer.__enter__()
        return self

    def __exit__(self, *_):
        self.jailer.__exit__()

    def listen(self, timeout):
        """Takes in one message about a pool."""
        connection = self.jailer.connection
        for index, message in enumerate(connection.waiting):
            if message[0] == protocol.POOL:
                connection.waiting.pop(index)
                self.said[message[1]["runtime"]] = message[1]
                return
        with contextlib.suppress(TimeoutError):
            connection.waiting.append(connection._receive(timeout))

    def wait(self, condition, runtime="python3.12", seconds=30):
        until = time.monotonic() + seconds * PATIENCE
        while not (runtime in self.said and condition(self.said[runtime])):
            if time.monotonic() > until:
                raise AssertionError(f"not within {seconds} s: {self.said}")
            self.listen(1)
        return self.said[runtime]

    def wait_at_rest(self, condition, runtime="python3.12", seconds=30):
        """The same, and until it has nothing more to say: what it had said before is no more true."""
        until = time.monotonic() + seconds * PATIENCE
        while True:
            if time.monotonic() > until:
                raise AssertionError(f"not at rest within {seconds} s: {self.said}")
            before = len(self.jailer.connection.waiting), dict(self.said)
            self.listen(QUIET_S)
            now = len(self.jailer.connection.waiting), self.said
            if before == now and runtime in self.said and condition(self.said[runtime]):
                return self.said[runtime]

    def got(self, warm):
        """By default it must be of the kind that the layer is run for."""
        kinds.current.got(warm)

    def run(self, code, **options):
        """A run, and whether it got a sandbox that was made ahead, as its kind is made."""
        connection = self.jailer.connection
        sandbox = connection.create(**{name: options.pop(name) for name in ("memory", "cpu")
                                       if name in options})
        kind, fields, fds = connection.receive_about(sandbox)
        if kind != protocol.CREATED:
            raise AssertionError(fields)
        if fields["warm"]:
            self.got(fields["warm"])
        result = protocol.finish(connection, sandbox, fds, code, **options)
        return result, bool(fields["warm"])
