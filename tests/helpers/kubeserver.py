# SPDX-License-Identifier: Apache-2.0
"""An API server of one collection that tells the truth unless a fault is put in its way.

Store is the truth: objects and the history that watches are served from. Server answers lists,
watches, GETs, merge patches and nothing else; before it does, the first fault that fits a request
may answer in its place. Every request is counted.
"""

import asyncio
import json
import os
import ssl
import subprocess
import time

from helpers.kubeserver_http import Connection1, Connection2, Gone, h2

COLLECTION = "/apis/test.dev/v1/things"
GO_ON = object()  # of a fault: answer as if it had not been there

CONF = """[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical,CA:TRUE
[leaf]
subjectAltName = IP:127.0.0.1,DNS:api.test
"""


class Authority:
    """A certificate authority in a directory, and the server certificates that it signs."""

    def __init__(self, directory, name):
        self.directory = directory
        self.name = name
        self.issued = 0
        self.pem = os.path.join(directory, f"{name}.pem")
        with open(os.path.join(directory, "conf"), "w", encoding="utf-8") as conf:
            conf.write(CONF)
        self.openssl("req", "-x509", "-config", "conf", "-extensions", "ca", "-subj", f"/CN={name}",
                     "-days", "2", *self.new_key(name), "-out", f"{name}.pem")

    def new_key(self, name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", f"{name}.key"]

    def openssl(self, *args):
        subprocess.run(["openssl", *args], check=True, cwd=self.directory, capture_output=True)

    def issue(self):
        """The path of a new server certificate, with its key beside it."""
        self.issued += 1
        name = f"{self.name}-server-{self.issued}"
        self.openssl("req", "-new", "-config", "conf", "-subj", f"/CN={name}",
                     *self.new_key(name), "-out", f"{name}.csr")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{self.name}.pem", "-CAkey",
                     f"{self.name}.key", "-days", "2", "-set_serial", str(1000 + self.issued),
                     "-extfile", "conf", "-extensions", "leaf", "-out", f"{name}.pem")
        return os.path.join(self.directory, f"{name}.pem")


def status_object(code, reason, message="", **more):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message or reason, "reason": reason, "code": code, **more}


class Store:
    def __init__(self, prefix=""):
        self.prefix = prefix  # of versions: they are opaque
        self.version = 1000
        self.uids = 0
        self.objects = {}
        self.history = []  # (version, type, line)
        self.oldest = 1000
        self.watchers = set()

    def text(self, version):
        return f"{self.prefix}{version}"

    def number(self, text):
        return int(text.removeprefix(self.prefix))

    def _tell(self, kind, thing):
        line = json.dumps({"type": kind, "object": thing}, ensure_ascii=False).encode() + b"\n"
        self.history.append((self.version, kind, line))
        for watcher in self.watchers:
            watcher.set()

    def put(self, name, value="", name_space="default"):
        """Makes or changes it; its resourceVersion."""
        key = f"{name_space}/{name}"
        self.version += 1
        old = self.objects.get(key)
        if not old:
            self.uids += 1
        uid = old["metadata"]["uid"] if old else f"uid-{self.uids}"
        self.objects[key] = {
            "apiVersion": "test.dev/v1", "kind": "Thing",
            "metadata": {"name": name, "namespace": name_space, "uid": uid,
                         "resourceVersion": self.text(self.version)},
            "spec": {"value": value}}
        self._tell("MODIFIED" if old else "ADDED", self.objects[key])
        return self.text(self.version)

    def delete(self, name, name_space="default"):
        self.version += 1
        thing = self.objects.pop(f"{name_space}/{name}")
        thing = {**thing, "metadata": {**thing["metadata"],
                                       "resourceVersion": self.text(self.version)}}
        self._tell("DELETED", thing)

    def fill(self, count, value="", name="thing"):
        for i in range(count):
            self.put(f"{name}-{i}", value)

    def compact(self):
        """No watch can begin before now."""
        self.oldest = self.version
        self.history.clear()

    def bookmark(self):
        return json.dumps({"type": "BOOKMARK", "object": {
            "kind": "Thing", "metadata": {"resourceVersion": self.text(self.version)}}}
        ).encode() + b"\n"

    def since(self, version):
        """Events after it; the history is in order."""
        at = len(self.history)
        while at > 0 and self.history[at - 1][0] > version:
            at -= 1
        return self.history[at:]


class Fault:
    def __init__(self, kinds, answer, times):
        self.kinds = kinds.split()
        self.answer = answer
        self.times = times
        self.used = 0

    def fits(self, kind):
        return ("any" in self.kinds or kind in self.kinds) and \
            (self.times is None or self.used < self.times)


class Server:
    """http: "2", or "1" for a server without HTTP/2."""

    def __init__(self, store, http="2", max_streams=100, window=65535):
        self.store = store
        self.http = http
        self.max_streams = max_streams
        self.window = window
        self.faults = []
        self.requests = []  # (time, kind, target, number of the connection)
        self.tokens = None  # those that are accepted; None: all
        self.refusal = 401
        self.connections = 0
        self.open = set()
        self.cancelled = 0
        self.deaf = False  # the windows of bodies stay closed
        self.snapshots = {}
        self.watch_seconds = 3600
        self.bookmark_seconds = 60
        self.remaining = lambda true: true  # what a page says of how many follow
        self.errors = []
        self.listener = None

    # Faults.

    def fault(self, kinds, answer, times=None):
        """answer(request, out) takes the place of the truth for requests of these kinds (list,
        page, watch, get, write, any), so often."""
        made = Fault(kinds, answer, times)
        self.faults.append(made)
        return made

    def lift(self, fault):
        self.faults.remove(fault)

    def count(self, *kinds):
        return sum(1 for _, kind, _, _ in self.requests if not kinds or kind in kinds)

    def times(self, *kinds):
        return [at for at, kind, _, _ in self.requests if not kinds or kind in kinds]

    # The listener.

    async def start(self, certificate, sock):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate[:-4] + ".key")
        context.set_alpn_protocols(["h2", "http/1.1"] if self.http == "2" else ["http/1.1"])
        self.listener = await asyncio.start_server(self._serve, sock=sock, ssl=context,
                                                   limit=1 << 20)

    async def hear(self):
        self.deaf = False
        for connection in self.open:
            connection.pay()
            await connection.flush()

    def drop_connections(self):
        for connection in list(self.open):
            connection.abort()

    async def stop(self):
        if self.listener:
            self.listener.close()
            self.listener = None
        self.drop_connections()

    async def _serve(self, reader, writer):
        self.connections += 1
        kind = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        made = Connection2 if kind == "h2" else Connection1
        connection = made(self, self.connections, reader, writer)
        self.open.add(connection)
        try:
            await connection.run()
        except (OSError, asyncio.IncompleteReadError, Gone):
            pass
        except h2.exceptions.ProtocolError as error:
            self.errors.append(f"the client breaks the protocol: {error!r}")
        finally:
            self.open.discard(connection)
            writer.close()

    # Requests.

    def kind_of(self, request):
        if request.method != "GET":
            return "write"
        if request.path != COLLECTION:
            return "get"
        if request.query.get("watch") == "true":
            return "watch"
        return "page" if "continue" in request.query else "list"

    async def handle(self, request, out):
        kind = self.kind_of(request)
        self.requests.append((time.monotonic(), kind, request.target, request.connection.number))
        try:
            await self._answer(kind, request, out)
        except Gone:
            pass
        except asyncio.CancelledError:
            raise
        except Exception as error:  # a mistake of the test must not look like a bad server
            self.errors.append(f"{kind} {request.target}: {error!r}")
            request.connection.abort()

    async def _answer(self, kind, request, out):
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.tokens is not None and token not in self.tokens:
            await self.refuse(out, self.refusal, "Unauthorized" if self.refusal == 401
                              else "Forbidden")
            return
        for fault in self.faults:
            if fault.fits(kind):
                fault.used += 1
                if await fault.answer(request, out) is not GO_ON:
                    return
        await {"list": self.list, "page": self.list, "watch": self.watch, "get": self.get,
               "write": self.write}[kind](request, out)

    async def say(self, out, status, body, headers=()):
        await out.start(status, headers)
        await out.write(body if isinstance(body, bytes) else json.dumps(body).encode())
        await out.end()

    async def refuse(self, out, code, reason, message="", headers=()):
        await self.say(out, code, status_object(code, reason, message), headers)

    async def list(self, request, out):
        limit = int(request.query.get("limit", 0))
        snapshot, begin = f"{self.store.version}", 0
        if "continue" in request.query:
            snapshot, _, at = request.query["continue"].partition("/")
            begin = int(at)
            if snapshot not in self.snapshots:
                await self.refuse(out, 410, "Expired", "The provided continue parameter is too old")
                return
        else:
            self.snapshots = {snapshot: list(self.store.objects.values())}
        things = self.snapshots[snapshot]
        end = min(begin + limit, len(things)) if limit else len(things)
        metadata = {"resourceVersion": self.store.text(snapshot)}
        if end < len(things):
            metadata |= {"continue": f"{snapshot}/{end}",
                         "remainingItemCount": self.remaining(len(things) - end)}
        await out.start(200)
        await out.write(b'{"kind":"ThingList","apiVersion":"test.dev/v1","items":[')
        # A few at a time: the other servers of this process want to live, too.
        for at in range(begin, end, 50):
            piece = ",".join(map(json.dumps, things[at:min(at + 50, end)]))
            await out.write((("," if at > begin else "") + piece).encode())
            await asyncio.sleep(0)
        await out.write(b'],"metadata":' + json.dumps(metadata).encode() + b"}\n")
        await out.end()

    async def watch(self, request, out, line_of=lambda kind, line: line):
        """line_of makes what is said of each event's line; None: nothing."""
        version = self.store.number(request.query["resourceVersion"])
        if version < self.store.oldest:
            await out.start(200)
            await out.write(json.dumps({"type": "ERROR", "object": status_object(
                410, "Expired", "too old resource version")}).encode() + b"\n")
            await out.end()
            return
        await out.start(200)
        changed = asyncio.Event()
        self.store.watchers.add(changed)
        end = time.monotonic() + min(self.watch_seconds, int(request.query["timeoutSeconds"]))
        bookmark = time.monotonic() + self.bookmark_seconds
        try:
            while (now := time.monotonic()) < end:
                changed.clear()
                for number, kind, line in self.store.since(version):
                    version = number
                    if (said := line_of(kind, line)) is not None:
                        await out.write(said)
                if now >= bookmark:
                    await out.write(self.store.bookmark())
                    bookmark = now + self.bookmark_seconds
                try:
                    await asyncio.wait_for(changed.wait(), max(0, min(end, bookmark) - now))
                except asyncio.TimeoutError:
                    pass
            await out.end()
        finally:
            self.store.watchers.discard(changed)

    def named(self, request):
        words = request.path.split("/")
        return f"{words[5]}/{words[7]}" if len(words) == 8 else None

    async def get(self, request, out):
        thing = self.store.objects.get(self.named(request))
        if not thing:
            await self.refuse(out, 404, "NotFound")
            return
        if "PartialObjectMetadata" in request.headers["accept"]:
            thing = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                     "metadata": thing["metadata"]}
        await self.say(out, 200, thing)

    async def write(self, request, out):
        key = self.named(request)
        thing = self.store.objects.get(key)
        patch = json.loads(request.body)
        if not thing:
            await self.refuse(out, 404, "NotFound")
            return
        wanted = patch.get("metadata", {}).get("resourceVersion")
        if wanted and wanted != thing["metadata"]["resourceVersion"]:
            await self.refuse(out, 409, "Conflict", "the object has been modified")
            return
        name_space, _, name = key.partition("/")
        self.store.put(name, patch["spec"]["value"], name_space)
        await self.say(out, 200, self.store.objects[key])
