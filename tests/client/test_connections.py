# SPDX-License-Identifier: Apache-2.0
"""What happens below HTTP: connections that are refused, silent, told to go away or reset, names
that move, certificates that are replaced."""

import asyncio
import time
import unittest

from case import choose, scenario, succeed, wait_until
from names import Net
from helpers.kubeserver import GO_ON, Authority

REFUSED_STREAM, INTERNAL_ERROR, ENHANCE_YOUR_CALM = 7, 2, 11


def load_tests(loader, tests, pattern):
    return choose(tests)


async def answers_soon(probe, seconds, most=1.0):
    """Nothing that goes on below may hold up the program's loop."""
    end = time.monotonic() + seconds
    while (began := time.monotonic()) < end:
        await probe.dump()
        took = time.monotonic() - began
        assert took < most, f"the loop stood still for {took:.1f} s"
        await asyncio.sleep(0.1)


class TestConnections(unittest.TestCase):
    @scenario(8)
    async def test_refused_for_a_while(day):
        store, server = await day.begin(20)
        probe = await day.probe(server)
        await probe.settle(store)
        await server.stop()
        # Nobody listens, but nobody else gets the port.
        answers = [probe.patch(f"thing-{i}", "it", retry_ms=30000) for i in range(10)]
        await answers_soon(probe, 3)
        assert not any(answer.done() for answer in answers)
        store.put("meanwhile")
        await day.listen(server)
        await succeed(answers)
        await probe.settle(store)
        assert server.count("list") == 1
        await day.judge(probe, server, requests=13)

    @scenario(16)
    async def test_accepted_and_never_answered(day):
        store, server = await day.begin(20)
        await server.stop()
        accepted = []
        async def hold(reader, writer):
            accepted.append(writer)
            await reader.read(-1)
        deaf = await asyncio.start_server(hold, sock=server.sock.dup())
        probe = await day.probe(server)
        await answers_soon(probe, 5)
        assert len(accepted) == 1, "another connection before the first was given up"
        deaf.close()
        await day.listen(server)
        await probe.settle(store, 30)
        await day.judge(probe, server, requests=2)

    @scenario(8)
    async def test_no_tls_there(day):
        """Something else has the port for a while."""
        store, server = await day.begin(20)
        await server.stop()
        async def talk(reader, writer):
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await writer.drain()
            writer.close()
        other = await asyncio.start_server(talk, sock=server.sock.dup())
        probe = await day.probe(server)
        await answers_soon(probe, 2)
        other.close()
        await day.listen(server)
        await probe.settle(store)
        await day.judge(probe, server, requests=2)

    @scenario(8)
    async def test_certificates_are_replaced(day):
        """The server's by the same authority; then by another one, whose file is switched first
        on the server and a moment later here."""
        authority = Authority(day.directory, "first")
        store, server = await day.begin(20, certificate=authority.issue())
        with open(authority.pem, encoding="ascii") as pem:
            day.write("ca.pem", pem.read())
        probe = await day.probe(server, ca=day.path("ca.pem"))
        await probe.settle(store)
        await server.stop()
        server.certificate = authority.issue()
        await day.listen(server)
        store.put("by another certificate")
        await probe.settle(store)
        await server.stop()
        other = Authority(day.directory, "second")
        server.certificate = other.issue()
        await day.listen(server)
        store.put("by another authority")
        answer = probe.patch("thing-1", "it", retry_ms=30000)
        await answers_soon(probe, 1.5)
        said = await probe.dump()
        assert not said["healthy"] and not answer.done()
        assert server.count() <= 3, "requests to a server that nobody vouches for"
        with open(other.pem, encoding="ascii") as pem:
            day.write("ca.pem", pem.read())
        await probe.settle(store)
        assert (await answer)["status"] == 200
        assert server.count("list") == 1
        await day.judge(probe, server, requests=5)

    @scenario(8)
    async def test_goaway(day):
        """A server that shuts down in good order: streams under way end, no new ones begin."""
        store, server = await day.begin(200)
        server.watch_seconds = 2
        async def away(request, out):
            if server.count() % 20 == 0:
                await request.connection.goaway()
            return GO_ON
        server.fault("any", away)
        probe = await day.probe(server)
        await probe.settle(store)
        for some in range(0, 200, 10):
            await succeed(probe.patch(f"thing-{i}", "it", retry_ms=30000)
                          for i in range(some, some + 10))
        await wait_until(lambda: server.count("watch") >= 3)
        await probe.settle(store)
        assert server.count("list") == 1
        await day.judge(probe, server, requests=212)

    @scenario(8)
    async def test_goaway_and_the_end(day):
        """Streams beyond the last that it names, or all of them, are not answered any more."""
        store, server = await day.begin(60)
        done = []
        async def away(request, out):
            if len(done) in (10, 30):
                done.append(None)
                await request.connection.goaway(0, 1)
                await asyncio.sleep(0.05)
                request.connection.abort()
                return None
            done.append(request.target)
            return GO_ON
        server.fault("write", away)
        probe = await day.probe(server)
        await probe.settle(store)
        answers = [probe.patch(f"thing-{i}", "it", retry_ms=30000) for i in range(60)]
        await succeed(answers)
        await probe.settle(store)
        await day.judge(probe, server, requests=190)

    @scenario(8)
    async def test_streams_are_refused(day):
        """REFUSED_STREAM: nothing was done, so it may be tried again at once, but not for ever."""
        store, server = await day.begin(20)
        async def refuse(request, out):
            await out.reset(REFUSED_STREAM)
        for kind in ("list", "watch", "write"):
            server.fault(kind, refuse, 1)
        probe = await day.probe(server)
        await probe.settle(store)
        answer = await probe.patch("thing-1", "it", retry_ms=10000)
        assert answer["status"] == 200, answer
        fault = server.fault("any", refuse)
        server.drop_connections()
        answer = probe.patch("thing-1", "again", retry_ms=30000)
        await answers_soon(probe, 4)
        server.lift(fault)
        assert (await answer)["status"] == 200
        await probe.settle(store)
        await day.judge(probe, server, requests=100)

    @scenario(10)
    async def test_streams_and_connections_end_in_errors(day):
        store, server = await day.begin(40)
        codes = [INTERNAL_ERROR, ENHANCE_YOUR_CALM]
        async def reset(request, out):
            await out.reset(codes[server.count() % 2])
        async def half(request, out):
            await out.start(200)
            await out.write(b'{"metadata":')
            await out.reset(INTERNAL_ERROR)
        async def calm(request, out):
            await request.connection.goaway(ENHANCE_YOUR_CALM)
            request.connection.abort()
        server.fault("list write", reset, 4)
        server.fault("watch", reset, 2)
        server.fault("write", half, 2)
        server.fault("watch write", calm, 4)
        probe = await day.probe(server)
        answers = [probe.patch(f"thing-{i}", "it", retry_ms=30000) for i in range(40)]
        await succeed(answers)
        await probe.settle(store)
        await day.judge(probe, server, requests=300)

    @scenario(6)
    async def test_calm_for_ever(day):
        """Every connection is told to calm down: there must not be many."""
        store, server = await day.begin(20)
        async def calm(request, out):
            await request.connection.goaway(ENHANCE_YOUR_CALM)
            request.connection.abort()
        fault = server.fault("any", calm)
        probe = await day.probe(server)
        await answers_soon(probe, 4)
        assert server.connections <= 12, server.connections
        server.lift(fault)
        await probe.settle(store)
        await day.judge(probe, server, requests=14)

    @scenario(6)
    async def test_one_stream_at_a_time(day):
        """The watch takes the only one: what else is asked needs another connection."""
        store, server = await day.begin(30, max_streams=1)
        probe = await day.probe(server)
        await wait_until(lambda: server.count("watch") == 1)
        answers = [probe.patch(f"thing-{i}", "it", retry_ms=20000) for i in range(30)]
        await succeed(answers)
        await probe.settle(store)
        # The first that are sent on each, before it has said so, are refused.
        assert server.connections <= 40, server.connections
        assert len(server.open) <= 8, len(server.open)
        await day.judge(probe, server, requests=32)

    @scenario(6)
    async def test_narrow_windows(day):
        """Bodies of which the server takes a hundred bytes at a time."""
        store, server = await day.begin(30, window=100)
        probe = await day.probe(server)
        await probe.settle(store)
        answers = [probe.patch(f"thing-{i}", "v" * 20000) for i in range(20)]
        await succeed(answers)
        await probe.settle(store)
        await day.judge(probe, server, requests=22)

    @scenario(8)
    async def test_closed_windows(day):
        """A server that takes nothing of the bodies for a while costs no time of ours."""
        store, server = await day.begin(30, window=1000)
        probe = await day.probe(server)
        await probe.settle(store)
        server.deaf = True
        answers = [probe.patch(f"thing-{i}", "v" * 20000) for i in range(5)]
        await answers_soon(probe, 1)
        began = probe.cpu_ms()
        store.put("thing-29", "the watch goes on")
        await answers_soon(probe, 3)
        assert probe.cpu_ms() - began < 500, f"{probe.cpu_ms() - began} ms of 3000"
        await server.hear()
        await succeed(answers)
        await probe.settle(store)
        await day.judge(probe, server, requests=7)

    @scenario(6)
    async def test_without_http2(day):
        store, server = await day.begin(100, http="1")
        probe = await day.probe(server, page_size=30)
        await probe.settle(store)
        answers = [probe.patch(f"thing-{i}", "it") for i in range(100)]
        await succeed(answers)
        for i in range(100):
            store.put(f"thing-{i}", "more")
        await probe.settle(store)
        assert server.connections <= 8, server.connections
        await day.judge(probe, server, requests=105)

    @scenario(15)
    async def test_the_name_moves(day):
        """The API server gets another address; at the old one nobody listens."""
        net = Net(day)
        store, server = await day.begin(20, sock=net.listener("127.0.0.2"))
        probe = await day.probe(server, host="api.test", prefix=net.prefix)
        await probe.settle(store)
        await server.stop()
        server.sock.close()
        net.address = "127.0.0.3"
        server.sock = net.listener("127.0.0.3")
        await day.listen(server)
        store.put("elsewhere")
        answer = await probe.patch("thing-1", "it", retry_ms=10000)
        assert answer["status"] == 200, answer
        await probe.settle(store, 10)
        assert server.count("list") == 1
        await day.judge(probe, server, requests=4)

    @scenario(40)
    async def test_the_old_address_swallows_all(day):
        """As when a load balancer dies: packets to it are lost without a word."""
        net = Net(day)
        store, server = await day.begin(20, sock=net.listener("127.0.0.2"))
        server.bookmark_seconds = 1
        probe = await day.probe(server, host="api.test", prefix=net.prefix, silence_ms=3000)
        await probe.settle(store)
        net.namespace.nft("add table ip t\n"
                          "add chain ip t out { type filter hook output priority 0; }\n"
                          "add rule ip t out ip daddr 127.0.0.2 tcp dport 6443 drop\n"
                          "add rule ip t out ip saddr 127.0.0.2 tcp sport 6443 drop\n")
        net.address = "127.0.0.3"
        other = await day.server(store, net.listener("127.0.0.3"))
        other.requests = server.requests
        store.put("elsewhere")
        await probe.settle(store, 45, every=0.5)
        assert server.count("list") == 1
        await day.judge(probe, server, requests=5)

    @scenario(25)
    async def test_no_answer_from_the_name_server(day):
        """A lookup that takes a quarter of a minute is nobody's business but its request's."""
        net = Net(day)
        store, server = await day.begin(20, sock=net.listener("127.0.0.2"))
        probe = await day.probe(server, host="api.test", prefix=net.prefix)
        await probe.settle(store)
        net.address = None
        server.drop_connections()
        await wait_until(lambda: net.questions > 2)
        # Some that are given up while the name is looked up, and one that waits until it comes.
        short = [probe.patch("thing-2", "it", retry_ms=60000) for _ in range(3)]
        answer = probe.patch("thing-1", "it", retry_ms=60000)
        for number in range(1, 4):
            await asyncio.sleep(0.3)
            probe.tell(f"cancel {number}")
        await answers_soon(probe, 14)
        assert not any(given_up.done() for given_up in short) and not answer.done(), answer
        net.address = "127.0.0.2"
        assert (await answer)["status"] == 200
        await probe.settle(store, 40)
        await day.judge(probe, server, requests=5)
