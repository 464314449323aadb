# SPDX-License-Identifier: Apache-2.0
"""A jailer that is told to stop, and the next one of the same node, in the protocol's own words."""

import contextlib
import errno
import os
import signal
import tempfile
import time
import unittest

from helpers import jailer_protocol as protocol
from helpers.cgroup_tree import processes_below, sandboxes_below
from helpers.local import RUNTIMES, program
from helpers.wait import wait_until

PARENT = "sandboxrun-upgrade"
# Other jailers of this machine have other parents, and so must have other uids.
OPTIONS = ("--cgroup-parent", PARENT, "--uid-base", "2101100000")


class Run:
    """A program that goes on until a line is read from it no more."""

    def __init__(self, connection, seconds=600):
        self.connection = connection
        self.id = connection.create(memory=64 * protocol.MIB)
        kind, fields, self.fds = connection.receive_about(self.id)
        assert kind == protocol.CREATED, fields
        connection.send(protocol.START, id=self.id, timeout_ms=50000)
        code = f"import time\nprint('up', flush=True)\ntime.sleep({seconds})\nprint('end')"
        os.write(self.fds[0], protocol.encode_request(code))
        os.close(self.fds[0])
        os.set_blocking(self.fds[1], True)
        self.output = open(self.fds[1], encoding="utf-8")
        assert self.output.readline() == "up\n"

    def end(self):
        """Its last word and the rest of its output."""
        kind, fields, _ = self.connection.receive_about(self.id)
        assert kind == protocol.FINISHED, fields
        with self.output:
            return fields["end"], self.output.read()

    def close(self):
        self.output.close()
        os.close(self.fds[2])


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="sandboxrun-"))
        self.spool = os.path.join(self.directory, "spool")

    def tearDown(self):
        wait_until("the sandboxes to be gone", lambda: not processes_below(PARENT))

    def new_jailer(self, *options):
        return self.enterContext(protocol.Jailer(
            program("sandboxrun-jailer"), RUNTIMES, *OPTIONS, "--spool-dir", self.spool, *options,
            socket=True))  # fmt: skip

    def start(self, connection, seconds=600):
        run = Run(connection, seconds)
        self.addCleanup(run.close)
        return run


class TestToldToStop(Case):
    def test_it_waits_for_its_agent(self):
        jailer = self.new_jailer()
        connection = jailer.connect()
        run = self.start(connection, 2)
        waiting = connection.create(memory=64 * protocol.MIB)
        kind, _, fds = connection.receive_about(waiting)
        self.assertEqual(kind, protocol.CREATED)
        jailer.process.send_signal(signal.SIGTERM)
        kind, fields, _ = connection.receive(10)
        self.assertEqual((kind, fields["kind"]), (protocol.NOTICE, protocol.NOTICE_STOPPING))
        # Nothing new; but what was made may still start, and all of it ends by itself.
        kind, fields, _ = connection.receive_about(connection.create(memory=64 * protocol.MIB))
        self.assertEqual((kind, fields["errnum"]), (protocol.REFUSED, errno.ESHUTDOWN))
        connection.send(protocol.START, id=waiting, timeout_ms=5000)
        os.write(fds[0], protocol.encode_request("print('late')"))
        os.close(fds[0])
        jailer.process.send_signal(signal.SIGTERM)
        kind, fields, _ = connection.receive_about(waiting)
        self.assertEqual((kind, fields["end"]), (protocol.FINISHED, protocol.END_EXITED))
        self.assertEqual(os.read(fds[1], 100), b"late\n")
        for fd in fds[1:]:
            os.close(fd)
        self.assertEqual(run.end(), (protocol.END_EXITED, "end\n"))
        self.assertIsNone(jailer.process.poll())
        connection.close()
        self.assertEqual(jailer.process.wait(20), 0)
        self.assertEqual(sandboxes_below(PARENT), [])

    def test_an_agent_that_dies_then_takes_its_sandboxes_along(self):
        jailer = self.new_jailer()
        self.start(jailer.connect())
        jailer.process.send_signal(signal.SIGTERM)
        jailer.connection.receive(10)
        jailer.connection.close()
        self.assertEqual(jailer.process.wait(20), 0)
        self.assertEqual(sandboxes_below(PARENT), [])

    def test_where_its_agent_never_leaves_whoever_told_it_decides(self):
        jailer = self.new_jailer()
        run = self.start(jailer.connect())
        for _ in range(3):
            jailer.process.send_signal(signal.SIGTERM)
            time.sleep(0.1)
        self.assertIsNone(jailer.process.poll())
        self.assertTrue(processes_below(PARENT))
        jailer.process.kill()
        wait_until("the sandbox to die with it", lambda: not processes_below(PARENT))
        self.assertEqual(run.output.read(), "")

    def test_without_an_agent_it_stops_at_once(self):
        for served in False, True:
            jailer = self.new_jailer()
            jailer.connect()
            if served:
                self.assertEqual(jailer.run("print(1)").stdout, b"1\n")
            jailer.connection.close()
            wait_until("it to see that", lambda jailer=jailer:
                       "connection to the agent ended" in jailer.log_text())
            jailer.process.send_signal(signal.SIGTERM)
            self.assertEqual(jailer.process.wait(20), 0)


class TestTheNextOne(Case):
    """Two jailers of one spool, as in the old and in the new Pod of a node."""

    def stand_by(self, *options):
        """A second one, and the connection of an agent that it has told to wait."""
        jailer = self.new_jailer(*options)
        connection = protocol.Connection(jailer._connect_to(jailer.path, 10))
        self.addCleanup(connection.close)
        kind, fields, _ = connection.receive(10)
        self.assertEqual((kind, fields["kind"]), (protocol.NOTICE, protocol.NOTICE_WAITING))
        self.assertIn("standing by", jailer.log_text())
        return jailer, connection

    def expect_service(self, jailer, connection):
        jailer.connection = connection
        jailer.hello = jailer._receive_hello()
        self.assertEqual(jailer.run("print('served')").stdout, b"served\n")
        self.assertIn("taking over", jailer.log_text())
        self.assertEqual(jailer.process.poll(), None)

    def test_waits_and_kills_nothing_until_the_first_has_left(self):
        first = self.new_jailer()
        run = self.start(first.connect(), 2)
        first.process.send_signal(signal.SIGTERM)
        first.connection.receive(10)
        second, connection = self.stand_by()
        self.assertEqual(run.end(), (protocol.END_EXITED, "end\n"))
        # Until its agent has left the first one counts.
        self.assertIsNone(first.process.poll())
        with self.assertRaises(TimeoutError):
            connection.receive(0.3)
        first.connection.close()
        self.assertEqual(first.process.wait(20), 0)
        self.expect_service(second, connection)

    def test_takes_over_from_one_that_was_killed(self):
        first = self.new_jailer()
        self.start(first.connect())
        second, connection = self.stand_by()
        before = processes_below(PARENT)
        time.sleep(0.3)
        self.assertEqual(processes_below(PARENT), before)
        first.process.kill()
        self.expect_service(second, connection)
        self.assertIn("swept what an earlier jailer left", second.log_text())
        wait_until("the old sandbox to be gone", lambda: not processes_below(PARENT))

    def test_takes_over_where_the_first_listened_at_the_same_place(self):
        first = self.new_jailer()
        run = self.start(first.connect(), 2)
        second = protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, *OPTIONS, "--spool-dir",
                                 self.spool, "--socket", first.path, "--peer-uid",
                                 str(os.getuid()))  # fmt: skip
        self.addCleanup(second.stop)
        second._spawn([])
        wait_until("it to stand by", lambda: "standing by" in second.log_text())
        self.assertIn("another jailer listens", second.log_text())
        self.assertEqual(run.end(), (protocol.END_EXITED, "end\n"))
        first.connection.close()
        first.process.send_signal(signal.SIGTERM)
        self.assertEqual(first.process.wait(20), 0)
        second.path = first.path
        second.connect(20)
        self.assertEqual(second.run("print('served')").stdout, b"served\n")

    def test_told_to_stop_it_stops_at_once(self):
        first = self.new_jailer()
        run = self.start(first.connect())
        second, connection = self.stand_by()
        second.process.send_signal(signal.SIGTERM)
        self.assertEqual(second.process.wait(20), 0)
        with self.assertRaises(protocol.ConnectionEnded):
            connection.receive(10)
        first.connection.send(protocol.KILL, id=run.id)
        self.assertEqual(run.end(), (protocol.END_KILLED, ""))

    def test_an_agent_that_speaks_too_early_is_turned_away_and_the_next_one_waits(self):
        first = self.new_jailer()
        first.connect()
        second, connection = self.stand_by()
        connection.create()
        with self.assertRaises(protocol.ConnectionEnded):
            connection.receive(10)
        again = protocol.Connection(second._connect_to(second.path, 10))
        self.addCleanup(again.close)
        kind, _, _ = again.receive(10)
        self.assertEqual(kind, protocol.NOTICE)
        first.stop()
        self.expect_service(second, again)

    def test_the_lock_is_out_of_the_agents_reach(self):
        self.new_jailer().connect()
        status = os.stat(self.spool + ".lock")
        self.assertEqual((status.st_uid, status.st_mode & 0o777), (0, 0o600))

    def test_a_lock_that_is_not_roots_own_is_refused(self):
        os.mkfifo(self.spool + ".lock", 0o600)
        jailer = self.new_jailer()
        with contextlib.closing(protocol.Connection(jailer._connect_to(jailer.path, 10))):
            wait_until("it to say so", lambda: "spool.lock must be a file" in jailer.log_text())
            self.assertIsNone(jailer.process.poll())


if __name__ == "__main__":
    unittest.main()
