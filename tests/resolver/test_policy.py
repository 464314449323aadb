# SPDX-License-Identifier: Apache-2.0
"""Who may ask what, which addresses are told, and in what order they are opened."""

import errno
import time

import rig
import upstream
import wire


def setUpModule():
    rig.enter_network()


FORBIDDEN = ["169.254.169.254", "10.1.2.3", "127.0.0.1", "192.168.0.1", "100.64.0.1", "0.0.0.0",
             "198.19.192.1", "203.0.112.7"]
FORBIDDEN6 = ["::1", "fd00:ec2::254", "fe80::1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
              "2002:a9fe:a9fe::1", "2a02:6b8:7::1", "fd53:6272::1"]


class TestAddresses(rig.ResolverTest):
    def test_answers_into_forbidden_ranges(self):
        self.open()
        for index, (kind, address) in enumerate([("A", a) for a in FORBIDDEN] + [("AAAA", a) for a in FORBIDDEN6]):
            name = f"rebind{index}.example.com"
            self.upstream.script[name] = upstream.addresses(address, kind=kind)
            with self.subTest(address):
                for _ in range(2):  # the second one from what is kept
                    reply = self.ask(name, kind, edns=1232)
                    self.assertEqual((reply.rcode, reply.records, reply.why), ("NXDOMAIN", [], 15))
                self.assertEqual(self.line_about(name)["outcome"], "address_refused")
        names = self.denied(2 * (len(FORBIDDEN) + len(FORBIDDEN6)))
        self.assertEqual(names.count("rebind0.example.com"), 2)
        self.assertEqual(len(set(names)), len(FORBIDDEN) + len(FORBIDDEN6))

    def test_only_the_forbidden_ones_are_taken_out(self):
        self.open()
        self.upstream.script["mixed.example.com"] = upstream.addresses(
            "10.1.2.3", "93.184.216.34", "169.254.169.254", "8.8.8.8")
        self.assertEqual(self.ask("mixed.example.com").addresses, ["93.184.216.34", "8.8.8.8"])
        self.assertEqual(self.line_about("mixed.example.com")["forbidden"], 2)

    def test_behind_an_alias(self):
        self.open()
        self.upstream.script["alias.example.com"] = upstream.records(
            ("alias.example.com", "CNAME", 60, "metadata.example.net"),
            ("metadata.example.net", "A", 60, "169.254.169.254"))
        reply = self.ask("alias.example.com")
        self.assertEqual((reply.rcode, reply.records), ("NXDOMAIN", []))

    def test_a_name_that_changes_its_mind(self):
        """Rebinding: first public, then private; neither order tells the private one."""
        self.open()
        answers = iter(["93.184.216.34", "169.254.169.254"])
        self.upstream.script["flip.example.com"] = lambda packet, asked: upstream.addresses(
            next(answers), ttl=0)(packet, asked)
        self.assertEqual(self.ask("flip.example.com").addresses, ["93.184.216.34"])
        # Even with a TTL of 0 it is the same for seconds, and then it is refused.
        self.assertEqual(self.ask("flip.example.com").addresses, ["93.184.216.34"])
        time.sleep(5.1)
        self.assertEqual(self.ask("flip.example.com").rcode, "NXDOMAIN")


class TestNames(rig.ResolverTest):
    RULES = [("api.example.org", wire.HTTPS), ("*.example.net", wire.HTTP | wire.HTTPS)]

    def test_only_what_the_rules_have(self):
        self.open(names=self.RULES)
        self.upstream.script["*"] = upstream.addresses("93.184.216.34")
        for name in ("api.example.org", "API.example.ORG", "a.example.net", "a.b.example.net"):
            with self.subTest(name):
                self.assertEqual(self.ask(name).addresses, ["93.184.216.34"])
        asked = len(self.upstream.asked)
        refused = ["example.org", "x.api.example.org", "example.net", "badexample.net",
                   "api.example.org.evil.test", "www.example.com"]
        for name in refused:
            with self.subTest(name):
                reply = self.ask(name, edns=512)
                self.assertEqual((reply.rcode, reply.why), ("NXDOMAIN", 17))
        self.assertEqual(len(self.upstream.asked), asked)
        self.assertEqual(self.denied(len(refused)), refused)

    def test_rules_that_allow_nothing(self):
        self.open(names=[])
        self.assertEqual(self.ask("www.example.com").rcode, "NXDOMAIN")
        self.assertEqual(self.upstream.asked, [])

    def test_rules_with_addresses_alone_leave_names_free(self):
        self.open(prefixes=[("8.8.8.0/24", wire.HTTPS)])
        self.upstream.script["www.example.com"] = upstream.addresses("8.8.8.8")
        self.assertEqual(self.ask("www.example.com").addresses, ["8.8.8.8"])
        self.assertEqual(self.jailer.of_type(wire.ALLOW), [])

    def test_names_of_the_node_s_own_network(self):
        """Not asked, whatever the upstream knows: neither an address nor whether there is one."""
        self.open()
        self.upstream.script["*"] = upstream.addresses("8.8.8.8")
        for name in ("kubernetes", "kubernetes.default.svc.cluster.local", "metadata.google.internal",
                     "localhost", "nas.home.arpa", "printer.local", "", "a b.example.com", "\xe9.example.com"):
            with self.subTest(name):
                self.assertEqual(self.ask(name).rcode, "NXDOMAIN")
        self.assertEqual(self.upstream.asked, [])
        names = self.denied(9)
        self.assertEqual(len(names), 9)
        self.assertIn("metadata.google.internal", names)
        self.assertIn("a?b.example.com", names)

    def test_an_alias_of_a_name_of_the_node_s_own_network(self):
        """It says the same of one that there is, of one that there isn't, and of one that lies."""
        self.open()
        inside = "db.prod.svc.cluster.local"
        answers = {
            "there.example.com": [(inside, "A", 5, "10.96.0.7")],
            "missing.example.com": [],
            "public.example.com": [(inside, "A", 5, "8.8.4.4")],
        }
        for name, rest in answers.items():
            self.upstream.script[name] = upstream.records((name, "CNAME", 60, inside), *rest)
            for _ in range(2):  # the second one from what is kept
                reply = self.ask(name, edns=1232)
                self.assertEqual((reply.rcode, reply.records, reply.why), ("NXDOMAIN", [], 17), name)
        self.assertEqual(set(self.denied(6)), set(answers))

    def test_each_address_is_opened_before_the_answer(self):
        generation = self.open(names=self.RULES)
        self.upstream.script["api.example.org"] = upstream.records(
            ("api.example.org", "CNAME", 600, "cdn.example.com"), ("cdn.example.com", "A", 300, "93.184.216.34"),
            ("cdn.example.com", "A", 300, "93.184.216.35"), ("cdn.example.com", "A", 300, "10.0.0.1"))
        self.jailer.judge = lambda allow: (0.2, 0)
        begin = time.monotonic()
        reply = self.ask("api.example.org")
        self.assertGreaterEqual(time.monotonic() - begin, 0.2)
        self.assertEqual(reply.addresses, ["93.184.216.34", "93.184.216.35"])
        allowed = self.jailer.of_type(wire.ALLOW)
        self.assertEqual([entry["address"] for entry in allowed], reply.addresses)
        for entry in allowed:
            self.assertEqual((entry["slot"], entry["generation"], entry["ports"], entry["ttl"]),
                             (self.slot, generation, wire.HTTPS, 300))
        self.assertEqual(allowed[1]["sequence"], allowed[0]["sequence"] + 1)
        # From what is kept nothing is opened again.
        self.ask("api.example.org")
        self.assertEqual(len(self.jailer.of_type(wire.ALLOW)), 2)

    def test_what_the_jailer_refuses_is_not_told(self):
        self.open(names=self.RULES)
        self.upstream.script["a.example.net"] = upstream.addresses("93.184.216.34", "8.8.8.8", "1.1.1.1")
        self.jailer.judge = lambda allow: errno.ENOSPC if allow["address"] == "8.8.8.8" else 0
        self.assertEqual(self.ask("a.example.net").addresses, ["93.184.216.34", "1.1.1.1"])
        self.upstream.script["b.example.net"] = upstream.addresses("8.8.8.8")
        self.assertEqual(self.ask("b.example.net").rcode, "SERVFAIL")
        self.assertEqual(self.line_about("b.example.net")["outcome"], "not_opened")
        self.jailer.judge = lambda allow: errno.EACCES
        self.assertEqual(self.ask("c.example.net").rcode, "NXDOMAIN")
        self.upstream.script["d.example.net"] = upstream.addresses("1.2.3.4")
        self.assertEqual(self.ask("d.example.net").rcode, "NXDOMAIN")
        self.assertEqual(self.line_about("d.example.net")["outcome"], "address_refused")

    def test_a_jailer_that_is_silent_or_slow(self):
        self.open(names=self.RULES)
        self.upstream.script["a.example.net"] = upstream.addresses("93.184.216.34")
        self.jailer.judge = lambda allow: None
        begin = time.monotonic()
        self.assertEqual(self.ask("a.example.net").rcode, "SERVFAIL")
        self.assertLess(time.monotonic() - begin, 1.5)
        # A word of before changes nothing, nor does one that was never asked for.
        self.jailer.sock.send(wire.opened(self.jailer.of_type(wire.ALLOW)[-1]["sequence"]))
        self.jailer.sock.send(wire.opened(1 << 60, errno.EPERM))
        self.jailer.judge = lambda allow: 0
        self.assertEqual(self.ask("a.example.net").addresses, ["93.184.216.34"])

    def test_many_answers_at_once_all_find_their_way(self):
        """More words to the jailer than its socket takes while it looks away."""
        self.open(names=[("*.example.net", 3)])
        self.upstream.script["*"] = upstream.addresses(*(f"93.184.216.{i}" for i in range(16)))
        clients = [rig.Client(self.resolver.port, self.slot) for _ in range(40)]
        for index, client in enumerate(clients):
            client.send(wire.query(f"n{index}.example.net"))
        for client in clients:
            with client:
                self.assertEqual(len(client.receive().addresses), 16)
        sequences = [entry["sequence"] for entry in self.jailer.of_type(wire.ALLOW)]
        self.assertEqual(len(set(sequences)), 40 * 16)


class TestWho(rig.ResolverTest):
    def refused(self, slot=None):
        begin = time.monotonic()
        reply = self.ask("www.example.com", slot=slot)
        self.assertLess(time.monotonic() - begin, 0.05)
        self.assertEqual((reply.rcode, reply.records), ("REFUSED", []))

    def test_a_slot_that_nobody_has(self):
        self.refused()
        self.open()
        self.assertEqual(self.ask("www.example.com").rcode, "NXDOMAIN")
        self.close_slot()
        self.refused()
        self.assertNotIn("sandbox", self.resolver.lookups()[-1])

    def test_an_old_generation_closes_nothing(self):
        generation = self.open()
        self.jailer.sock.send(wire.closing(self.slot, generation + 7))
        self.assertEqual(self.ask("www.example.com").rcode, "NXDOMAIN")

    def test_nobody_else_gets_a_word(self):
        self.open()
        for source in ("127.0.0.1", "203.0.113.9", rig.gateway_address(self.slot)):
            with self.subTest(source), rig.Client(self.resolver.port, self.slot, source=source) as client:
                client.send(wire.query("www.example.com"))
                with self.assertRaises(TimeoutError):
                    client.receive(0.2)
            with rig.Client(self.resolver.port, self.slot, tcp=True, source=source) as client:
                with self.assertRaises((EOFError, ConnectionResetError, BrokenPipeError)):
                    client.send(wire.query("www.example.com"))
                    client.receive(1)
        self.assertEqual(self.upstream.asked, [])

    def test_a_sandbox_that_ends_ends_its_lookups(self):
        self.open()
        self.upstream.script["slow.example.com"] = upstream.silence
        with rig.Client(self.resolver.port, self.slot) as client:
            client.send(wire.query("slow.example.com"))
            with rig.Client(self.resolver.port, self.slot, tcp=True) as connection:
                connection.send(wire.query("slow.example.com"))
                while len(self.upstream.asked) < 2:
                    time.sleep(0.01)
                self.jailer.close_slot(self.slot)
                with self.assertRaises((EOFError, ConnectionResetError)):
                    connection.receive(1)
            with self.assertRaises(TimeoutError):
                client.receive(0.2)
        metrics = self.resolver.metrics()
        self.assertEqual((metrics["lookups"], metrics["tcp_connections"]), (0, 0))
