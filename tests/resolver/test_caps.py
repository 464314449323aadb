# SPDX-License-Identifier: Apache-2.0
"""Rates, totals, and what a tunnel through names gets."""

import base64
import math
import os
import signal
import socket
import time

import rig
import upstream
import wire

# resolver_limits.h
MAX_RUN_NAMES, MAX_RUN_NAME_BYTES, MAX_RUN_UPSTREAM_QUERIES = 256, 4096, 1024
QUERY_BURST, QUERY_RATE, UPSTREAM_BURST, UPSTREAM_RATE = 400, 100, 128, 32
MAX_SLOT_LOOKUPS, MAX_SLOT_TCP_CONNECTIONS, MAX_TCP_QUERIES = 64, 4, 64
LONGEST_RUN_S = 120

# What tells a label from another, since all is lower case: letters, digits, '-' and '_'.
BITS_PER_BYTE = math.log2(38)


def setUpModule():
    rig.enter_network()


class TestRates(rig.ResolverTest):
    def burst(self, count, make, slot=None):
        """The codes of the replies to that many queries, sent as fast as it goes."""
        codes = {}
        with rig.Client(self.resolver.port, self.slot if slot is None else slot) as client:
            for index in range(count):
                client.send(make(index))
                reply = client.receive()
                codes[reply.rcode] = codes.get(reply.rcode, 0) + 1
        return codes

    def test_queries_a_second(self):
        self.open()
        self.upstream.script["www.example.com"] = upstream.addresses("93.184.216.34")
        begin = time.monotonic()
        codes = self.burst(800, lambda index: wire.query("www.example.com"))
        took = time.monotonic() - begin
        self.assertLessEqual(codes["NOERROR"], QUERY_BURST + QUERY_RATE * took + 1)
        self.assertGreaterEqual(codes["NOERROR"], QUERY_BURST - 5)
        self.assertGreater(codes["REFUSED"], 300)
        # A neighbour doesn't notice.
        other = self.new_slot()
        self.open(other)
        self.assertEqual(self.ask("www.example.com", slot=other).rcode, "NOERROR")
        self.assertIn("www.example.com", self.denied())
        self.assertGreater(self.resolver.metrics()['queries_total{outcome="rate_limited"}'], 300)

    def test_questions_to_upstreams_a_second(self):
        self.open()
        begin = time.monotonic()
        codes = self.burst(250, lambda index: wire.query(f"n{index}.example.com"))
        took = time.monotonic() - begin
        self.assertLessEqual(codes["NXDOMAIN"], UPSTREAM_BURST + UPSTREAM_RATE * took + 1)
        self.assertGreaterEqual(codes["NXDOMAIN"], UPSTREAM_BURST)
        self.assertEqual(codes["NXDOMAIN"], len(self.upstream.asked))

    def test_lookups_at_once(self):
        self.open()
        self.upstream.script["*"] = upstream.silence
        with rig.Client(self.resolver.port, self.slot) as client:
            for index in range(MAX_SLOT_LOOKUPS + 10):
                client.send(wire.query(f"n{index}.example.com"))
            for _ in range(10):
                self.assertEqual(client.receive(1).rcode, "REFUSED")
            other = self.new_slot()
            self.open(other)
            self.upstream.script["www.example.com"] = upstream.addresses("93.184.216.34")
            self.assertEqual(self.ask("www.example.com", slot=other).rcode, "NOERROR")

    def test_a_flood_takes_nothing_from_a_neighbour(self):
        """A queue for each: as fast as a process can send, for as long as the other one asks."""
        self.open()
        other = self.new_slot()
        self.open(other)
        self.upstream.script["www.example.com"] = upstream.addresses("93.184.216.34")
        flood = os.fork()
        if flood == 0:
            client, packet = rig.Client(self.resolver.port, self.slot), wire.query("kubernetes")
            client.sock.setblocking(False)
            while True:
                try:
                    client.sock.send(packet)
                except OSError:
                    continue
        try:
            time.sleep(0.2)
            for _ in range(60):
                self.assertEqual(self.ask("www.example.com", slot=other, timeout=0.5).rcode, "NOERROR")
        finally:
            os.kill(flood, signal.SIGKILL)
            os.waitpid(flood, 0)
        self.assertGreater(self.resolver.metrics()['queries_total{outcome="rate_limited"}'], 5000)

    def test_log_lines_are_few_in_a_flood(self):
        self.open()
        before = len(self.resolver.lookups())
        self.burst(1500, lambda index: wire.query("kubernetes"))
        self.assertLess(len(self.resolver.lookups()) - before, 300)
        self.assertGreater(self.resolver.metrics()["lost_log_lines_total"], 1000)

    def test_words_to_the_jailer_are_few_in_a_flood(self):
        self.open()
        self.burst(1500, lambda index: wire.query("kubernetes"))
        self.assertLess(len(self.jailer.of_type(wire.DENIED)), 300)


class TestTotals(rig.ResolverTest):
    def ask_slowly(self, names):
        """Below the rate; the codes in their order."""
        codes = []
        with rig.Client(self.resolver.port, self.slot) as client:
            for name in names:
                client.send(wire.query(name))
                codes.append(client.receive().rcode)
                if len(codes) > UPSTREAM_BURST - 10:
                    time.sleep(1 / UPSTREAM_RATE)
        return codes

    def test_distinct_names(self):
        self.open()
        spent = 'queries_total{outcome="budget_spent"}'
        before = self.resolver.metrics()[spent]
        codes = self.ask_slowly([f"{index:x}.ab" for index in range(MAX_RUN_NAMES + 20)])
        self.assertEqual(codes.count("NXDOMAIN"), MAX_RUN_NAMES)
        self.assertEqual(codes[MAX_RUN_NAMES:], ["REFUSED"] * 20)
        self.assertEqual(len(self.upstream.asked), MAX_RUN_NAMES)
        self.assertEqual(self.resolver.metrics()[spent] - before, 20)
        self.assertIn(f"{MAX_RUN_NAMES:x}.ab", self.denied())
        # What it knows it may ask again, when it isn't kept any more.
        time.sleep(5)
        self.assertEqual(self.ask("0.ab").rcode, "NXDOMAIN")
        # The next sandbox in the slot begins anew.
        self.close_slot()
        self.open()
        self.assertEqual(self.ask(f"{MAX_RUN_NAMES:x}.ab").rcode, "NXDOMAIN")

    def test_bytes_of_answers(self):
        self.open()
        self.upstream.script["*"] = lambda packet, asked: [wire.answer(
            packet, *(wire.record(asked.name, 16, 60, os.urandom(1000)) for _ in range(16)))]
        codes = []
        for index in range(12):
            codes.append(self.ask(f"n{index}.example.com", tcp=True).rcode)
        self.assertEqual(codes, ["SERVFAIL"] * 12)  # each is longer than an answer can be
        self.upstream.script["*"] = lambda packet, asked: [wire.answer(
            packet, *(wire.record(asked.name, 16, 60, os.urandom(1000)) for _ in range(15)))]
        codes = [self.ask(f"m{index}.example.com", tcp=True).rcode for index in range(12)]
        self.assertEqual(codes, ["NOERROR"] * 8 + ["REFUSED"] * 4)


class TestTunnel(rig.ResolverTest):
    """A program that carries data out by the names it asks for, to a server that plays along."""

    ZONE = "t.test"

    def long_names(self):
        """As much as a name takes, each one new."""
        while True:
            text = base64.b32encode(os.urandom(145)).decode().lower().strip("=")[:245]
            parts = [text[at : at + 61] for at in range(0, len(text), 61)][:3]
            yield f"{'.'.join(parts)}.{text[-40:]}.{self.ZONE}"

    def known_names(self):
        """The order of a few short names says something too: 9 bits a question with the type."""
        while True:
            data = os.urandom(2)
            yield f"{data[0]:x}.ab", ("A", "AAAA")[data[1] & 1]

    def run_tunnel(self, names, seconds):
        """Sends as fast as the resolver lets it, with retries; what arrived at the server."""
        self.upstream.script["*"] = upstream.addresses("93.184.216.34", ttl=0)
        with rig.Client(self.resolver.port, self.slot) as client:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                name, kind = next(names)
                client.send(wire.query(name, kind))
                if client.receive().rcode == "REFUSED":
                    time.sleep(0.01)
        return list(self.upstream.asked)

    def test_bytes_a_second_that_remain(self):
        seconds = 20
        self.open()
        asked = self.run_tunnel(((name, "A") for name in self.long_names()), seconds / 2)
        names = {entry.name for entry in asked}
        wire_bytes = sum(len(name) + 2 for name in names)
        payload = sum(len(name) - len(self.ZONE) - 1 - name.count(".") + 2 for name in names) * BITS_PER_BYTE / 8
        self.assertLessEqual(wire_bytes, MAX_RUN_NAME_BYTES)

        # Another run, which uses the order of short names.
        self.slot = self.new_slot()
        self.open()
        self.upstream.forget()
        asked = self.run_tunnel(self.known_names(), seconds / 2)
        order = sum(1 for _ in asked) * math.log2(2 * MAX_RUN_NAMES) / 8
        self.assertLessEqual(len(asked), min(MAX_RUN_UPSTREAM_QUERIES,
                                             UPSTREAM_BURST + UPSTREAM_RATE * (seconds / 2 + 1)))

        bound = (MAX_RUN_NAME_BYTES * BITS_PER_BYTE + MAX_RUN_UPSTREAM_QUERIES * math.log2(2 * MAX_RUN_NAMES)) / 8
        print(f"\n    tunnel: {payload:.0f} bytes by long names in {seconds / 2:.0f} s and no more after;"
              f" {order:.0f} bytes by the order of {len(asked)} short ones;"
              f" bound {bound:.0f} bytes a run, {bound / LONGEST_RUN_S:.1f} bytes/s over {LONGEST_RUN_S} s", flush=True)
        self.assertLess(bound, 4096)
        self.assertLess(payload, bound)
        self.assertLess(order, bound)


class TestConnections(rig.ResolverTest):
    def test_no_more_than_a_few_of_a_sandbox(self):
        self.open()
        clients = [rig.Client(self.resolver.port, self.slot, tcp=True) for _ in range(MAX_SLOT_TCP_CONNECTIONS)]
        for client in clients:
            client.send(wire.query("www.example.com", "TXT"))
            self.assertEqual(client.receive().rcode, "NOERROR")
        with rig.Client(self.resolver.port, self.slot, tcp=True) as more:
            with self.assertRaises((EOFError, ConnectionResetError, BrokenPipeError)):
                more.send(wire.query("www.example.com", "TXT"))
                more.receive(1)
        clients.pop().sock.close()
        time.sleep(0.1)
        with rig.Client(self.resolver.port, self.slot, tcp=True) as again:
            again.send(wire.query("www.example.com", "TXT"))
            self.assertEqual(again.receive().rcode, "NOERROR")
        for client in clients:
            client.sock.close()

    def test_several_queries_of_one_connection(self):
        self.open()
        self.upstream.script["*"] = upstream.addresses("93.184.216.34")
        with rig.Client(self.resolver.port, self.slot, tcp=True) as client:
            # All at once: they are answered one after the other, in their order.
            names = [f"n{index}.example.com" for index in range(20)]
            client.sock.sendall(b"".join(len(packet).to_bytes(2, "big") + packet for packet in map(wire.query, names)))
            self.assertEqual([client.receive().question[0] for _ in names], names)
            for index in range(MAX_TCP_QUERIES - 20):
                client.send(wire.query("www.example.com"))
                self.assertEqual(client.receive().rcode, "NOERROR")
            with self.assertRaises((EOFError, ConnectionResetError)):
                client.receive(1)

    def test_bytes_win_no_time(self):
        """A client that drips is closed as one that is silent, and meanwhile others are served."""
        self.open()
        silent = rig.Client(self.resolver.port, self.slot, tcp=True)
        dripping = rig.Client(self.resolver.port, self.slot, tcp=True)
        packet = wire.query("www.example.com")
        packet = len(packet).to_bytes(2, "big") + packet
        begin = time.monotonic()
        ended = None
        for index in range(len(packet) - 1):
            try:
                dripping.sock.send(packet[index : index + 1])
            except (BrokenPipeError, ConnectionResetError):
                ended = time.monotonic() - begin
                break
            time.sleep(0.25)
            self.assertEqual(self.ask("www.example.com", "TXT").rcode, "NOERROR")
        self.assertIsNotNone(ended)
        self.assertTrue(4.5 < ended < 6.5, ended)
        silent.sock.settimeout(1)
        self.assertEqual(silent.sock.recv(1), b"")
        silent.sock.close()
        dripping.sock.close()

    def test_a_client_that_does_not_read(self):
        self.open()
        with rig.Client(self.resolver.port, self.slot, tcp=True) as client:
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            packet = wire.query("www.example.com", "TXT")
            client.sock.settimeout(0.5)
            try:
                for _ in range(64):
                    client.sock.sendall(len(packet).to_bytes(2, "big") + packet)
            except OSError:
                pass
            self.assertEqual(self.ask("www.example.com", "TXT").rcode, "NOERROR")


class TestMemory(rig.ResolverTest):
    def test_it_stays_flat(self):
        if rig.is_sanitized():
            self.skipTest("a sanitizer's build: what it takes says nothing")
        many = [f"93.184.216.{index}" for index in range(16)]
        self.upstream.script["*"] = upstream.addresses(*many)

        def storm(first, rounds):
            for slot in range(first, first + 40):
                self.open(slot)
            clients = [rig.Client(self.resolver.port, slot) for slot in range(first, first + 40)]
            for index in range(rounds):
                for client in clients:
                    client.send(wire.query(f"n{index}.{index % 7}.example.com", ("A", "TXT", "ANY")[index % 3]))
                    client.send(os.urandom(64))
                if index % 50 == 49:
                    time.sleep(0.05)
            time.sleep(0.5)
            for client in clients:
                client.sock.close()
            for slot in range(first, first + 40):
                self.close_slot(slot)

        storm(0, 400)
        before = self.resolver.resident()
        for _ in range(3):
            storm(0, 400)
        grown = self.resolver.resident() - before
        print(f"\n    resident: {before >> 10} KiB, {grown >> 10} KiB more after three storms", flush=True)
        self.assertLess(grown, 1 << 20)
        self.assertLess(before, 16 << 20)
        metrics = self.resolver.metrics()
        self.assertEqual((metrics["lookups"], metrics["open_slots"]), (0, 0))
