# SPDX-License-Identifier: Apache-2.0
"""A jailer and a resolver in the node of a pretend internet, and ToolCall runs in them.

    with Internet() as internet, Node(internet) as node:
        result = node.run(code, egress=protocol.encode_egress([("1.1.1.0/24", 3)]))
        with node.hold(code) as held:       # while the program of it goes on
            held.run("ip", "addr")
"""

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
import weakref

from helpers import internet as net
from helpers import jailer_protocol as protocol
from helpers.cgroup_tree import processes_below
from helpers.local import RUNTIMES, document, program, unprivileged
from helpers.netns import run_inside

PARENT = "sandboxrun-egress"
# Other jailers of this machine have other parents, and so must have other uids.
UID_BASE = "2100700000"
RESOLVER_UID = "65533"


class Jailer(protocol.Jailer):
    """With the resolver's socket besides."""

    def __init__(self, *args, resolver, **kwargs):
        self.resolver = resolver
        super().__init__(*args, **kwargs)

    def _spawn(self, options, *fds):
        number = self.resolver.fileno()
        super()._spawn([*options, "--resolver-fd", str(number)], *fds, number)


def resolver_command(internet, jailer_fd):
    """The resolver as in the Pod: its own uid, no capability, no way to another one."""
    return internet.node.enter(
        *unprivileged(RESOLVER_UID, program("sandboxrun-resolver"), "--jailer-fd", str(jailer_fd),
                      "--port", "0", "--upstream", net.DNS4))  # fmt: skip


def as_bytes(text):
    return text.encode() if isinstance(text, str) else text


class Node:
    def __init__(self, internet, *options):
        self.internet = internet
        self.options = options
        self.jailer = self.resolver = None
        self.resolver_log = tempfile.TemporaryFile()
        weakref.finalize(self, self.resolver_log.close)  # it is read after the end, too

    def __enter__(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            self.resolver = subprocess.Popen(
                resolver_command(self.internet, theirs.fileno()),
                pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL,
                stdout=self.resolver_log, stderr=self.resolver_log)  # fmt: skip
            self.jailer = Jailer(program("sandboxrun-jailer"), RUNTIMES, "--cgroup-parent", PARENT,
                                 "--uid-base", UID_BASE, *self.options, resolver=ours,
                                 wrapper=self.internet.node.enter())  # fmt: skip
            try:
                self.jailer.__enter__()
            except BaseException:
                self.end_resolver()
                raise
        try:
            self.check_profiles()
            self.wait_for_resolver()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def check_profiles(self):
        if not self.jailer.hello["profiles"] & 1 << protocol.TOOL_CALL:
            raise AssertionError(f"ToolCall is not offered: {self.unfit()}\n{self.logs()}")

    def wait_for_resolver(self):
        """Runs are refused until the resolver has said that it is ready."""
        until = time.monotonic() + 20
        while True:
            result = self.run("pass")
            if result.created:
                return
            waits = result.refused["lock"] == "network" and "resolver" in result.refused["text"]
            if not waits or time.monotonic() > until:
                raise AssertionError(f"{result.refused}\n{self.logs()}")
            time.sleep(0.02)

    def unfit(self):
        return [(check["name"], check["figure"], check["advice"]) for check in self.jailer.checks
                if check["outcome"] != protocol.OK]

    def logs(self):
        self.resolver_log.seek(0)
        return (self.jailer.log_text() + "--- resolver\n"
                + self.resolver_log.read().decode(errors="replace"))

    def end_resolver(self):
        if self.resolver.poll() is None:
            self.resolver.terminate()
        return self.resolver.wait(10)

    def stop(self):
        status = self.jailer.stop()
        self.end_resolver()
        return status

    def run(self, code, args=(), env=(), stdin=None, timeout_ms=120000, **create):
        return self.jailer.run(code, args=args, env=env, stdin=as_bytes(stdin),
                               timeout_ms=timeout_ms, **protocol.AS_TOOL_CALL | create)

    def run_json(self, code, **options):
        """What the program prints, as JSON; an error of its own is an error here."""
        result = self.run(code, **options)
        if not result.created:
            raise AssertionError(f"refused: {result.refused}\n{self.logs()}")
        if result.finished["end"] != protocol.END_EXITED or result.exit_code != 0:
            raise AssertionError(f"{result.finished}\n{result.stderr.decode(errors='replace')}")
        return json.loads(result.stdout)

    def hold(self, code, **options):
        return Held(self, code, **options)


HEAD = "import os\nprint(os.readlink('/proc/self/ns/net'), flush=True)\n"


class Held:
    """A run that goes on while the test does something else: the program reads lines from the
    test by no way but its network, so it sleeps or serves, and is killed at the end."""

    def __init__(self, node, code, timeout_ms=120000, args=(), env=(), stdin=None, **create):
        self.connection = node.jailer.connection
        self.sandbox = self.connection.create(**protocol.AS_TOOL_CALL | create)
        kind, fields, self.fds = self.connection.receive_about(self.sandbox, 30)
        if kind != protocol.CREATED:
            raise AssertionError(f"refused: {fields}")
        self.connection.send(protocol.START, id=self.sandbox, timeout_ms=timeout_ms)
        with open(self.fds[0], "wb") as request:
            request.write(protocol.encode_request(HEAD + code, args, env, as_bytes(stdin)))
        os.set_blocking(self.fds[1], True)
        self.output = open(self.fds[1], "rb")
        self.errors = open(self.fds[2], "rb")
        self.namespace_name = self.line()
        self.pid = self._find_process()
        self.finished = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def line(self):
        """The next line that the program prints."""
        line = self.output.readline().decode().strip()
        if not line:
            os.set_blocking(self.errors.fileno(), False)
            raise AssertionError(f"it ended early: {self.errors.read()}")
        return line

    def _find_process(self):
        for pid in processes_below(PARENT):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/ns/net") == self.namespace_name:
                    return pid
        raise AssertionError(f"nothing is in {self.namespace_name}")

    def run(self, *argv, input=None):
        """Runs argv as root in the sandbox's network namespace, as if every lock but the network
        rules were gone."""
        return run_inside(self.pid, *argv, input=input).stdout

    def kill(self):
        """Ends it, if it goes on; its last word."""
        if self.finished is None:
            with contextlib.suppress(OSError):
                self.connection.send(protocol.KILL, id=self.sandbox)
            kind, fields, _ = self.connection.receive_about(self.sandbox, 30)
            self.finished = fields
            self.output.close()
            self.errors.close()
        return self.finished


def local_run_documents(internet, documents):
    """`sandboxrun run -o json` in the node: the finished process of the command line. The name
    server of the machine's own configuration is the world's."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write(f"nameserver {net.DNS4}\n")
        file.flush()
        os.chmod(file.name, 0o644)  # the resolver reads it, as its own uid
        script = f'mount --bind {file.name} /etc/resolv.conf && exec "$@"'
        return subprocess.run(
            internet.node.enter("unshare", "--mount", "--propagation", "private", "sh", "-c",
                                script, "sh", program("sandboxrun"), "run", "--runtimes-dir",
                                RUNTIMES, "-o", "json", "-"),
            input="\n---\n".join(map(json.dumps, documents)), capture_output=True, text=True,
            timeout=300)  # fmt: skip


def local_run(internet, code, **spec):
    """The same of one program."""
    return local_run_documents(internet, [document(code, **{"profile": "ToolCall"} | spec)])
