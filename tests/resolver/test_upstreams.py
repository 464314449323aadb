# SPDX-License-Identifier: Apache-2.0
"""Name servers that are slow, silent, wrong or gone."""

import time

import rig
import upstream
import wire


def setUpModule():
    rig.enter_network()


RIGHT, WRONG = "93.184.216.34", "6.6.6.6"


class TestLies(rig.ResolverTest):
    """A lie is not taken; the truth that comes behind it is."""

    def truth(self, packet, asked):
        return wire.answer(packet, wire.record(asked.name, "A", 60, RIGHT))

    def lie(self, packet, asked):
        return wire.answer(packet, wire.record(asked.name, "A", 60, WRONG))

    def test_what_is_no_answer_to_the_question(self):
        self.open()
        lies = {
            "id": lambda packet, asked: wire.answer(
                packet, wire.record(asked.name, "A", 60, WRONG), number=asked.number ^ 1),
            "question": lambda packet, asked: wire.answer(
                wire.query("other.example.com", number=asked.number), wire.record("other.example.com", "A", 60, WRONG)),
            "type": lambda packet, asked: wire.answer(
                wire.query(asked.name, "AAAA", number=asked.number), wire.record(asked.name, "A", 60, WRONG)),
            "query": lambda packet, asked: wire.answer(packet, wire.record(asked.name, "A", 60, WRONG), flags=0x0100),
            "short": lambda packet, asked: packet[:5],
            "empty": lambda packet, asked: b"",
            "port": lambda packet, asked: [self.lie(packet, asked)],
        }
        for what, lie in lies.items():
            name = f"{what}.example.com"
            self.upstream.script[name] = lambda packet, asked, lie=lie: [
                lie(packet, asked), (0.1, self.truth(packet, asked))]
            with self.subTest(what):
                self.assertEqual(self.ask(name).addresses, [RIGHT])

    def test_a_flood_of_guesses(self):
        """Somebody who guesses ids gets nowhere, and the lookup ends."""
        self.open()
        self.upstream.script["guess.example.com"] = lambda packet, asked: [
            wire.answer(packet, wire.record(asked.name, "A", 60, WRONG), number=(asked.number + 1 + i) % 65536)
            for i in range(200)]
        begin = time.monotonic()
        self.assertEqual(self.ask("guess.example.com").rcode, "SERVFAIL")
        self.assertLess(time.monotonic() - begin, 1)

    def test_answers_that_are_broken(self):
        self.open()
        broken = {
            "cut": lambda packet, asked: self.truth(packet, asked)[:-1],
            "count": lambda packet, asked: wire.answer(packet, wire.record(asked.name, "A", 60, RIGHT), count=9),
            "loop": lambda packet, asked: wire.answer(packet, b"\xc0" + bytes([len(packet) - 11]) + b"\0\1\0\1"),
            "servfail": lambda packet, asked: wire.answer(packet, rcode=2),
            "refused": lambda packet, asked: wire.answer(packet, rcode=5),
        }
        for what, message in broken.items():
            self.upstream.script[f"{what}.broken.test"] = lambda packet, asked, message=message: [message(packet, asked)]
            with self.subTest(what):
                begin = time.monotonic()
                self.assertEqual(self.ask(f"{what}.broken.test").rcode, "SERVFAIL")
                self.assertLess(time.monotonic() - begin, 0.5)

    def test_ids_and_ports_are_fresh(self):
        self.open()
        for index in range(60):
            self.ask(f"n{index}.example.com")
        numbers = {asked.number for asked in self.upstream.asked}
        ports = {asked.port for asked in self.upstream.asked}
        self.assertGreater(len(numbers), 57)
        self.assertGreater(len(ports), 50)


class TestTime(rig.ResolverTest):
    def test_slow_within_the_time(self):
        self.open()
        self.upstream.script["slow.example.com"] = lambda packet, asked: [
            (0.5, wire.answer(packet, wire.record(asked.name, "A", 60, RIGHT)))]
        self.assertEqual(self.ask("slow.example.com").addresses, [RIGHT])
        self.assertEqual(len(self.upstream.asked), 1)

    def test_silent(self):
        self.open()
        self.upstream.script["silent.example.com"] = upstream.silence
        for tcp in (False, True):
            begin = time.monotonic()
            reply = self.ask("silent.example.com", tcp=tcp, edns=1232)
            took = time.monotonic() - begin
            self.assertEqual((reply.rcode, reply.why), ("SERVFAIL", 22))
            self.assertLess(took, 4.2)
        self.assertEqual(self.line_about("silent.example.com")["outcome"], "upstream_failed")

    def test_a_client_that_asks_again_gets_one_answer(self):
        self.open()
        self.upstream.script["slow.example.com"] = lambda packet, asked: [
            (0.3, wire.answer(packet, wire.record(asked.name, "A", 60, RIGHT)))]
        with rig.Client(self.resolver.port, self.slot) as client:
            for _ in range(5):
                client.send(wire.query("slow.example.com"))
            self.assertEqual(client.receive().addresses, [RIGHT])
            with self.assertRaises(TimeoutError):
                client.receive(0.3)
        self.assertEqual(len(self.upstream.asked), 1)

    def test_tcp_that_drips(self):
        """A server that sends byte by byte, or promises more than it sends, ends like a silent one."""
        self.open()

        def drip(packet, asked):
            if asked.transport == "udp":
                return [wire.answer(packet, flags=0x8380)]
            return [(0.3, [bytes([byte])]) for byte in b"\0\x50" + wire.answer(packet)]

        self.upstream.script["drip.example.com"] = drip
        begin = time.monotonic()
        self.assertEqual(self.ask("drip.example.com", tcp=True).rcode, "SERVFAIL")
        self.assertLess(time.monotonic() - begin, 4.2)


class TestSeveral(rig.ResolverTest):
    """The first doesn't exist, the second is on IPv6, and the third is there for the bad days."""

    @classmethod
    def setUpClass(cls):
        cls.upstream = upstream.Upstream("::1", 5302)
        cls.addClassCleanup(cls.upstream.close)
        cls.third = upstream.Upstream("127.0.0.1", 5303)
        cls.addClassCleanup(cls.third.close)
        cls.resolver = rig.Resolver("127.0.0.1:5301", cls.upstream.text(), cls.third.text())
        cls.addClassCleanup(cls.end_resolver)
        cls.jailer = cls.resolver.jailer

    def setUp(self):
        super().setUp()
        self.third.forget()

    def test_the_next_one_is_asked_at_once(self):
        self.open()
        self.upstream.script["www.example.com"] = upstream.addresses(RIGHT)
        for tcp in (False, True):
            begin = time.monotonic()
            self.assertEqual(self.ask("www.example.com", tcp=tcp).addresses, [RIGHT])
            self.assertLess(time.monotonic() - begin, 0.3)

    def test_the_third_after_a_silent_one_and_a_broken_one(self):
        self.open()
        for name, script in (("a.example.com", upstream.silence),
                             ("b.example.com", upstream.records(rcode=2))):
            self.upstream.script[name] = script
            self.third.script[name] = upstream.addresses(RIGHT)
            self.assertEqual(self.ask(name).addresses, [RIGHT])

    def test_none_of_them(self):
        self.open()
        self.upstream.script["c.example.com"] = upstream.records(rcode=2)
        self.third.script["c.example.com"] = upstream.records(rcode=5)
        begin = time.monotonic()
        self.assertEqual(self.ask("c.example.com").rcode, "SERVFAIL")
        self.assertLess(time.monotonic() - begin, 0.5)
        metrics = self.resolver.metrics()
        self.assertGreaterEqual(metrics['upstream_failures_total{cause="unreachable"}'], 1)
        self.assertGreaterEqual(metrics['upstream_failures_total{cause="rcode"}'], 2)
