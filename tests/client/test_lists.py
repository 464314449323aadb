# SPDX-License-Identifier: Apache-2.0
"""What a list can meet: pages that expire, lie, break off, are no lists, or come a byte a second."""

import asyncio
import gzip
import json
import time
import unittest

from case import Together, choose, scenario, wait_until
from helpers.kubeserver import GO_ON


def load_tests(loader, tests, pattern):
    return choose(tests)


async def give_up(day, answer, **options):
    """The first list has an answer without an end, and another is asked for; the server."""
    store, server = await day.begin(20, **options)
    server.fault("list", answer, 1)
    probe = await day.probe(server)
    await probe.settle(store, 50, every=0.5)
    await wait_until(lambda: server.count("watch") == 1)
    await day.judge(probe, server, requests=3)
    return server


class TestLists(unittest.TestCase):
    @scenario()
    async def test_410_at_a_page(day):
        """The third attempt is made in one piece."""
        store, server = await day.begin(250)
        async def expired(request, out):
            store.delete(f"thing-{server.count('page')}")
            server.snapshots.clear()
            return GO_ON
        server.fault("page", expired, 2)
        probe = await day.probe(server, page_size=50)
        await wait_until(lambda: server.count("watch") == 1)
        store.put("later")
        await probe.settle(store)
        await day.judge(probe, server, requests=6)

    @scenario(15)
    async def test_huge_and_lying(day):
        """Twenty thousand objects twice; what the pages say of how many follow is nonsense."""
        store, server = await day.begin(20000, value="v" * 100)
        lies = [0, -1, 2**62, "many", None, 3.5, {}]
        server.remaining = lambda true: lies[server.count() % len(lies)]
        probe = await day.probe(server, page_size=500)
        await wait_until(lambda: server.count("watch") == 1, 40, "the first list")
        await probe.settle(store, every=1)
        probe.mark()
        for i in range(0, 20000, 7):
            store.delete(f"thing-{i}")
        store.compact()
        server.drop_connections()
        await wait_until(lambda: server.count("list") == 2 and server.count("watch") == 3, 40)
        said = await probe.settle(store, every=1)
        assert said["syncs"] == 2, said["syncs"]
        assert said["upserts"] == 20000, "objects that had not changed were told of again"
        await day.judge(probe, server, requests=78)

    @scenario(10)
    async def test_pages_are_bounded_in_bytes(day):
        store, server = await day.begin(300, value="v" * 100000)
        pages = []
        async def note(request, out):
            pages.append(int(request.query["limit"]))
            return GO_ON
        server.fault("list page", note)
        probe = await day.probe(server, page_size=200)
        await wait_until(lambda: server.count("watch") == 1, 30)
        # The first is 20 MB, and the next has half. Of no page more than an object is held: what
        # the program has is the values themselves, which it keeps.
        assert pages == [200, 100], pages
        assert probe.memory_kib("VmHWM") < 300 * 100 + (16 << 10), probe.memory_kib("VmHWM")
        await probe.settle(store)
        await day.judge(probe, server, requests=3, peak_kib=96 << 10)

    @scenario(10)
    async def test_pages_cut_off(day):
        for http in ("2", "1"):
            store, server = await day.begin(100, http=http)
            async def cut(request, out):
                await out.start(200)
                await out.write(b'{"items":[{"metadata":{"name":"thing-1","namespace":"defau')
                await out.reset()
            server.fault("list", cut, 1)
            server.fault("page", cut, 2)
            probe = await day.probe(server, page_size=40)
            await probe.settle(store)
            await wait_until(lambda: server.count("watch") == 1)
            # A page that breaks off is asked for again, not the list.
            assert server.count("list") == 2, server.requests
            await day.judge(probe, server, requests=7)

    @scenario(12)
    async def test_answers_that_are_no_lists(day):
        """None of them may empty the cache."""
        store, server = await day.begin(20)
        probe = await day.probe(server)
        await probe.settle(store)
        bodies = [
            b"", b"<html>hello</html>", b'{"kind":"Status","status":"Success"}',
            b'{"items":null}', b'{"items":{},"metadata":{"resourceVersion":"9"}}',
            b'{"items":[],"metadata":{}}',
        ]
        async def nonsense(request, out):
            await server.say(out, 200, bodies.pop())
        server.fault("list", nonsense, 3)
        store.compact()
        store.version += 5
        store.oldest = store.version
        server.drop_connections()
        await wait_until(lambda: len(bodies) == 3, 30)
        server.fault("list", nonsense, 3)
        await wait_until(lambda: server.count("watch") == 3, 60)
        store.put("last")
        said = await probe.settle(store)
        assert said["removes"] == 0 and said["upserts"] == 21, said
        await day.judge(probe, server, requests=12)

    @scenario()
    async def test_a_page_that_leads_to_itself(day):
        store, server = await day.begin(20)
        async def again(request, out):
            await server.say(out, 200, {"items": [], "metadata": {
                "resourceVersion": "1", "continue": request.query.get("continue", "1000/5")}})
        server.fault("list page", again, 3)
        probe = await day.probe(server, page_size=5)
        await probe.settle(store)
        await day.judge(probe, server, requests=10)

    @scenario()
    async def test_a_list_from_a_cache_that_lags(day):
        """Versions that go backwards, objects that come back: the watch brings all up to date."""
        store, server = await day.begin(20)
        old = (store.version, list(store.objects.values()))
        probe = await day.probe(server, page_size=5)
        await wait_until(lambda: server.count("watch") == 1)
        store.put("thing-1", "newer")
        store.delete("thing-2")
        store.delete("thing-3")
        store.put("thing-3", "another")
        store.put("new")
        await probe.settle(store)
        async def lagging(request, out):
            version, things = old
            await server.say(out, 200, {"items": things, "metadata": {
                "resourceVersion": store.text(version)}})
        server.fault("list", lagging, 1)
        async def gone(request, out):
            await server.refuse(out, 410, "Expired")
        server.fault("watch", gone, 1)
        server.drop_connections()
        await wait_until(lambda: server.count("list") == 2)
        await wait_until(lambda: server.count("watch") == 3)
        await probe.settle(store)
        await day.judge(probe, server, requests=9)

    @scenario(8)
    async def test_answers_that_are_compressed(day):
        """Never asked for; a server that does it all the same is not believed."""
        store, server = await day.begin(20)
        asked = []
        async def compressed(request, out):
            asked.append(request.headers.get("accept-encoding"))
            body = json.dumps({"items": [], "metadata": {"resourceVersion": "1"}}).encode()
            await server.say(out, 200, gzip.compress(body), [("content-encoding", "gzip")])
        server.fault("list", compressed, 2)
        server.fault("watch", compressed, 1)
        probe = await day.probe(server)
        await probe.settle(store)
        await wait_until(lambda: server.count("watch") >= 2)
        store.put("last")
        await probe.settle(store)
        assert asked == [None] * 3, asked
        await day.judge(probe, server, requests=7)

    @scenario(35)
    async def test_no_answer_at_all(day):
        """A list that is never answered is given up, and its connection with it."""
        async def never(request, out):
            await asyncio.sleep(3600)
        server = await give_up(day, never)
        assert server.requests[0][3] != server.requests[1][3], "the same connection again"

    @scenario(35)
    async def test_a_page_a_byte_a_second(day):
        async def slow(request, out):
            await out.start(200)
            for byte in b'{"items":[{"metadata":{"name":"' + b"n" * 100000:
                await out.write(bytes([byte]))
                await asyncio.sleep(1)
        await give_up(day, slow)

    @scenario(35)
    async def test_headers_a_byte_a_second(day):
        async def slow(request, out):
            for byte in b"HTTP/1.1 200 OK\r\nX: " + b"n" * 100000:
                await out.send(bytes([byte]))
                await asyncio.sleep(1)
        await give_up(day, slow, http="1")

    @scenario(10)
    async def test_a_burst_of_objects_that_can_not_be_read(day):
        """A NUL in a text is JSON, but no text of ours: such objects are known by their metadata,
        however many are made at once, and without crowding out what else is asked."""
        store, server = await day.begin(20)
        store.fill(150, "\0", name="listed")
        together = Together()
        server.fault("get", together)
        probe = await day.probe(server, page_size=50)
        unreadable = {key for key in store.objects if "listed" in key}
        await probe.settle(store, metadata_only=unreadable)
        store.fill(300, "\0", name="watched")
        answer = probe.patch("thing-1", "in between")
        began = time.monotonic()
        assert (await answer)["status"] == 200
        assert time.monotonic() - began < 1
        store.delete("listed-3")
        store.delete("watched-299")
        unreadable = {key for key in store.objects if "ed-" in key}
        await probe.settle(store, metadata_only=unreadable)
        assert server.count("list") == 1 and server.count("watch") == 1
        assert together.most <= 8, together.most
        await day.judge(probe, server, requests=5 + 1 + 450)

    @scenario(8)
    async def test_metadata_that_is_refused_for_a_while(day):
        store, server = await day.begin(5)
        store.put("unreadable", "\0")
        async def refused(request, out):
            await server.refuse(out, 403, "Forbidden")
        server.fault("get", refused, 3)
        probe = await day.probe(server)
        await probe.settle(store, metadata_only={"default/unreadable"})
        await day.judge(probe, server, requests=6)
