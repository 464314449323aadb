# SPDX-License-Identifier: Apache-2.0
"""A name server that does what a test tells it, lies included."""

import collections
import selectors
import socket
import struct
import threading
import time

import wire

Asked = collections.namedtuple("Asked", "name kind transport port number at")


class Upstream:
    """Serves in a thread. `script` maps a name (or "*") to what answers it: a function of the query
    message and its Asked that gives the messages to send, each with bytes or (delay, bytes)."""

    def __init__(self, address="127.0.0.1", port=5300):
        self.address, self.port = address, port
        self.script = {}
        self.asked = []
        self.connections = 0
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.udp = socket.socket(family, socket.SOCK_DGRAM)
        self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.udp.bind((address, port))
        self.tcp = socket.socket(family, socket.SOCK_STREAM)
        self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.tcp.bind((address, port))
        self.tcp.listen(64)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.udp, selectors.EVENT_READ, self._on_udp)
        self.selector.register(self.tcp, selectors.EVENT_READ, self._on_tcp)
        self.ending = False
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def close(self):
        self.ending = True
        self.thread.join()
        self.selector.close()
        self.udp.close()
        self.tcp.close()

    def text(self):
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"

    def forget(self):
        self.asked.clear()
        self.script.clear()

    def _serve(self):
        while not self.ending:
            for key, _ in self.selector.select(0.05):
                key.data()

    def _messages(self, packet, transport, port):
        name, kind = wire.question_of(packet)
        asked = Asked(name, kind, transport, port, struct.unpack_from("!H", packet)[0], time.monotonic())
        self.asked.append(asked)
        found = self.script.get(name) or self.script.get("*")
        return found(packet, asked) if found else [wire.answer(packet, rcode=3)]

    @staticmethod
    def _later(delay, send):
        if delay:
            timer = threading.Timer(delay, send)
            timer.daemon = True
            timer.start()
        else:
            send()

    def _on_udp(self):
        packet, client = self.udp.recvfrom(4096)
        for entry in self._messages(packet, "udp", client[1]):
            delay, message = entry if isinstance(entry, tuple) else (0, entry)
            sock = self.udp
            if isinstance(message, list):  # from elsewhere
                sock, message = socket.socket(self.udp.family, socket.SOCK_DGRAM), message[0]
            self._later(delay, lambda sock=sock, message=message: self._send(sock, message, client))

    @staticmethod
    def _send(sock, message, client):
        try:
            sock.sendto(message, client)
        except OSError:
            pass  # the resolver has closed its socket

    def _on_tcp(self):
        connection, peer = self.tcp.accept()
        self.connections += 1
        threading.Thread(target=self._serve_connection, args=(connection, peer), daemon=True).start()

    def _serve_connection(self, connection, peer):
        with connection:
            try:
                head = self._read(connection, 2)
                packet = self._read(connection, struct.unpack("!H", head)[0])
                for entry in self._messages(packet, "tcp", peer[1]):
                    delay, message = entry if isinstance(entry, tuple) else (0, entry)
                    time.sleep(delay)
                    if isinstance(message, bytes):
                        message = [struct.pack("!H", len(message)) + message]
                    for part in message:
                        connection.sendall(part)
                connection.settimeout(5)
                connection.recv(1)
            except (OSError, EOFError):
                pass

    @staticmethod
    def _read(connection, size):
        data = b""
        while len(data) < size:
            part = connection.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data


def addresses(*values, ttl=60, kind="A"):
    """Answers queries of that type with these addresses, others with nothing."""

    def respond(packet, asked):
        if asked.kind != kind:
            return [wire.answer(packet)]
        return [wire.answer(packet, *(wire.record(asked.name, kind, ttl, value) for value in values))]

    return respond


def records(*values, **options):
    """Answers with these records, whatever the type."""
    return lambda packet, _: [wire.answer(packet, *(wire.record(*value) for value in values), **options)]


def silence(_packet, _asked):
    return []
