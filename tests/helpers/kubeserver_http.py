# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 and HTTP/1.1 connections of a scripted API server, with the doors open to do it wrong.

A connection hands each request to its server's handle(request, out) as a task. `out` writes the
answer: start(), write(), end(), or reset() in the middle of it.
"""

import asyncio
import sys
import urllib.parse

try:
    import h2.connection
except ImportError:
    # Debian's package is for Debian's Python, but pure enough for any other.
    sys.path.append("/usr/lib/python3/dist-packages")
    import h2.connection
import h2.config
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import hyperframe.frame


class Gone(Exception):
    """The client has gone away, or has cancelled the request."""


class Request:
    def __init__(self, method, target, headers, connection):
        self.method = method
        self.target = target
        self.path, _, query = target.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query))
        self.headers = headers
        self.connection = connection
        self.body = b""


class Out:
    """The answer to one request of an HTTP/2 connection."""

    def __init__(self, connection, stream):
        self.connection = connection
        self.stream = stream
        self.closed = False

    async def start(self, status, headers=()):
        headers = [(":status", str(status)), ("content-type", "application/json"), *headers]
        await self.connection.act(self, "send_headers", self.stream, headers)

    async def write(self, content):
        rest = memoryview(content)
        while rest:
            room = min(self.connection.room(self), 16384)
            if room <= 0:
                await self.connection.wait_for_room()
                continue
            await self.connection.act(self, "send_data", self.stream, bytes(rest[:room]))
            rest = rest[room:]

    async def end(self):
        await self.connection.act(self, "end_stream", self.stream)
        self.closed = True

    async def reset(self, code=h2.errors.ErrorCodes.INTERNAL_ERROR):
        await self.connection.act(self, "reset_stream", self.stream, code)
        self.closed = True


class Connection2:
    """HTTP/2. window is what a client may send of a body before it is told to go on."""

    def __init__(self, server, number, reader, writer):
        self.server = server
        self.number = number
        self.reader = reader
        self.writer = writer
        self.requests = {}
        self.tasks = {}
        self.outs = {}
        self.changed = asyncio.Event()
        self.owed = []
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        self.state = h2.connection.H2Connection(config)
        codes = h2.settings.SettingCodes
        self.state.local_settings = h2.settings.Settings(client=False, initial_values={
            codes.MAX_CONCURRENT_STREAMS: 1000, codes.INITIAL_WINDOW_SIZE: server.window})

    async def flush(self):
        self.writer.write(self.state.data_to_send())
        await self.writer.drain()

    async def act(self, out, name, *args):
        if out.closed or self.writer.is_closing():
            raise Gone
        try:
            getattr(self.state, name)(*args)
            await self.flush()
        except (h2.exceptions.ProtocolError, OSError) as error:
            raise Gone from error

    def room(self, out):
        if out.closed:
            raise Gone
        try:
            return self.state.local_flow_control_window(out.stream)
        except h2.exceptions.ProtocolError as error:
            raise Gone from error

    async def wait_for_room(self):
        self.changed.clear()
        await self.changed.wait()

    async def goaway(self, code=0, last_stream=2**31 - 1):
        """Only says so: the library would not let a stream go on after it."""
        frame = hyperframe.frame.GoAwayFrame(0, last_stream_id=last_stream, error_code=code)
        self.writer.write(frame.serialize())
        await self.writer.drain()

    def abort(self):
        self.writer.transport.abort()

    async def run(self):
        self.state.initiate_connection()
        await self.flush()
        # Said past the library, which takes a stream too many for the end of the connection:
        # one that was opened before this came has to be refused instead.
        frame = hyperframe.frame.SettingsFrame(0, settings={
            h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: self.server.max_streams})
        self.writer.write(frame.serialize())
        try:
            while content := await self.reader.read(65536):
                for event in self.state.receive_data(content):
                    self.take(event)
                await self.flush()
                self.changed.set()
        finally:
            for out in self.outs.values():
                out.closed = True
            self.changed.set()
            for task in list(self.tasks.values()):
                task.cancel()

    def take(self, event):
        if isinstance(event, h2.events.RequestReceived):
            headers = dict(event.headers)
            self.requests[event.stream_id] = Request(
                headers[":method"], headers[":path"], headers, self)
        elif isinstance(event, h2.events.DataReceived):
            if request := self.requests.get(event.stream_id):
                request.body += event.data
                self.owed.append((event.flow_controlled_length, event.stream_id))
                self.pay()
        elif isinstance(event, h2.events.StreamEnded):
            self.dispatch(event.stream_id)
        elif isinstance(event, h2.events.StreamReset):
            self.server.cancelled += 1
            self.close_stream(event.stream_id)

    def pay(self):
        """Tells the client to go on with its bodies, unless the server has no time for them."""
        while self.owed and not self.server.deaf:
            length, stream = self.owed.pop(0)
            if stream in self.requests:
                self.state.acknowledge_received_data(length, stream)

    def dispatch(self, stream):
        if stream not in self.requests:
            return
        out = self.outs[stream] = Out(self, stream)
        request = self.requests.pop(stream)
        if len(self.tasks) >= self.server.max_streams:
            answer = out.reset(h2.errors.ErrorCodes.REFUSED_STREAM)
        else:
            answer = self.server.handle(request, out)
        task = asyncio.ensure_future(answer)
        self.tasks[stream] = task
        task.add_done_callback(lambda _: self.close_stream(stream))

    def close_stream(self, stream):
        self.requests.pop(stream, None)
        if out := self.outs.pop(stream, None):
            out.closed = True
        if task := self.tasks.pop(stream, None):
            task.cancel()


class Out1:
    """The answer to one request of an HTTP/1.1 connection, in chunks."""

    def __init__(self, connection):
        self.connection = connection
        self.writer = connection.writer
        self.closed = False

    async def send(self, content):
        if self.closed or self.writer.is_closing():
            raise Gone
        try:
            self.writer.write(content)
            await self.writer.drain()
        except OSError as error:
            raise Gone from error

    async def start(self, status, headers=()):
        lines = [f"HTTP/1.1 {status} Status", "Content-Type: application/json",
                 "Transfer-Encoding: chunked", *(f"{name}: {value}" for name, value in headers)]
        await self.send("\r\n".join(lines).encode() + b"\r\n\r\n")

    async def write(self, content):
        if content:
            await self.send(b"%x\r\n%s\r\n" % (len(content), bytes(content)))

    async def end(self):
        await self.send(b"0\r\n\r\n")
        self.closed = True

    async def reset(self, code=None):
        """A chunk that promises more than comes."""
        await self.send(b"ffff\r\nand then")
        self.writer.close()
        self.closed = True


class Connection1:
    def __init__(self, server, number, reader, writer):
        self.server = server
        self.number = number
        self.reader = reader
        self.writer = writer

    def abort(self):
        self.writer.transport.abort()

    async def run(self):
        while line := await self.reader.readline():
            method, target, _ = line.decode().split()
            headers = {}
            while (line := (await self.reader.readline()).decode().strip()):
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            request = Request(method, target, headers, self)
            request.body = await self.reader.readexactly(int(headers.get("content-length", 0)))
            out = Out1(self)
            # A client that leaves in the middle of an answer says nothing more.
            task = asyncio.ensure_future(self.server.handle(request, out))
            leaves = asyncio.ensure_future(self.reader.read(1))
            await asyncio.wait([task, leaves], return_when=asyncio.FIRST_COMPLETED)
            if not task.done() or leaves.done():
                task.cancel()
                return
            leaves.cancel()
            await asyncio.sleep(0)
            if not out.closed:
                return
