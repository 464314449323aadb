# SPDX-License-Identifier: Apache-2.0
"""What a watch can meet: ends, silence, errors in the stream, lines that are cut or too long."""

import asyncio
import json
import unittest

from case import choose, scenario, wait_until
from helpers.kubeserver import Store, status_object

MIB = 1 << 20


def load_tests(loader, tests, pattern):
    return choose(tests)


def error_event(code, reason):
    return json.dumps({"type": "ERROR", "object": status_object(code, reason)}).encode() + b"\n"


class TestWatches(unittest.TestCase):
    @scenario()
    async def test_410_at_the_start(day):
        store, server = await day.begin(30)
        # As a status, as an event at once, and both again on the watches that follow.
        async def status(request, out):
            store.put("seen-by-the-next-list")
            await server.refuse(out, 410, "Expired")
        async def event(request, out):
            store.delete("thing-3")
            await server.say(out, 200, error_event(410, "Gone"))
        server.fault("watch", status, 1)
        server.fault("watch", event, 1)
        probe = await day.probe(server)
        await wait_until(lambda: server.count("watch") == 3)
        store.put("later")
        await probe.settle(store)
        assert server.count("list") == 3, server.requests
        await day.judge(probe, server, requests=6)

    @scenario()
    async def test_410_in_the_middle(day):
        store, server = await day.begin(30)
        async def middle(request, out):
            await out.start(200)
            store.put("thing-1", "told")
            await out.write(store.history[-1][2])
            store.put("thing-2", "never told")
            store.delete("thing-3")
            store.compact()
            await out.write(error_event(410, "Expired"))
            store.put("thing-4", "told in vain")
            await out.write(store.history[-1][2])
            await out.end()
        server.fault("watch", middle, 1)
        probe = await day.probe(server)
        await probe.settle(store)
        await wait_until(lambda: server.count("watch") == 2)
        await day.judge(probe, server, requests=4)

    @scenario(10)
    async def test_410_for_ever(day):
        """Lists that only lead to the next must not follow each other at once."""
        store, server = await day.begin(30)
        async def gone(request, out):
            await server.say(out, 200, error_event(410, "Expired"))
        fault = server.fault("watch", gone)
        probe = await day.probe(server)
        await asyncio.sleep(6)
        server.lift(fault)
        store.put("last")
        await probe.settle(store, 40)
        await day.judge(probe, server, requests=16)

    @scenario()
    async def test_bookmarks(day):
        """A quiet collection's watch goes on from the bookmark, though all before is compacted."""
        store = Store("opaque:/=&+")
        store.fill(10)
        server = await day.server(store)
        server.bookmark_seconds = 0.3
        probe = await day.probe(server)
        await wait_until(lambda: server.count("watch") == 1)
        # Events of other collections move the version on.
        for _ in range(3):
            store.version += 1000
            store.oldest = store.version - 1000
            await asyncio.sleep(0.5)
        store.oldest = store.version
        server.drop_connections()
        store.put("thing-0", "after the bookmark")
        await probe.settle(store)
        assert server.count("list") == 1, server.requests
        await day.judge(probe, server, requests=4)

    @scenario(8)
    async def test_watches_that_close_every_moment(day):
        store, server = await day.begin(30)
        server.watch_seconds = 0.1
        probe = await day.probe(server)
        for i in range(30):
            store.put(f"thing-{i}", "changed")
            await asyncio.sleep(0.2)
        await probe.settle(store)
        assert server.count("list") == 1
        # Six seconds, a second between two, and three more that events justify.
        await day.judge(probe, server, requests=14)

    @scenario(8)
    async def test_watches_that_close_at_once(day):
        store, server = await day.begin(30)
        async def close(request, out):
            await server.say(out, 200, b"")
        fault = server.fault("watch", close)
        probe = await day.probe(server)
        await asyncio.sleep(5)
        server.lift(fault)
        store.put("last")
        await probe.settle(store)
        await day.judge(probe, server, requests=12)

    @scenario(8)
    async def test_a_watch_falls_silent(day):
        store, server = await day.begin(5)
        async def silent(request, out):
            await out.start(200)
            await asyncio.sleep(3600)
        server.fault("watch", silent, 2)
        probe = await day.probe(server, silence_ms=1500)
        await wait_until(lambda: server.count("watch") == 1)
        store.put("unheard")
        await probe.settle(store)
        assert server.count("list") == 1, server.requests
        assert server.cancelled == 2, "the silent watches are not given back to the server"
        await day.judge(probe, server, requests=5)

    @scenario(10)
    async def test_a_byte_a_moment(day):
        """A watch that never comes to the end of a line is as good as silent."""
        store, server = await day.begin(5)
        async def slow(request, out):
            await out.start(200)
            store.put("late", "x" * 500)
            for byte in store.history[-1][2]:
                await out.write(bytes([byte]))
                await asyncio.sleep(0.2)
        server.fault("watch", slow, 1)
        probe = await day.probe(server, silence_ms=2000)
        await probe.settle(store, 10)
        await day.judge(probe, server, requests=4)

    @scenario(8)
    async def test_lines_cut_off(day):
        """Connections that break in the middle of a line, over both protocols."""
        for http in ("2", "1"):
            store, server = await day.begin(5, http=http)
            async def cut(request, out):
                await out.start(200)
                store.put("thing-1", f"cut {store.version}")
                line = store.history[-1][2]
                for at in range(0, len(line) // 2, 20):
                    await out.write(line[at:at + 20])
                if http == "2" and server.count("watch") == 1:
                    request.connection.abort()
                else:
                    await out.reset()
            server.fault("watch", cut, 3)
            probe = await day.probe(server)
            await probe.settle(store)
            assert server.count("list") == 1
            await day.judge(probe, server, requests=6)

    @scenario()
    async def test_characters_cut_in_two(day):
        store, server = await day.begin(3)
        text = "naïve — 東京 🜚 ́" * 20
        async def pieces(request, out):
            await out.start(200)
            for size in (1, 2, 3, 5, 7):
                store.put(f"utf-{size}", text)
                line = store.history[-1][2]
                for at in range(0, len(line), size):
                    await out.write(line[at:at + size])
                    await asyncio.sleep(0)
            await out.end()
        server.fault("watch", pieces, 1)
        probe = await day.probe(server)
        await wait_until(lambda: server.count("watch") == 2)
        said = await probe.settle(store)
        assert said["events"] == 5 and said["errors"] == 0, said
        await day.judge(probe, server, requests=3)

    @scenario(8)
    async def test_lines_beyond_the_cap(day):
        store, server = await day.begin(5)
        store.put("large-listed", "y" * (5 * MIB))
        probe = await day.probe(server)
        await probe.settle(store, metadata_only={"default/large-listed"})
        large = {"default/large-listed"}
        for i in range(8):
            name = f"large-{i % 3}"
            store.put(name, f"{i}" * (5 * MIB))
            store.put("thing-1", f"between {i}")
            large.add(f"default/{name}")
            await probe.settle(store, metadata_only=large)
            if i == 2:
                probe.mark()
        store.delete("large-1")
        store.delete("large-listed")
        store.put("large-2", "small again")
        large -= {"default/large-2"}
        said = await probe.settle(store, metadata_only=large)
        assert said["oversized"] >= 10, said["oversized"]
        assert server.count("list") == 1 and server.count("watch") == 1
        # One buffer of the size of the cap may stay in the allocator's hands, but not one a round.
        await day.judge(probe, server, requests=13, growth_kib=6 << 10)

    @scenario(10)
    async def test_errors_in_the_stream(day):
        """Error objects other than 410 keep the version; what can't be understood asks for a
        list."""
        store, server = await day.begin(5)
        said = [error_event(500, "InternalError"), error_event(429, "TooManyRequests"),
                b'{"type":"SURPRISE","object":{"metadata":{"name":"thing-1"}}}\n',
                b"no JSON at all\n", b'{"type":"ADDED"}\n', b'[]\n']
        async def wrong(request, out):
            line = said.pop(0)
            await out.start(200)
            store.put("thing-1", f"after {line[:30]!r}")
            await out.write(line)
            await asyncio.sleep(0.1)
            await out.end()
        server.fault("watch", wrong, len(said))
        probe = await day.probe(server)
        await wait_until(lambda: not said, 30)
        await probe.settle(store)
        assert server.count("list") <= 5, server.count("list")
        await day.judge(probe, server, requests=14)

    @scenario()
    async def test_events_told_twice(day):
        store, server = await day.begin(5)
        async def twice(request, out):
            await server.watch(request, out, lambda kind, line: line + line)
        server.fault("watch", twice)
        probe = await day.probe(server)
        await wait_until(lambda: server.count("watch") == 1)
        for i in range(50):
            store.put(f"thing-{i % 7}", f"value {i}")
        store.delete("thing-1")
        said = await probe.settle(store)
        # 5 of the list, 50 changes, one deletion.
        assert said["upserts"] == 55 and said["removes"] == 1, said
        await day.judge(probe, server, requests=2)

    @scenario()
    async def test_the_same_name_again(day):
        """Deleted and made again where nobody looked, and a late word about the old one."""
        store, server = await day.begin(5)
        async def hole(request, out):
            """Between two lists."""
            store.delete("thing-1")
            store.put("thing-1", "second")
            store.delete("thing-2")
            store.compact()
            await server.say(out, 200, error_event(410, "Expired"))
        server.fault("watch", hole, 1)
        async def late(request, out):
            await out.start(200)
            store.delete("thing-3")
            old = store.history[-1][2]
            await out.write(old)
            store.put("thing-3", "second")
            await out.write(store.history[-1][2])
            # A cache that lags says again what has been said.
            await out.write(old)
            await asyncio.sleep(0.5)
            await out.end()
        server.fault("watch", late, 1)
        probe = await day.probe(server)
        await wait_until(lambda: server.count("watch") == 3)
        said = await probe.settle(store)
        assert said["removes"] == 3, said
        await day.judge(probe, server, requests=6)

    @scenario(6)
    async def test_a_version_from_the_future(day):
        """A watch that reaches an API server behind the one that was listed is told to wait."""
        store, server = await day.begin(5)
        async def behind(request, out):
            await server.refuse(out, 504, "Timeout", "Too large resource version: 1005, current: 9",
                                [("retry-after", "1")])
        server.fault("watch", behind, 3)
        probe = await day.probe(server)
        await wait_until(lambda: server.count("watch") == 4)
        store.put("last")
        await probe.settle(store)
        assert server.count("list") == 1
        assert all(b - a >= 1 for a, b in zip(server.times("watch"), server.times("watch")[1:]))
        await day.judge(probe, server, requests=5)

    @scenario(20)
    async def test_a_flood(day):
        """Twenty thousand events, and memory as after the first thousands."""
        store, server = await day.begin(200)
        probe = await day.probe(server)
        await probe.settle(store)
        for i in range(20000):
            store.put(f"thing-{i % 200}", f"{i} " + "v" * 400)
            if i % 50 == 0:
                await asyncio.sleep(0.01)
            if i == 5000:
                await probe.settle(store)
                probe.mark()
        await probe.settle(store, 30)
        await day.judge(probe, server, requests=4, growth_kib=1024)
