# SPDX-License-Identifier: Apache-2.0
"""The servers of the pretend internet, in a namespace where every address is its own.

Run by helpers/internet.py with the directory of the certificate; takes one JSON command a line on
stdin and answers each with one on stdout. TCP 80 and 443 speak HTTP, 53 speaks DNS, and whatever
else comes has been redirected to port 7, which echoes. An HTTP answer names the address it was
asked at, so that a test can tell which one a client has reached:

    /                   {"address": ..., "port": ..., "client": ..., "host": the header}
    /redirect?to=URL    302
    /bytes?count=N      N bytes of a known pattern
    /latest/meta-data/  what a metadata service would say: the word SECRET
    POST /digest        {"count": ..., "sha256": ...} of the body
"""

import asyncio
import hashlib
import json
import os
import ssl
import sys
import urllib.parse

from internet_dns import NameServer

MIB = 1 << 20
PATTERN = bytes((i * 7 + (i >> 8) * 13 + (i >> 16)) & 0xFF for i in range(MIB))
SECRET = "SECRET"
ECHO_PORT = 7


def pattern_digest(count):
    digest = hashlib.sha256()
    for _ in range(count // MIB):
        digest.update(PATTERN)
    digest.update(PATTERN[:count % MIB])
    return digest.hexdigest()


async def read_head(reader):
    """(method, path, headers) of an HTTP request."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return method, path, headers


async def send_pattern(writer, count, file):
    """Without TLS the kernel takes it from the file, so that a client's speed is its own."""
    await writer.drain()
    loop = asyncio.get_running_loop()
    while count:
        size = min(count, MIB)
        if writer.get_extra_info("sslcontext"):
            writer.write(PATTERN[:size])
            await writer.drain()
        else:
            await loop.sendfile(writer.transport, file, 0, size)
        count -= size


async def digest_body(reader, count):
    digest, left = hashlib.sha256(), count
    while left:
        data = await reader.read(min(left, 65536))
        if not data:
            raise asyncio.IncompleteReadError(b"", left)
        digest.update(data)
        left -= len(data)
    return {"count": count, "sha256": digest.hexdigest()}


class Web:
    def __init__(self):
        self.served = []
        self.pattern = open(os.memfd_create("pattern"), "w+b", buffering=0)
        self.pattern.write(PATTERN)

    async def on_connection(self, reader, writer):
        try:
            await self.serve(reader, writer)
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def serve(self, reader, writer):
        address, port = writer.get_extra_info("sockname")[:2]
        method, target, headers = await read_head(reader)
        url = urllib.parse.urlsplit(target)
        query = dict(urllib.parse.parse_qsl(url.query))
        if len(self.served) < 100_000:
            self.served.append([address, port, headers.get("host", ""), url.path])
        status, extra, body, count = "200 OK", "", b"", 0
        if url.path == "/redirect":
            status, extra = "302 Found", f"Location: {query['to']}\r\n"
        elif url.path == "/bytes":
            count = int(query["count"])
        elif url.path.startswith("/latest/meta-data/"):
            body = SECRET.encode()
        elif method == "POST":
            body = json.dumps(await digest_body(reader, int(headers["content-length"]))).encode()
        else:
            body = json.dumps({"address": address, "port": port, "host": headers.get("host", ""),
                               "client": writer.get_extra_info("peername")[0]}).encode()
        writer.write(f"HTTP/1.1 {status}\r\n{extra}Content-Length: {count or len(body)}\r\n"
                     "Connection: close\r\n\r\n".encode() + body)
        await send_pattern(writer, count, self.pattern)
        await writer.drain()


async def echo(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


class EchoDatagrams(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        self.transport.sendto(data, addr)


async def start_servers(directory, web, names):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(directory, "server.pem"),
                            os.path.join(directory, "server.key"))
    loop = asyncio.get_running_loop()
    for host in ("0.0.0.0", "::"):
        await asyncio.start_server(web.on_connection, host, 80, backlog=1024)
        await asyncio.start_server(web.on_connection, host, 443, ssl=context, backlog=1024)
        await asyncio.start_server(echo, host, ECHO_PORT, backlog=1024)
    # Of both families: asyncio leaves IPV6_V6ONLY as it is for datagrams.
    await loop.create_datagram_endpoint(EchoDatagrams, local_addr=("::", ECHO_PORT))
    await names.start()


def obey(command, web, names):
    """What one command gives back."""
    if command["do"] == "script":
        names.set(command["name"], command["type"], command["answers"])
        return {}
    if command["do"] == "questions":
        return {"questions": names.questions}
    if command["do"] == "served":
        return {"served": web.served}
    if command["do"] == "forget":
        names.questions.clear()
        web.served.clear()
        return {}
    return {"error": f"unknown: {command['do']}"}


async def main(directory):
    web, names = Web(), NameServer()
    await start_servers(directory, web, names)
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader(limit=16 * MIB)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    print(json.dumps({"ready": True}), flush=True)
    while line := await commands.readline():
        print(json.dumps(obey(json.loads(line), web, names)), flush=True)
    os._exit(0)  # connections that are still open have nobody any more


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
