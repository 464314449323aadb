# SPDX-License-Identifier: Apache-2.0
"""Answers that are no success: too many requests, storms of 5xx, conflicts, refused tokens."""

import asyncio
import json
import random
import time
import unittest

from case import Together, choose, scenario, succeed, wait_until
from helpers.kubeserver import COLLECTION, GO_ON, Store


def load_tests(loader, tests, pattern):
    return choose(tests)


def gaps(server, kind):
    times = server.times(kind)
    return [later - earlier for earlier, later in zip(times, times[1:])]


class TestAnswers(unittest.TestCase):
    @scenario(10)
    async def test_429_says_when(day):
        store, server = await day.begin(20)
        async def later(request, out):
            await server.refuse(out, 429, "TooManyRequests", headers=[("retry-after", "2")])
        for kind in ("list", "watch", "write"):
            server.fault(kind, later, 2)
        probe = await day.probe(server)
        await probe.settle(store)
        answer = await probe.patch("thing-1", "it", retry_ms=30000)
        assert answer["status"] == 200, answer
        await wait_until(lambda: server.count("watch") == 3)
        await probe.settle(store)
        for kind in ("list", "watch", "write"):
            assert len(gaps(server, kind)) == 2 and min(gaps(server, kind)) >= 2, gaps(server, kind)
        await day.judge(probe, server, requests=9)

    @scenario(8)
    async def test_429_without_a_word(day):
        store, server = await day.begin(20)
        async def later(request, out):
            await server.refuse(out, 429, "TooManyRequests")
        fault = server.fault("any", later)
        probe = await day.probe(server)
        answer = probe.patch("thing-1", "it", retry_ms=4000)
        assert (await answer)["status"] == 429
        assert server.count("write") <= 6, server.count("write")
        server.lift(fault)
        await probe.settle(store)
        await day.judge(probe, server, requests=16)

    @scenario(15)
    async def test_a_storm_of_5xx(day):
        """All answers are errors, then three of four, with a hundred writes under way."""
        store, server = await day.begin(100)
        dice = random.Random(5)
        calmer = time.monotonic() + 3
        async def storm(request, out):
            if time.monotonic() > calmer and dice.random() < 0.25:
                return GO_ON
            code = dice.choice([500, 502, 503, 504])
            if code == 502:
                await server.say(out, code, b"<html>Bad Gateway</html>")
            else:
                await server.refuse(out, code, "InternalError", "etcdserver: request timed out")
        fault = server.fault("any", storm)
        probe = await day.probe(server)
        answers = [probe.patch(f"thing-{i}", f"storm {i}", retry_ms=60000) for i in range(100)]
        await asyncio.sleep(8)
        server.lift(fault)
        await succeed(answers)
        await probe.settle(store)
        # Of each write some six within the storm, as the waits double.
        await day.judge(probe, server, requests=900)

    @scenario(5)
    async def test_errors_that_stay(day):
        """What another attempt can't mend is told at once."""
        store, server = await day.begin(3)
        probe = await day.probe(server)
        await probe.settle(store)
        cases = [(400, "BadRequest"), (404, "NotFound"), (409, "Conflict"), (413, "TooLarge"),
                 (422, "Invalid"), (501, "NotImplemented")]
        for code, reason in cases:
            async def refuse(request, out):
                await server.refuse(out, code, reason, f"because {code}")
            server.fault("write", refuse, 1)
            answer = await probe.patch("thing-1", "it", retry_ms=60000)
            assert (answer["status"], answer["reason"]) == (code, reason), answer
            assert f"because {code}" in answer["error"], answer
        await day.judge(probe, server, requests=2 + len(cases))

    @scenario()
    async def test_409_is_decided_again(day):
        store, server = await day.begin(3)
        probe = await day.probe(server)
        said = await probe.settle(store)
        version = said["objects"]["default/thing-1"]["version"]
        store.put("thing-1", "somebody else's")
        answer = await probe.patch("thing-1", "mine", version, retry_ms=60000)
        assert (answer["status"], answer["reason"]) == (409, "Conflict"), answer
        assert server.count("write") == 1
        path = COLLECTION.replace("/things", "/namespaces/default/things/thing-1")
        read = json.loads((await probe.send("GET", path))["body"])
        answer = await probe.patch("thing-1", "mine", read["metadata"]["resourceVersion"])
        assert answer["status"] == 200
        await probe.settle(store)
        await day.judge(probe, server, requests=5)

    @scenario(8)
    async def test_a_token_expires(day):
        """401, and 403 of a server that lets anybody in as nobody: the file is read again."""
        for refusal in (401, 403):
            store, server = await day.begin(20)
            server.tokens, server.refusal = {"first"}, refusal
            probe = await day.probe(server, token="first\n")
            await probe.settle(store)
            await wait_until(lambda: server.count("watch") == 1)
            # The kubelet is late: for a while the file still has the old one.
            server.tokens = {"second"}
            server.drop_connections()
            store.put("meanwhile")
            await asyncio.sleep(1.5)
            day.write("token", "second\n")
            await probe.settle(store)
            answer = await probe.patch("thing-1", "it")
            assert answer["status"] == 200, answer
            assert server.count("list") == 1, server.requests
            await day.judge(probe, server, requests=8)

    @scenario(8)
    async def test_a_token_is_refused_while_its_file_is_late(day):
        """A write that may be tried for a minute is not lost to a token that is a second late."""
        store, server = await day.begin(3)
        server.tokens = {"first"}
        probe = await day.probe(server, token="first")
        await probe.settle(store)
        server.tokens = {"second"}
        answer = probe.patch("thing-1", "it", retry_ms=60000)
        hasty = await probe.patch("thing-2", "it")
        assert hasty["status"] == 401, hasty
        await asyncio.sleep(1.5)
        day.write("token", "second")
        assert (await answer)["status"] == 200, answer
        await probe.settle(store)
        await day.judge(probe, server, requests=12)

    @scenario()
    async def test_more_requests_than_places(day):
        """A thousand writes at once: never more than 64 in flight, and the watch beside them."""
        store, server = await day.begin(1000)
        flight = Together()
        server.fault("write", flight)
        probe = await day.probe(server)
        await probe.settle(store)
        began = time.monotonic()
        await succeed(probe.patch(f"thing-{i}", "it") for i in range(1000))
        await probe.settle(store)
        assert flight.most <= 64, flight.most
        assert server.connections == 1
        assert time.monotonic() - began < 15
        await day.judge(probe, server, requests=1012)

    @scenario()
    async def test_what_is_urgent_does_not_wait(day):
        """Every place is taken by a write that is not answered: a heartbeat goes out all the
        same, also the second time."""
        store, server = await day.begin(100)
        let_go = asyncio.Event()
        async def stuck(request, out):
            if b"stuck" in request.body:
                await let_go.wait()
            elif server.count("write") == 81:
                return await server.refuse(out, 503, "ServiceUnavailable")
            return GO_ON
        server.fault("write", stuck)
        probe = await day.probe(server)
        await probe.settle(store)
        answers = [probe.patch(f"thing-{i}", "stuck") for i in range(80)]
        await wait_until(lambda: server.count("write") == 64)
        for i in range(17):
            beat = probe.patch("thing-90", f"beat {i}", retry_ms=5000, word="urgent")
            answer = await asyncio.wait_for(beat, 3)
            assert answer["status"] == 200, answer
        assert not any(answer.done() for answer in answers)
        let_go.set()
        await succeed(answers)
        await probe.settle(store)
        await day.judge(probe, server, requests=2 + 80 + 18)

    @scenario()
    async def test_nobody_else_hears_of_us(day):
        """No redirect is followed, and no proxy of the environment is asked: the token goes to
        the API server only."""
        store = Store()
        store.fill(5)
        server, other = await day.server(store), await day.server(store)
        async def elsewhere(request, out):
            await server.say(out, 307, b"", [("location",
                                              f"https://127.0.0.1:{other.port}{request.target}")])
        server.fault("list", elsewhere, 1)
        server.fault("write", elsewhere, 1)
        proxy = f"http://127.0.0.1:{other.port}"
        probe = await day.probe(server, token="sesame", environment={
            name: proxy for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")})
        await probe.settle(store)
        answer = await probe.patch("thing-1", "it", retry_ms=5000)
        assert answer["status"] == 307, answer
        assert other.connections == 0
        await day.judge(probe, server, requests=4)
