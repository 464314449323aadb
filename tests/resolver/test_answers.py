# SPDX-License-Identifier: Apache-2.0
"""What is answered, and from whose addresses."""

import ipaddress
import struct

import rig
import upstream
import wire


def setUpModule():
    rig.enter_network()


class TestAnswers(rig.ResolverTest):
    def test_addresses_over_udp_and_tcp_and_both_families(self):
        self.open()
        self.upstream.script["www.example.com"] = lambda packet, asked: upstream.addresses(
            *(["93.184.216.34"] if asked.kind == "A" else ["2606:2800:220:1::34"]), kind=asked.kind)(packet, asked)
        for family in (4, 6):
            for tcp in (False, True):
                with self.subTest(family=family, tcp=tcp):
                    self.assertEqual(self.ask("www.example.com", "A", tcp, family).addresses, ["93.184.216.34"])
                    self.assertEqual(self.ask("www.example.com", "AAAA", tcp, family).addresses,
                                     ["2606:2800:220:1::34"])
        # Once each: the rest came from the sandbox's own answers.
        self.assertEqual([asked.kind for asked in self.upstream.asked], ["A", "AAAA"])

    def test_spelling_id_and_edns_are_the_client_s(self):
        self.open()
        self.upstream.script["www.example.com"] = upstream.addresses("93.184.216.34")
        reply = self.ask("wWw.ExAmPlE.com", number=0xBEEF, edns=4096)
        self.assertEqual((reply.number, reply.question, reply.edns), (0xBEEF, ("wWw.ExAmPlE.com", "A"), 1232))
        self.assertEqual(reply.records, [("wWw.ExAmPlE.com", "A", 60, "93.184.216.34")])
        self.assertEqual(self.upstream.asked[0].name, "www.example.com")
        self.assertNotEqual(self.upstream.asked[0].number, 0xBEEF)
        self.assertIsNone(self.ask("www.example.com").edns)

    def test_aliases_come_with_the_addresses_at_their_end(self):
        self.open()
        self.upstream.script["a.example.com"] = upstream.records(
            ("c.example.net", "A", 30, "151.101.1.1"), ("a.example.com", "CNAME", 300, "b.example.net"),
            ("b.example.net", "CNAME", 200, "c.example.net"), ("other.example.net", "A", 60, "8.8.8.8"))
        self.assertEqual(self.ask("a.example.com").records, [
            ("a.example.com", "CNAME", 300, "b.example.net"), ("b.example.net", "CNAME", 200, "c.example.net"),
            ("c.example.net", "A", 30, "151.101.1.1")])

    def test_aliases_that_go_round_or_are_too_many(self):
        self.open()
        chain = [(f"n{i}.example.com", "CNAME", 60, f"n{i + 1}.example.com") for i in range(13)]
        cases = {
            "self.example.com": [("self.example.com", "CNAME", 60, "self.example.com")],
            "pair.example.com": [("pair.example.com", "CNAME", 60, "x.example.com"),
                                 ("x.example.com", "CNAME", 60, "pair.example.com")],
            "n0.example.com": [*chain, ("n13.example.com", "A", 60, "8.8.8.8")],
            "two.example.com": [("two.example.com", "CNAME", 60, "x.example.com"),
                                ("two.example.com", "CNAME", 60, "y.example.com")],
        }
        for name, records in cases.items():
            with self.subTest(name):
                self.upstream.script[name] = upstream.records(*records)
                self.assertEqual(self.ask(name).rcode, "SERVFAIL")

    def test_names_that_are_not_there(self):
        self.open()
        self.upstream.script["empty.example.com"] = upstream.records()
        self.assertEqual(self.ask("nothing.example.com").rcode, "NXDOMAIN")
        reply = self.ask("empty.example.com")
        self.assertEqual((reply.rcode, reply.records), ("NOERROR", []))
        self.assertEqual(self.line_about("nothing.example.com")["outcome"], "nxdomain")
        self.assertEqual(self.denied(0), [])

    def test_types_beside_addresses_are_empty_and_not_asked(self):
        self.open()
        for kind in ("TXT", "PTR", "HTTPS", "CNAME", 64, 33, 15, 6, 2, 12345):
            with self.subTest(kind):
                reply = self.ask("www.example.com", kind)
                self.assertEqual((reply.rcode, reply.records), ("NOERROR", []))
        for kind in ("ANY", "AXFR", 251, 249, "OPT"):
            with self.subTest(kind):
                self.assertEqual(self.ask("www.example.com", kind).rcode, "NOTIMP")
        self.assertEqual(self.upstream.asked, [])

    def test_what_does_not_fit_comes_over_tcp(self):
        self.open()
        many = [f"2606:4700::{i:x}" for i in range(1, 17)]
        self.upstream.script["many.example.com"] = upstream.addresses(*many, kind="AAAA")
        reply = self.ask("many.example.com", "AAAA")
        self.assertEqual((reply.truncated, reply.records), (False, reply.records))
        self.upstream.script["more.example.com"] = lambda packet, _: [wire.answer(
            packet, wire.record("more.example.com", "CNAME", 60, "a" * 50 + ".example.com"),
            *(wire.record("a" * 50 + ".example.com", "AAAA", 60, address) for address in many))]
        reply = self.ask("more.example.com", "AAAA")
        self.assertEqual((reply.truncated, reply.records), (True, []))
        self.assertEqual(self.ask("more.example.com", "AAAA", tcp=True).addresses, many)
        self.assertEqual(self.ask("more.example.com", "AAAA", edns=1232).addresses, many)
        self.assertEqual(len(self.upstream.asked), 2)

    def test_truncation_by_an_upstream_is_passed_on(self):
        self.open()

        def respond(packet, asked):
            if asked.transport == "udp":
                return [wire.answer(packet, wire.record(asked.name, "A", 60, "6.6.6.6"), flags=0x8380)]
            return [wire.answer(packet, wire.record(asked.name, "A", 60, "93.184.216.34"))]

        self.upstream.script["cut.example.com"] = respond
        reply = self.ask("cut.example.com")
        self.assertEqual((reply.rcode, reply.truncated, reply.records), ("NOERROR", True, []))
        self.assertEqual(self.ask("cut.example.com", tcp=True).addresses, ["93.184.216.34"])
        self.assertEqual([asked.transport for asked in self.upstream.asked], ["udp", "tcp"])

    def test_a_huge_answer(self):
        self.open()
        self.upstream.script["huge.example.com"] = lambda packet, _: [wire.answer(
            packet, *(wire.record("huge.example.com", "A", 60, str(ipaddress.ip_address(0x5DB80000 + i)))
                      for i in range(100)))]
        reply = self.ask("huge.example.com", tcp=True)
        self.assertEqual(reply.addresses, [str(ipaddress.ip_address(0x5DB80000 + i)) for i in range(16)])
        self.upstream.script["many.example.com"] = lambda packet, _: [wire.answer(
            packet, *(wire.record("m.example.com", "A", 60, "8.8.8.8") for i in range(257)))]
        self.assertEqual(self.ask("many.example.com", tcp=True).rcode, "SERVFAIL")
        self.upstream.script["long.example.com"] = lambda packet, _: [wire.answer(
            packet, wire.record("long.example.com", 16, 60, bytes(60000)))]
        self.assertEqual(self.ask("long.example.com", tcp=True).rcode, "SERVFAIL")

    def test_times_to_live_go_down_and_are_bounded(self):
        self.open()
        self.upstream.script["long.example.com"] = upstream.addresses("8.8.8.8", ttl=1 << 30)
        self.upstream.script["zero.example.com"] = upstream.addresses("8.8.8.8", ttl=0)
        self.upstream.script["minus.example.com"] = upstream.addresses("8.8.8.8", ttl=0xFFFFFFFF)
        self.assertEqual(self.ask("long.example.com").records[0][2], 3600)
        self.assertEqual(self.ask("zero.example.com").records[0][2], 0)
        self.assertEqual(self.ask("minus.example.com").records[0][2], 0)

    def test_nobody_is_answered_from_another_s_lookups(self):
        self.open()
        other = self.new_slot()
        self.open(other)
        self.upstream.script["www.example.com"] = upstream.addresses("93.184.216.34")
        self.ask("www.example.com")
        self.ask("www.example.com")
        self.assertEqual(len(self.upstream.asked), 1)
        self.ask("www.example.com", slot=other)
        self.assertEqual(len(self.upstream.asked), 2)
        # Nor a later one in the same slot.
        self.close_slot(other)
        self.open(other)
        self.ask("www.example.com", slot=other)
        self.assertEqual(len(self.upstream.asked), 3)


class TestMalformed(rig.ResolverTest):
    """What is no proper query gets an error, or nothing, and the next one is answered."""

    def raw(self, packet, tcp=False):
        with rig.Client(self.resolver.port, self.slot, tcp=tcp) as client:
            client.send(packet)
            try:
                return client.receive(0.3).rcode
            except (TimeoutError, EOFError, ConnectionResetError):
                return None

    def test_by_both_transports(self):
        self.open()
        good = wire.query("www.example.com")
        cases = {
            "empty": (b"", None), "short": (good[:11], None), "answer": (good[:2] + b"\x81" + good[3:], None),
            "opcode": (good[:2] + b"\x29" + good[3:], "NOTIMP"), "two questions": (good[:5] + b"\2" + good[6:], "FORMERR"),
            "none": (good[:5] + b"\0" + good[6:12], "FORMERR"), "cut": (good[:-1], "FORMERR"),
            "behind": (good + b"x", "FORMERR"), "pointer": (good[:12] + b"\xc0\x0c\0\1\0\1", "FORMERR"),
            "label of 64": (good[:12] + b"\x40" + b"a" * 64 + b"\0\0\1\0\1", "FORMERR"),
            "name of 256": (good[:12] + (b"\x3f" + b"a" * 63) * 3 + b"\x3e" + b"a" * 62 + b"\0\0\1\0\1", "FORMERR"),
            "class": (wire.query("version.bind", "TXT", klass=3), "REFUSED"),
            "EDNS version": (wire.query("a.example", edns=1232)[:-6] + b"\0\1\0\0\0\0", "BADVERS"),
            "counts": (good[:4] + b"\xff" * 8 + good[12:], "FORMERR"),
        }
        for tcp in (False, True):
            for what, (packet, wanted) in cases.items():
                with self.subTest(what, tcp=tcp):
                    self.assertEqual(self.raw(packet, tcp), wanted)
        self.assertEqual(self.upstream.asked, [])
        self.assertEqual(self.ask("nothing.example.com").rcode, "NXDOMAIN")

    def test_longer_than_a_query_can_be(self):
        self.open()
        self.assertIsNone(self.raw(wire.query("a.example") + bytes(2000)))
        self.assertIsNone(self.raw(wire.query("a.example") + bytes(2000), tcp=True))

    def test_noise(self):
        self.open()
        with rig.Client(self.resolver.port, self.slot) as client:
            for seed in range(2000):
                # Deterministic, so that a failure comes again.
                data = struct.pack("!Q", seed * 0x9E3779B97F4A7C15 % (1 << 64)) * (seed % 40)
                client.send(data[: seed % 300])
        self.assertEqual(self.ask_until_answered("nothing.example.com").rcode, "NXDOMAIN")
