# SPDX-License-Identifier: Apache-2.0
"""Stands between the command line and its jailer, for tests of a kind of sandbox (kinds.py).

    kinds_relay.py KIND WAITING DIRECTORY JAILER [OPTION...]

becomes the jailer, with a pool of WAITING sandboxes, and leaves a process behind that passes all
words on. A run is asked for when a sandbox waits for it; one that gets another kind is refused.
Each that gets the right one is counted in DIRECTORY.
"""

import contextlib
import errno
import fcntl
import os
import selectors
import socket
import sys
import time
import traceback

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from helpers import jailer_protocol as protocol  # noqa: E402
from helpers import kinds  # noqa: E402

MAX_MESSAGE, MAX_FDS = 1 << 16, 16
WAIT_S = 60


class Relay:
    def __init__(self, agent, jailer, tests):
        self.agent, self.jailer = agent, jailer
        self.gate = tests.gate()
        self.kind = tests.kind.name
        self.held = []       # (when, id, data) of what waits for a sandbox, in order
        self.refused = set()  # ids about which the agent hears nothing more
        self.selector = selectors.DefaultSelector()
        self.selector.register(agent, selectors.EVENT_READ, self.from_agent)
        self.selector.register(jailer, selectors.EVENT_READ, self.from_jailer)

    def run(self):
        while self.jailer in self.selector.get_map():
            for key, _ in self.selector.select(1.0):
                data, fds, _, _ = receive(key.fileobj)
                key.data(data, fds)
                for fd in fds:
                    os.close(fd)
            self.pass_held()

    def from_agent(self, data, fds):
        if not data:
            self.selector.unregister(self.agent)
            self.jailer.shutdown(socket.SHUT_WR)
            return
        kind, fields = decode(data)
        sandbox = fields.get("id")
        if any(held == sandbox for _, held, _ in self.held) or \
                (kind == protocol.CREATE and not self.gate.may_ask(fields)):
            self.held.append((time.monotonic(), sandbox, data))
        else:
            self.to_jailer(kind, fields, data, fds)

    def to_jailer(self, kind, fields, data, fds=()):
        if kind == protocol.CREATE:
            self.gate.ask(fields)
        send(self.jailer, data, fds)

    def pass_held(self):
        held, self.held = self.held, []
        for when, sandbox, data in held:
            kind, fields = decode(data)
            if any(other == sandbox for _, other, _ in self.held):
                self.held.append((when, sandbox, data))
            elif kind != protocol.CREATE or self.gate.may_ask(fields):
                self.to_jailer(kind, fields, data)
            elif time.monotonic() > when + WAIT_S:
                self.refuse(sandbox, f"no {self.kind} sandbox has waited within {WAIT_S} s")
            else:
                self.held.append((when, sandbox, data))

    def from_jailer(self, data, fds):
        if not data:
            self.selector.unregister(self.jailer)
            return
        kind, fields = decode(data)
        if fields.get("id") in self.refused:
            return
        try:
            self.gate.hear(protocol.NAMES.get(kind), fields)
        except kinds.WrongKind as wrong:
            send(self.jailer, protocol.encode(protocol.KILL, id=fields["id"]))
            self.refuse(fields["id"], str(wrong))
        else:
            send(self.agent, data, fds)

    def refuse(self, sandbox, why):
        self.refused.add(sandbox)
        send(self.agent, protocol.encode(protocol.REFUSED, id=sandbox, errnum=errno.EPROTO,
                                         lock="request", text=why))


def receive(sock):
    try:
        return socket.recv_fds(sock, MAX_MESSAGE, MAX_FDS)
    except ConnectionResetError:
        return b"", [], 0, None


def send(sock, data, fds=()):
    """To one that has gone, nothing."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        socket.send_fds(sock, [data], fds)


def decode(data):
    """What isn't a message of the protocol is passed on as it is."""
    try:
        return protocol.decode(data)
    except Exception:
        return None, {}


def above(fd):
    """The same, above what programs expect at numbers of their own."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD, 16)


def leave_behind(agent, jailer, name, directory):
    """Nothing of the jailer's is kept open, and what ends the command line's group passes by."""
    agent, jailer = above(agent), above(jailer)
    os.setsid()
    os.dup2(os.open("/dev/null", os.O_RDWR), 0)
    os.dup2(0, 1)
    os.dup2(os.open(os.path.join(directory, "broken"), os.O_WRONLY | os.O_APPEND), 2)
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd > 2 and fd not in (agent, jailer):
            with contextlib.suppress(OSError):  # that of the directory
                os.close(fd)
    try:
        Relay(socket.socket(fileno=agent), socket.socket(fileno=jailer), kinds.Tests(kinds.KINDS[name], directory)).run()
    except BaseException:
        traceback.print_exc()


def main(argv):
    name, waiting, directory, program, *options = argv[1:]
    if "--fd" not in options or "--check" in options:
        os.execv(program, [program, *options])
    agent = int(options[options.index("--fd") + 1])
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            theirs.close()
            leave_behind(agent, ours.fileno(), name, directory)
        os._exit(0)
    os.waitpid(middle, 0)
    ours.close()
    os.dup2(theirs.fileno(), agent)
    os.execv(program, [program, *options, *kinds.KINDS[name].options(int(waiting))])


if __name__ == "__main__":
    main(sys.argv)
