# SPDX-License-Identifier: Apache-2.0
"""The agent's side of the jailer's protocol, at the level of bytes, for tests of the jail.

Knows node-agent/proto/proto.h by its own table, so that a test sees what is on the wire, and sends
what the C codec would never write: other lengths, other types, words out of turn, descriptors.

    with Jailer(binary, runtimes) as jailer:
        result = jailer.run("print(1)")
        assert result.stdout == b"1\\n" and result.finished["end"] == END_EXITED
"""

import array
import contextlib
import ctypes
import dataclasses
import ipaddress
import os
import selectors
import signal
import socket
import struct
import subprocess
import tempfile
import time
import uuid
import weakref

from helpers import kinds
from helpers.libc import checked, libc
from helpers.local import EMULATED, PATIENCE

HELLO, CREATE, CREATED, START, REFUSED, KILL, FINISHED = range(1, 8)
CHECK, NOTICE, POOL = 9, 11, 13
NAMES = dict(enumerate("HELLO CREATE CREATED START REFUSED KILL FINISHED".split(), 1))
NAMES |= {CHECK: "CHECK", NOTICE: "NOTICE", POOL: "POOL"}
NOTICE_WAITING, NOTICE_STOPPING = 1, 2

END_EXITED, END_DEADLINE, END_OOM, END_KILLED, END_REAPER, END_SHUTDOWN, END_FORBIDDEN = range(1, 8)

REQUIRED, RECOMMENDED, INFORMATION = range(1, 4)
OK, FAILED, SKIPPED = range(1, 4)

SNIPPET, TOOL_CALL = 0, 1
MAX_MESSAGE = 4096
START_WITHIN_SECONDS = 10
# Of a run that says nothing else: what is usual, or the most where the machine is emulated.
TIMEOUT_MS = 60_000 if EMULATED else 20_000
MIB = 1 << 20
GATE_WITHIN_S = 30 * PATIENCE

# Each profile with its own memory and processor, as the arguments of Connection.create().
AS_SNIPPET = {"profile": SNIPPET, "memory": 512 * MIB, "cpu": 1000}
AS_TOOL_CALL = {"profile": TOOL_CALL, "memory": 1024 * MIB, "cpu": 2000}

MAX_RUNTIMES = 16
MAX_DENIED = 16
RUNTIME = "64s40s"

HTTP, HTTPS = 1, 2  # bits of a rule's ports
MAX_PREFIXES = 64
MAX_NAMES = 16
NAMES_SIZE = 1024
MAX_DENIED_NETWORK = 24
MAX_DENIED_NAMES = 8
EGRESS = f"<II{MAX_PREFIXES * 19}sI{MAX_NAMES * 3}sI{NAMES_SIZE}s"
DENIED_NETWORK = "<BBHI16s"
DENIED_NAME = "<I256s"

# Fields in the order of the wire, with their struct codes; all packed, little-endian.
FIELDS = {
    HELLO: [("version", "I"), ("cgroup_version", "I"), ("profiles", "I"), ("max_runs", "I"),
            ("memory_bytes", "Q"), ("cpu_milli", "Q"), ("runtime_count", "I"),
            ("runtimes", f"{MAX_RUNTIMES * struct.calcsize('<' + RUNTIME)}s"), ("kernel", "72s"),
            ("landlock_abi", "I")],
    CREATE: [("id", "40s"), ("profile", "I"), ("runtime", "64s"), ("cpu_milli", "I"),
             ("memory_bytes", "Q"), ("egress", f"{struct.calcsize(EGRESS)}s")],
    CREATED: [("id", "40s"), ("warm", "I")],
    POOL: [("runtime", "64s"), ("profile", "I"), ("waiting", "I"), ("size", "I"), ("hits", "Q"),
           ("misses", "Q"), ("made", "Q"), ("forked", "Q"),
           ("made_us", "Q")],
    START: [("id", "40s"), ("timeout_ms", "I"), ("not_after_boottime_ns", "Q")],
    REFUSED: [("id", "40s"), ("errnum", "I"), ("lock", "32s"), ("text", "512s")],
    KILL: [("id", "40s")],
    CHECK: [("level", "I"), ("outcome", "I"), ("name", "80s"), ("figure", "256s"),
            ("advice", "512s")],
    NOTICE: [("kind", "I")],
    FINISHED: [("id", "40s"), ("end", "I"), ("wait_status", "i"), ("has_status", "I"),
               ("oom_kills", "I"), ("wall_us", "Q"), ("cpu_us", "Q"),
               ("peak_memory_bytes", "Q"), ("timeout_ms", "I"), ("forbidden_call", "i"),
               ("denied_more", "I"), ("denied_count", "I"), ("denied", f"{MAX_DENIED * 8}s"),
               ("denied_network_count", "I"), ("denied_network", f"{MAX_DENIED_NETWORK * 24}s"),
               ("denied_name_count", "I"), ("denied_names", f"{MAX_DENIED_NAMES * 260}s"),
               ("denied_network_more", "I")],
}  # fmt: skip


def _struct(kind):
    return struct.Struct("<II" + "".join(code for _, code in FIELDS[kind]))


def new_id():
    return str(uuid.uuid4())


def encode(kind, **fields):
    """One message. Strings may be str or bytes; what isn't given is zero or empty."""
    values = []
    for name, code in FIELDS[kind]:
        value = fields.pop(name, b"" if code.endswith("s") else 0)
        values.append(value.encode() if isinstance(value, str) else value)
    if fields:
        raise ValueError(f"{NAMES[kind]} has no {', '.join(fields)}")
    packer = _struct(kind)
    return packer.pack(kind, packer.size, *values)


def encode_egress(prefixes=(), names=(), has_rules=1):
    """The rules of PROTO_CREATE: (prefix, ports) and (name, ports) of what is allowed."""
    packed = b""
    for text, ports in prefixes:
        prefix = ipaddress.ip_network(text)
        packed += struct.pack("<BBB16s", prefix.version, prefix.prefixlen, ports,
                              prefix.network_address.packed)  # fmt: skip
    entries, texts = b"", b""
    for name, ports in names:
        entries += struct.pack("<BH", ports, len(texts))
        texts += name.encode() + b"\0"
    return struct.pack(EGRESS, has_rules, len(prefixes), packed, len(names), entries, len(texts),
                       texts)  # fmt: skip


def _denied_network(value):
    """[(address, protocol number, port, count)]"""
    return [
        (str(ipaddress.ip_address(address[: 4 if family == 4 else 16])), protocol, port, count)
        for family, protocol, port, count, address in struct.iter_unpack(DENIED_NETWORK, value)
        if count
    ]


def _denied_names(value):
    """[(name, count)]"""
    return [(_text(name), count) for count, name in struct.iter_unpack(DENIED_NAME, value) if count]


def _text(value):
    return value.rstrip(b"\0").decode()


def decode(data):
    """(type, dictionary of fields) of a message of the jailer."""
    kind, length = struct.unpack_from("<II", data)
    if length != len(data) or kind not in FIELDS:
        raise ValueError(f"a message of {len(data)} bytes, type {kind}, says {length}")
    values = _struct(kind).unpack(data)[2:]
    fields = {}
    for (name, code), value in zip(FIELDS[kind], values, strict=True):
        if name == "runtimes":
            value = [tuple(map(_text, entry)) for entry in struct.iter_unpack("<" + RUNTIME, value)]
            value = [entry for entry in value if entry[0]]
        elif name == "denied":
            value = [entry for entry in struct.iter_unpack("<iI", value) if entry[1]]
        elif name == "denied_network":
            value = _denied_network(value)
        elif name == "denied_names":
            value = _denied_names(value)
        elif code.endswith("s"):
            value = _text(value)
        fields[name] = value
    return kind, fields


def encode_request(code, args=(), env=(), stdin=None):
    """The bytes that the runner inside reads from its request channel."""

    def string(value):
        value = value.encode() if isinstance(value, str) else value
        return struct.pack("<I", len(value)) + value

    code = code.encode() if isinstance(code, str) else code
    head = struct.pack("<4s6I", b"SBRQ", 1, 1 if stdin is not None else 0, len(args), len(env),
                       len(code), len(stdin or b""))
    parts = [head, code, stdin or b""]
    parts += [string(arg) for arg in args]
    parts += [string(name) + string(value) for name, value in env]
    return b"".join(parts)


# Pipes of the request, of stdout and stderr; and the timer.
CREATED_FDS = 4


class ConnectionEnded(Exception):
    """The jailer has closed the connection."""


class Connection:
    """A connected SOCK_SEQPACKET socket with one message a datagram.

    timer: of the sandbox that was made last; most tests rely on the jailer's own.
    gate: of tests that are run for a kind of sandbox (kinds.py); what is said of pools is for it.
    """

    def __init__(self, sock, gate=None):
        self.sock = sock
        self.gate = gate
        self.waiting = []
        self.timer = None

    def close(self):
        self._drop_timer()
        self.sock.close()

    def _drop_timer(self):
        if self.timer is not None:
            os.close(self.timer)
        self.timer = None

    def send(self, kind, **fields):
        self.send_raw(encode(kind, **fields))

    def send_raw(self, data, fds=()):
        control = []
        if fds:
            control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
        self.sock.sendmsg([data], control)

    def receive(self, timeout=10):
        """(type, fields, descriptors) of the next message."""
        if self.waiting:
            return self.waiting.pop(0)
        return self._receive(timeout)

    def _receive(self, timeout):
        until = time.monotonic() + timeout
        while True:
            message = self._read(max(0.001, until - time.monotonic()))
            if not self.gate:
                return message
            self.gate.hear(NAMES[message[0]], message[1])
            if message[0] != POOL:
                return message

    def _read(self, timeout):
        self.sock.settimeout(timeout)
        try:
            data, fds, _, _ = socket.recv_fds(self.sock, MAX_MESSAGE + 1, 8)
        except ConnectionResetError:
            raise ConnectionEnded from None
        if not data:
            raise ConnectionEnded
        if len(fds) == CREATED_FDS:
            self._drop_timer()
            self.timer = fds.pop()
        return *decode(data), fds

    def receive_about(self, sandbox, timeout=10):
        """As receive(), of the words about one sandbox; the others stay for later."""
        for index, message in enumerate(self.waiting):
            if message[1].get("id") == sandbox:
                return self.waiting.pop(index)
        until = time.monotonic() + timeout
        while True:
            message = self._receive(max(0.001, until - time.monotonic()))
            if message[1].get("id") == sandbox:
                return message
            self.waiting.append(message)

    def create(self, sandbox=None, runtime="python3.12", memory=512 * MIB, cpu=1000,
               profile=SNIPPET, egress=b""):  # fmt: skip
        fields = {"id": sandbox or new_id(), "profile": profile, "runtime": runtime,
                  "cpu_milli": cpu, "memory_bytes": memory, "egress": egress}  # fmt: skip
        if self.gate:
            self._wait_at_the_gate(fields)
        self.send(CREATE, **fields)
        return fields["id"]

    def _wait_at_the_gate(self, create):
        until = time.monotonic() + GATE_WITHIN_S
        while not self.gate.may_ask(create):
            if time.monotonic() > until:
                raise AssertionError(f"no sandbox has waited within {GATE_WITHIN_S} s")
            message = self._read(max(0.001, until - time.monotonic()))
            self.gate.hear(NAMES[message[0]], message[1])
            if message[0] != POOL:
                self.waiting.append(message)
        self.gate.ask(create)


@dataclasses.dataclass
class Result:
    """What a run ended with; created is False if it was refused (see refused)."""

    sandbox: str
    created: bool = False
    stdout: bytes = b""
    stderr: bytes = b""
    refused: dict | None = None
    finished: dict | None = None

    @property
    def exit_code(self):
        return os.waitstatus_to_exitcode(self.finished["wait_status"])


def set_timer(fd, seconds):
    """As an agent does with the timer of a sandbox, before it starts it."""
    class Spec(ctypes.Structure):
        _fields_ = [(name, ctypes.c_long) for name in ("every_s", "every_ns", "in_s", "in_ns")]

    spec = Spec(0, 0, int(seconds), int(seconds % 1 * 1e9))
    checked(libc.timerfd_settime(fd, 0, ctypes.byref(spec), None), "timerfd_settime")


class Streams:
    """Writes a request and reads both streams until the last word about the sandbox comes."""

    def __init__(self, connection, sandbox, fds, request):
        self.connection = connection
        self.sandbox = sandbox
        self.output = {fds[1]: bytearray(), fds[2]: bytearray()}
        self.order = fds
        self.request = memoryview(request)
        self.selector = selectors.DefaultSelector()
        self.selector.register(fds[0], selectors.EVENT_WRITE)
        self.selector.register(fds[1], selectors.EVENT_READ)
        self.selector.register(fds[2], selectors.EVENT_READ)
        self.selector.register(connection.sock, selectors.EVENT_READ)

    def _drop(self, fd):
        self.selector.unregister(fd)
        os.close(fd)

    def _write(self, fd):
        try:
            self.request = self.request[os.write(fd, self.request[:65536]) :]
        except BrokenPipeError:
            self.request = self.request[:0]
        if not self.request:
            self._drop(fd)

    def _read(self, fd):
        data = os.read(fd, 65536)
        self.output[fd] += data
        if not data:
            self._drop(fd)

    def _drain(self):
        for fd in list(self.selector.get_map()):
            if fd in self.output:
                with contextlib.suppress(BlockingIOError):
                    while data := os.read(fd, 65536):
                        self.output[fd] += data
            if fd != self.connection.sock.fileno():
                self._drop(fd)
        self.selector.close()

    def until_last_word(self, timeout):
        end = time.monotonic() + timeout
        kind, fields = None, None
        while kind not in (FINISHED, REFUSED):
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no last word about {self.sandbox} within {timeout} s")
            for key, _ in self.selector.select(left):
                if key.fd == self.order[0]:
                    self._write(key.fd)
                elif key.fd in self.output:
                    self._read(key.fd)
                else:
                    # What has come may be about something else: the streams are not kept waiting.
                    with contextlib.suppress(TimeoutError):
                        kind, fields, _ = self.connection.receive_about(self.sandbox, 0)
        self._drain()
        return kind, fields, bytes(self.output[self.order[1]]), bytes(self.output[self.order[2]])


def finish(connection, sandbox, fds, code, args=(), env=(), stdin=None,
           timeout_ms=TIMEOUT_MS, wait=90):  # fmt: skip
    """A run from PROTO_CREATED, which came with fds, to its last word."""
    result = Result(sandbox, created=True)
    for fd in fds:
        os.set_blocking(fd, False)
    streams = Streams(connection, sandbox, fds, encode_request(code, args, env, stdin))
    connection.send(START, id=sandbox, timeout_ms=timeout_ms)
    kind, fields, result.stdout, result.stderr = streams.until_last_word(wait)
    if kind == REFUSED:
        result.refused = fields
    else:
        result.finished = fields
    return result


def run(connection, code, wait=90, args=(), env=(), stdin=None, timeout_ms=TIMEOUT_MS, **create):
    """One run from PROTO_CREATE to its last word."""
    sandbox = connection.create(**create)
    kind, fields, fds = connection.receive_about(sandbox, wait)
    if kind == CREATED:
        return finish(connection, sandbox, fds, code, args, env, stdin, timeout_ms, wait)
    return Result(sandbox, **{"refused" if kind == REFUSED else "finished": fields})


class Jailer:
    """A jailer of the test's own: by a socketpair, or with socket=True by a listening socket.

    waiting: so many sandboxes wait in it, and each run gets one; where tests are run for such, that
    is what they get unless they say otherwise.
    """

    def __init__(self, binary, runtimes, *options, socket=False, wrapper=(), waiting=None):
        if waiting is None and kinds.current.gives_pools:
            waiting = kinds.WAITING
        self.gate = kinds.current.gate() if waiting else None
        pool = kinds.current.kind.options(waiting) if waiting else ()
        self.command = [*wrapper, binary, "--runtimes-dir", runtimes, "--log-level", "debug",
                        "--log-format", "text", *pool, *options]  # fmt: skip
        self.listens = socket
        self.directory = None
        self.process = None
        self.connection = None
        self.hello = None
        self.checks = []  # what a listening jailer says before its hello
        self.log = tempfile.TemporaryFile()
        weakref.finalize(self, self.log.close)  # it is read after the end, too
        kinds.current.knows(self)

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.stop(signal.SIGKILL)
            raise
        return self

    def _start(self):
        if self.listens:
            self.directory = tempfile.TemporaryDirectory()
            self.path = os.path.join(self.directory.name, "jailer.sock")
            self._spawn(["--socket", self.path, "--peer-uid", str(os.getuid())])
        else:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.connection = Connection(ours, self.gate)
            with theirs:
                self._spawn(["--fd", str(theirs.fileno())], theirs.fileno())
            self.hello = self._receive_hello()

    def __exit__(self, *_):
        self.stop()

    def _spawn(self, options, *fds):
        self.process = subprocess.Popen(
            self.command + options, pass_fds=fds, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log)  # fmt: skip

    def _receive_hello(self):
        try:
            kind, fields, _ = self.connection.receive(30)
            self.checks = []
            while kind == CHECK:
                self.checks.append(fields)
                kind, fields, _ = self.connection.receive(30)
        except ConnectionEnded:
            self.process.wait(10)
            raise RuntimeError(f"the jailer did not start: {self.log_text()}") from None
        if kind != HELLO:
            raise RuntimeError(f"{NAMES[kind]} in place of HELLO")
        return fields

    def _connect_to(self, path, timeout):
        """A socket that is connected to one on which the jailer listens, or will soon."""
        until = time.monotonic() + timeout
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        while True:
            try:
                sock.connect(path)
                return sock
            except (FileNotFoundError, ConnectionRefusedError):
                if time.monotonic() > until or self.process.poll() is not None:
                    sock.close()
                    raise RuntimeError(f"the jailer does not listen: {self.log_text()}") from None
                time.sleep(0.01)

    def connect(self, timeout=10):
        """A new connection to a listening jailer."""
        self.connection = Connection(self._connect_to(self.path, timeout), self.gate)
        self.hello = self._receive_hello()
        return self.connection

    def run(self, code, **options):
        return run(self.connection, code, **options)

    def log_text(self, start=0):
        """What it has said, from a number of bytes on."""
        # Where this process would read is where the jailer writes next.
        fd = self.log.fileno()
        return os.pread(fd, os.fstat(fd).st_size, start).decode(errors="replace")

    def stop(self, signum=signal.SIGTERM, timeout=20):
        """Ends the jailer; its exit status, or None if it has never been started."""
        if self.connection:
            self.connection.close()
        status = None
        if self.process:
            if self.process.poll() is None:
                self.process.send_signal(signum)
            status = self.process.wait(timeout)
        if self.directory:
            self.directory.cleanup()
        return status
