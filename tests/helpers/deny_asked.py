# SPDX-License-Identifier: Apache-2.0
"""Runs a program for which a system call fails that only its file, its turn or its caller's name
tells from others that must go on. deny.py does what a filter can see by itself.

    deny_asked.py CALL[:ARGUMENT=VALUE[/MASK]]... [--file PATTERN] [--caller NAME]
                  [--since N] [--every N] [--errno N] [--meanwhile COMMAND]
                  -- PROGRAM [ARGUMENT...]

Each such call waits for a process of ours (seccomp_unotify(2)) that lets it go on or answers it.
That process knows the file of a write(2) by its descriptor, of others by the name that they give;
the program stands still all the while and shares no memory with another that runs, so what is read
of it is what the kernel goes by. There is one such listener for a tree of filters: beyond these
calls, a program that makes one of its own gets EBUSY.

With --meanwhile no call is refused: a shell runs the command before the N-th goes on.
"""

import argparse
import errno
import fcntl
import fnmatch
import os
import select
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import deny  # noqa: E402 (a wrapper is run by its path)

SECCOMP_FILTER_FLAG_NEW_LISTENER = 8
NOTIFY = 0x7FC00000
CONTINUE = 1
NOTIFICATION = struct.Struct("=QII" + "iIQ6Q")  # id, pid, flags, struct seccomp_data
ANSWER = struct.Struct("=QqiI")  # id, value, error, flags
RECEIVE = 0xC0002100 | NOTIFICATION.size << 16
SEND = 0xC0002101 | ANSWER.size << 16
MAX_PATH = 4096


def name_at(pid, address):
    """The string at an address of a process that stands still."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(MAX_PATH).split(b"\0")[0].decode()


def file_of(call, pid, arguments):
    if call in ("openat", "mkdirat", "mount"):
        return name_at(pid, arguments[1])
    return os.readlink(f"/proc/{pid}/fd/{arguments[0]}")


def caller_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
        return comm.read().strip()


class Answers:
    """What becomes of each call."""

    def __init__(self, options):
        self.options = options
        self.call = options.rule.partition(":")[0]
        self.turn = 0

    def refuses(self, pid, arguments):
        options = self.options
        if options.file and not fnmatch.fnmatchcase(file_of(self.call, pid, arguments),
                                                    options.file):  # fmt: skip
            return False
        if options.caller and caller_of(pid) != options.caller:
            return False
        self.turn += 1
        if options.meanwhile:
            if self.turn == options.since:
                subprocess.run(options.meanwhile, shell=True, check=False)
            return False
        return self.turn >= options.since and self.turn % options.every == 0

    def serve(self, listener):
        """Until nobody is left who has the filter."""
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        while not poll.poll()[0][1] & (select.POLLHUP | select.POLLERR):
            message = bytearray(NOTIFICATION.size)
            # A caller that has died meanwhile: ENOENT.
            try:
                fcntl.ioctl(listener, RECEIVE, message)
                number, pid, _, _, _, _, *arguments = NOTIFICATION.unpack(message)
                refused = self.refuses(pid, arguments)
                answer = ANSWER.pack(number, 0, -self.options.errno if refused else 0,
                                     0 if refused else CONTINUE)  # fmt: skip
                fcntl.ioctl(listener, SEND, bytearray(answer))
            except OSError as error:
                if error.errno != errno.ENOENT:
                    raise


def serve_apart(options, ours):
    """In a process that is nobody's child, so that the program has no child it doesn't know."""
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
    _, (listener,), _, _ = socket.recv_fds(ours, 1, 1)
    os.dup2(listener, 3)
    os.closerange(4, 65536)
    try:
        Answers(options).serve(3)
    finally:
        os._exit(0)


def main():
    parser = argparse.ArgumentParser(prog="deny_asked.py")
    parser.add_argument("rule")
    parser.add_argument("--file")
    parser.add_argument("--caller")
    parser.add_argument("--since", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--meanwhile")
    parser.add_argument("--errno", type=int, default=errno.EPERM)
    end = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:end])
    command = sys.argv[end + 1 :]

    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        theirs.close()
        serve_apart(options, ours)
    os.waitpid(child, 0)
    ours.close()
    code = deny.compile_rules([options.rule], NOTIFY)
    listener = deny.install(code, SECCOMP_FILTER_FLAG_NEW_LISTENER)
    socket.send_fds(theirs, [b"l"], [listener])
    os.execvp(command[0], command)


def denying_asked(rule, **options):
    """The words before a program's own that run it so: denying_asked("write", file="*/pids.max")."""
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return (sys.executable, os.path.abspath(__file__), rule, *words, "--")


if __name__ == "__main__":
    main()
