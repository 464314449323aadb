# SPDX-License-Identifier: Apache-2.0
"""What the tests of this layer share: scenarios that run side by side, each with its own server
and its own process of kube_cache.

A scenario is a coroutine of a Day. Nearly all of its time is waiting, so all that are chosen begin
at once, in one event loop; a test waits for its own and fails as it did.
"""

import asyncio
import functools
import json
import logging
import os
import shutil
import socket
import tempfile
import threading
import time
import traceback
import unittest

from helpers.kubeserver import COLLECTION, GO_ON, Authority, Server, Store
from helpers.local import BIN
from helpers.netns import die_with_parent

PROGRAM = os.path.join(os.path.dirname(BIN), "tests/client/kube_cache")
TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")

# What an honest program may take, with room for a loaded machine: what is looked for is a loop
# that spins or a leak, which take many times as much.
CPU_MS, CPU_MS_PER_CONNECTION, CPU_MS_PER_REQUEST, CPU_MS_PER_EVENT = 500, 20, 3, 0.1
RSS_KIB, PEAK_KIB = 3072, 48 << 10

# At one time: more would only wait for each other.
SIDE_BY_SIDE = 24


async def wait_until(condition, seconds=20, what="it"):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} has not come to be within {seconds} s")
        await asyncio.sleep(0.02)


async def succeed(answers):
    """Waits for all of them."""
    said = await asyncio.gather(*answers)
    assert all(answer["status"] == 200 for answer in said), said


class Together:
    """A fault that only counts how many requests are answered at one time."""

    def __init__(self):
        self.now = self.most = 0

    async def __call__(self, request, out):
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.02)
        self.now -= 1
        return GO_ON


class Probe:
    """A process that keeps the cache."""

    def __init__(self, process, log):
        self.process = process
        self.log = log
        self.dumps = asyncio.Queue()
        self.answers = {}
        self.sent = 0
        self.reader = asyncio.ensure_future(self.read())
        self.marked_kib = None

    async def read(self):
        while line := await self.process.stdout.readline():
            said = json.loads(line)
            if "id" not in said:
                self.dumps.put_nowait(said)
            elif not self.answers[said["id"]].done():
                self.answers[said["id"]].set_result(said)

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")

    async def dump(self, seconds=20):
        """How the cache is now. The objects are by key."""
        self.tell("dump")
        said = await asyncio.wait_for(self.dumps.get(), seconds)
        said["objects"] = dict(said["objects"])
        return said

    def send(self, method, path, body=None, retry_ms=0, word="send"):
        """A future of the answer."""
        self.sent += 1
        answer = self.answers[self.sent] = asyncio.get_running_loop().create_future()
        text = f" {json.dumps(body)}" if body is not None else ""
        self.tell(f"{word} {self.sent} {method} {retry_ms} {path}{text}")
        return answer

    def patch(self, name, value, version=None, retry_ms=0, word="send"):
        body = {"spec": {"value": value}}
        if version:
            body["metadata"] = {"resourceVersion": version}
        path = COLLECTION.replace("/things", f"/namespaces/default/things/{name}")
        return self.send("PATCH", path, body, retry_ms, word)

    async def equals(self, store, metadata_only=()):
        truth = {}
        for key, thing in store.objects.items():
            truth[key] = {"uid": thing["metadata"]["uid"],
                          "version": thing["metadata"]["resourceVersion"],
                          "value": None if key in metadata_only else thing["spec"]["value"]}
        said = await self.dump()
        return said if said["objects"] == truth else None

    async def settle(self, store, seconds=20, metadata_only=(), every=0.1):
        """Waits until the cache is the server's truth; the dump."""
        end = time.monotonic() + seconds
        while not (said := await self.equals(store, metadata_only)):
            if time.monotonic() > end:
                said = await self.dump()
                del said["objects"]
                raise AssertionError(f"the cache is not the truth after {seconds} s: {said}\n"
                                     f"{self.words()}")
            await asyncio.sleep(every)
        return said

    def words(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-3000:]

    def memory_kib(self, field="VmRSS"):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(field))

    def cpu_ms(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK_MS

    def mark(self):
        """From here on memory has to stay flat."""
        self.marked_kib = self.memory_kib()

    async def end(self):
        self.process.stdin.close()
        try:
            status = await asyncio.wait_for(self.process.wait(), 10)
        except asyncio.TimeoutError:
            self.process.kill()
            raise AssertionError("it does not end with its input") from None
        if status != 0:
            raise AssertionError(f"it ended with {status}: {self.words()}")


class Day:
    """The world of one scenario."""

    def __init__(self, name, directory):
        self.name = name
        self.directory = os.path.join(directory, name)
        os.mkdir(self.directory)
        self.servers = []
        self.probes = []
        self.report = ""
        self.cleanups = []

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        """Switches the file in one step, as the kubelet does."""
        with open(self.path(name + ".new"), "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.path(name + ".new"), self.path(name))

    def socket(self):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", 0))
        return sock

    async def server(self, store, sock=None, certificate=None, **options):
        """A server that listens; its port is kept while it doesn't."""
        server = Server(store, **options)
        server.sock = sock or self.socket()
        server.port = server.sock.getsockname()[1]
        server.certificate = certificate or AUTHORITY.certificate
        self.servers.append(server)
        await self.listen(server)
        return server

    async def begin(self, count, value="", **options):
        """A store with so many objects, and a server of it."""
        store = Store()
        store.fill(count, value)
        return store, await self.server(store, **options)

    async def listen(self, server):
        await server.start(server.certificate, server.sock.dup())

    async def probe(self, server, host="127.0.0.1", ca=None, token=None, silence_ms=0, page_size=0,
                    prefix=(), environment=None):
        user = {"tokenFile": self.path("token")} if token else {}
        if token:
            self.write("token", token)
        self.write("kubeconfig", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "clusters": [{"name": "it", "cluster": {
                "server": f"https://{host}:{server.port}",
                "certificate-authority": ca or AUTHORITY.pem}}],
            "users": [{"name": "it", "user": user}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}))
        log = self.path(f"log-{len(self.probes)}")
        with open(log, "wb") as errors:
            process = await asyncio.create_subprocess_exec(
                *prefix, PROGRAM, self.path("kubeconfig"), str(silence_ms), str(page_size),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=errors,
                limit=64 << 20, preexec_fn=die_with_parent,
                env={**os.environ, **(environment or {})})
        probe = Probe(process, log)
        self.probes.append(probe)
        return probe

    async def judge(self, probe, server, requests, growth_kib=RSS_KIB, peak_kib=PEAK_KIB):
        """The end of a scenario: what it took, and whether that is within bounds."""
        said = await probe.dump()
        taken, kib = server.count(), probe.memory_kib()
        grown = kib - probe.marked_kib if probe.marked_kib else 0
        cpu = probe.cpu_ms()
        may = CPU_MS + CPU_MS_PER_CONNECTION * server.connections + CPU_MS_PER_REQUEST * taken + \
            CPU_MS_PER_EVENT * (said["events"] + said["upserts"] + said["removes"])
        peak = probe.memory_kib("VmHWM")
        self.report = (f"requests {taken} of {requests}, connections {server.connections}, "
                       f"events {said['events']}, cpu {cpu:.0f} of {may:.0f} ms, "
                       f"rss {kib} KiB (+{grown}), peak {peak}")
        problems = list(server.errors)
        if taken > requests:
            problems.append(f"more requests than {requests}: " + "\n".join(
                f"{at - server.requests[0][0]:.2f} {kind} {target}"
                for at, kind, target, _ in server.requests[:60]))
        if cpu > may:
            problems.append("too much CPU time")
        if grown > growth_kib:
            problems.append("memory grows")
        if peak > peak_kib:
            problems.append(f"more memory than {peak_kib} KiB")
        if said["wrong"]:
            problems.append(f"{said['wrong']} objects told of in an impossible order")
        if problems:
            raise AssertionError(f"{self.report}\n" + "\n".join(problems) + "\n" + probe.words())

    async def close(self):
        try:
            for probe in self.probes:
                if probe.process.returncode is None:
                    await probe.end()
        finally:
            for probe in self.probes:
                if probe.process.returncode is None:
                    probe.process.kill()
            for server in self.servers:
                await server.stop()
                server.sock.close()
            for cleanup in self.cleanups:
                cleanup()


class Outcome:
    def __init__(self):
        self.done = threading.Event()
        self.error = None
        self.skipped = None
        self.report = ""


SCENARIOS = {}  # name: (coroutine function, about how many seconds it takes)
OUTCOMES = {}  # of those that are chosen
AUTHORITY = None


def scenario(seconds=5):
    """Makes a test method of a coroutine function of a day."""
    def wrap(fn):
        SCENARIOS[fn.__name__] = (fn, seconds)

        @functools.wraps(fn)
        def test(self):
            begin()
            outcome = OUTCOMES[fn.__name__]
            outcome.done.wait()
            if outcome.report:
                print(f"\n    {outcome.report} ", end="", flush=True)
            if outcome.skipped:
                self.skipTest(outcome.skipped)
            if outcome.error:
                self.fail(outcome.error)

        return test
    return wrap


def choose(tests):
    """For a module's load_tests(): these are going to be run."""
    for test in tests:
        if hasattr(test, "_testMethodName"):
            OUTCOMES[test._testMethodName] = Outcome()
        else:
            choose(test)
    return tests


async def live(name, directory, turn, outcome):
    async with turn:
        day = Day(name, directory)
        for step in (lambda: SCENARIOS[name][0](day), day.close):
            try:
                await step()
            except unittest.SkipTest as why:
                outcome.skipped = str(why)
            except BaseException:
                outcome.error = (outcome.error or "") + traceback.format_exc()
        if outcome.error:
            outcome.error += "".join(probe.words() for probe in day.probes)
        outcome.report = day.report
        outcome.done.set()


async def live_all(directory):
    turn = asyncio.Semaphore(SIDE_BY_SIDE)
    # The slow ones first, so that the others are done beside them.
    names = sorted(OUTCOMES, key=lambda name: -SCENARIOS[name][1])
    await asyncio.gather(*(live(name, directory, turn, OUTCOMES[name]) for name in names))


def run_all():
    global AUTHORITY
    directory = tempfile.mkdtemp(prefix="sandboxrun-client-")
    # Clients that go away are what this is about.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        AUTHORITY = Authority(directory, "ca")
        AUTHORITY.certificate = AUTHORITY.issue()
        asyncio.run(live_all(directory))
    except BaseException:
        for outcome in OUTCOMES.values():
            outcome.error = outcome.error or traceback.format_exc()
    finally:
        for outcome in OUTCOMES.values():
            outcome.done.set()
        shutil.rmtree(directory, ignore_errors=True)


@functools.cache
def begin():
    # No daemon: the end of the program waits until it has cleared up.
    threading.Thread(target=run_all).start()
