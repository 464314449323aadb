# SPDX-License-Identifier: Apache-2.0
"""The name server of the pretend internet: it says what a test tells it to say, lies included.

A script is a list of answers for one (name, type); each question takes the next, the last one
stays. An answer is a dictionary; all is optional:

    records    [[name, type, ttl, data]...]: data is an address, a name, or a text
    rcode      0; without a script a name has 3 (it does not exist)
    truncated  "udp": only over UDP, the rest over TCP; "always": over both
    delay      seconds; "never": no answer at all
    lie        "id", "question", "port", "query" (the bit says: a question), "garbage", "loop" (a
               name that points to itself), "short" (cut in the middle), "count" (more promised
               than there is)
    twice      another answer that is sent right after, from the same place
"""

import asyncio
import ipaddress
import random
import socket
import struct

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "TXT": 16, "AAAA": 28, "SRV": 33, "HTTPS": 65}
TYPE_NAMES = {number: name for name, number in TYPES.items()}
NOT_FOUND = {"rcode": 3}
MAX_UDP = 1232


def encode_name(name):
    labels = [label for label in name.split(".") if label]
    return b"".join(bytes([len(label)]) + label.encode() for label in labels) + b"\0"


def encode_data(kind, data):
    if kind in ("A", "AAAA"):
        return ipaddress.ip_address(data).packed
    if kind in ("CNAME", "NS"):
        return encode_name(data)
    text = data.encode()
    return b"".join(bytes([len(text[i:i + 255])]) + text[i:i + 255]
                    for i in range(0, len(text), 255))


def encode_record(name, kind, ttl, data):
    data = encode_data(kind, data)
    return encode_name(name) + struct.pack("!HHIH", TYPES[kind], 1, ttl, len(data)) + data


def parse_question(packet):
    """(id, name, type, the question's bytes, the size that the client takes)."""
    number, _, count, _, _, _ = struct.unpack_from("!6H", packet)
    if count != 1:
        raise ValueError(f"{count} questions")
    labels, at = [], 12
    while packet[at]:
        labels.append(packet[at + 1:at + 1 + packet[at]].decode("latin-1"))
        at += 1 + packet[at]
    kind, _ = struct.unpack_from("!HH", packet, at + 1)
    size = 512
    rest = at + 5
    # An OPT record: the root's name, type 41, the size in the place of the class.
    if len(packet) >= rest + 11 and packet[rest:rest + 3] == b"\0\0\x29":
        size = struct.unpack_from("!H", packet, rest + 3)[0]
    return number, ".".join(labels), TYPE_NAMES.get(kind, str(kind)), packet[12:rest], size


def _lie(lie, number, packet):
    if lie == "id":
        return struct.pack("!H", number ^ 0x5555) + packet[2:]
    if lie == "question":
        rest = packet[12 + packet[12:].index(b"\0") + 1:]
        return packet[:12] + encode_name("other.example") + rest
    if lie == "query":
        return packet[:2] + bytes([packet[2] & 0x7F]) + packet[3:]
    if lie == "garbage":
        return packet[:2] + random.randbytes(200)
    if lie == "loop":
        at = len(packet)
        record = struct.pack("!HHHIH", 0xC000 | at, 1, 1, 60, 4) + bytes(4)
        return packet[:6] + b"\0\2" + packet[8:] + record
    if lie == "short":
        return packet[:len(packet) - 3]
    if lie == "count":
        return packet[:6] + b"\0\x50" + packet[8:]
    return packet


def build_answer(number, question, answer, size):
    """The packet; size is None over TCP."""
    records = [encode_record(*record) for record in answer.get("records", [])]
    truncated = answer.get("truncated")
    cut = truncated == "always" or (truncated == "udp" and size is not None)
    body = b"".join(records)
    if size is not None and 12 + len(question) + len(body) > min(size, MAX_UDP):
        cut = True
    if cut:
        records, body = [], b""
    flags = 0x8580 | (0x0200 if cut else 0) | answer.get("rcode", 0)
    head = struct.pack("!6H", number, flags, 1, len(records), 0, 0)
    return _lie(answer.get("lie"), number, head + question + body)


class NameServer:
    """Answers on port 53 of every address, over UDP and TCP."""

    def __init__(self):
        self.scripts = {}
        self.taken = {}
        self.questions = []

    def set(self, name, kind, answers):
        key = (name.lower(), kind)
        self.scripts[key] = answers
        self.taken[key] = 0

    def answer_to(self, name, kind):
        key = (name.lower(), kind)
        answers = self.scripts.get(key)
        if answers is None:
            for other, _ in self.scripts:
                if other == key[0]:
                    return {}
            return NOT_FOUND
        index = min(self.taken[key], len(answers) - 1)
        self.taken[key] += 1
        return answers[index]

    def _note(self, name, kind, transport, client, server):
        if len(self.questions) < 100_000:
            self.questions.append([name, kind, transport, client, server])

    async def start(self):
        loop = asyncio.get_running_loop()
        for family in (socket.AF_INET, socket.AF_INET6):
            sock = _udp_socket(family)
            loop.add_reader(sock.fileno(), self._on_datagram, loop, sock)
        await asyncio.start_server(self._on_connection, "0.0.0.0", 53, backlog=1024)
        await asyncio.start_server(self._on_connection, "::", 53, backlog=1024)

    def _on_datagram(self, loop, sock):
        data, control, _, client = sock.recvmsg(4096, 256)
        try:
            number, name, kind, question, size = parse_question(data)
        except (ValueError, IndexError, struct.error):
            return
        server = _destination(sock, control)
        self._note(name, kind, "udp", client[0], server)
        answer = self.answer_to(name, kind)
        while answer:
            if answer.get("delay") != "never":
                packet = build_answer(number, question, answer, size)
                loop.call_later(answer.get("delay", 0), _send_from, sock, packet, client, server,
                                answer.get("lie") == "port")
            answer = answer.get("twice")

    async def _on_connection(self, reader, writer):
        try:
            while True:
                size, = struct.unpack("!H", await reader.readexactly(2))
                number, name, kind, question, _ = parse_question(await reader.readexactly(size))
                self._note(name, kind, "tcp", writer.get_extra_info("peername")[0],
                           writer.get_extra_info("sockname")[0])
                answer = self.answer_to(name, kind)
                delay = answer.get("delay", 0)
                if delay == "never":
                    await reader.read()
                    break
                await asyncio.sleep(delay)
                packet = build_answer(number, question, answer, None)
                writer.write(struct.pack("!H", len(packet)) + packet)
        except (OSError, asyncio.IncompleteReadError, ValueError, IndexError, struct.error):
            pass
        finally:
            writer.close()


def _udp_socket(family):
    sock = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
    sock.bind(("", 53) if family == socket.AF_INET else ("::", 53))
    return sock


# linux/in.h; Python has a name for it from 3.13 on.
IP_PKTINFO = 8


def _destination(sock, control):
    """The address that a datagram was sent to, which is where its answer has to come from."""
    for level, kind, data in control:
        if (level, kind) == (socket.IPPROTO_IP, IP_PKTINFO):
            return socket.inet_ntop(socket.AF_INET, data[8:12])
        if (level, kind) == (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO):
            return socket.inet_ntop(socket.AF_INET6, data[:16])
    return sock.getsockname()[0]


def _send_from(sock, packet, client, server, other_port):
    if sock.family == socket.AF_INET:
        control = (socket.IPPROTO_IP, IP_PKTINFO,
                   struct.pack("=i4s4s", 0, socket.inet_aton(server), bytes(4)))
    else:
        control = (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO,
                   struct.pack("=16si", socket.inet_pton(socket.AF_INET6, server), 0))
    if other_port:
        with socket.socket(sock.family, socket.SOCK_DGRAM) as other:
            other.sendmsg([packet], [control], 0, client)
    else:
        sock.sendmsg([packet], [control], 0, client)
