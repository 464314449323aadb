# SPDX-License-Identifier: Apache-2.0
"""DNS messages, and the messages between jailer and resolver (node-agent/proto/resolver_proto.h)."""

import ipaddress
import struct
import uuid

TYPES = {"A": 1, "CNAME": 5, "PTR": 12, "TXT": 16, "AAAA": 28, "OPT": 41, "HTTPS": 65, "AXFR": 252,
         "ANY": 255}
TYPE_NAMES = {number: name for name, number in TYPES.items()}
RCODES = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED",
          16: "BADVERS"}

HELLO, READY, OPEN, ALLOW, CLOSE, DENIED, OPENED = range(1, 8)
HTTP, HTTPS = 1, 2


def encode_name(name):
    labels = [label for label in name.split(".") if label]
    return b"".join(bytes([len(label)]) + label.encode("latin-1") for label in labels) + b"\0"


def decode_name(packet, at):
    """(text, what is behind it)."""
    labels, behind = [], None
    while packet[at]:
        if packet[at] >= 0xC0:
            behind = behind or at + 2
            at = struct.unpack_from("!H", packet, at)[0] & 0x3FFF
            continue
        labels.append(packet[at + 1 : at + 1 + packet[at]].decode("latin-1"))
        at += 1 + packet[at]
    return ".".join(labels), behind or at + 1


def query(name, kind="A", number=0x1234, flags=0x0100, edns=None, klass=1):
    head = struct.pack("!6H", number, flags, 1, 0, 0, edns is not None)
    opt = struct.pack("!BHHIH", 0, TYPES["OPT"], edns, 0, 0) if edns is not None else b""
    return head + encode_name(name) + struct.pack("!HH", TYPES.get(kind, kind), klass) + opt


def record(name, kind, ttl, data):
    if kind in ("A", "AAAA"):
        data = ipaddress.ip_address(data).packed
    elif kind == "CNAME":
        data = encode_name(data)
    return encode_name(name) + struct.pack("!HHIH", TYPES.get(kind, kind), 1, ttl, len(data)) + data


def answer(question, *records, rcode=0, flags=0x8180, number=None, count=None):
    """An upstream's answer to the query message question."""
    end = decode_name(question, 12)[1] + 4
    number = struct.unpack_from("!H", question)[0] if number is None else number
    count = len(records) if count is None else count
    return struct.pack("!6H", number, flags | rcode, 1, count, 0, 0) + question[12:end] + b"".join(records)


def question_of(packet):
    """(name, type) of a query."""
    name, at = decode_name(packet, 12)
    kind = struct.unpack_from("!H", packet, at)[0]
    return name, TYPE_NAMES.get(kind, kind)


class Reply:
    """A reply of the resolver's, taken apart to its last byte."""

    def __init__(self, packet):
        self.packet = packet
        self.number, flags, questions, answers, authority, additional = struct.unpack_from("!6H", packet)
        self.flags = flags
        self.truncated = bool(flags & 0x0200)
        rcode = flags & 0xF
        self.question, self.records, self.edns, self.why = None, [], None, None
        at = 12
        for _ in range(questions):
            name, at = decode_name(packet, at)
            self.question = (name, TYPE_NAMES.get(struct.unpack_from("!H", packet, at)[0]))
            at += 4
        for index in range(answers + authority + additional):
            name, at = decode_name(packet, at)
            kind, klass, ttl, size = struct.unpack_from("!HHIH", packet, at)
            data = packet[at + 10 : at + 10 + size]
            if kind == TYPES["OPT"]:
                rcode |= ttl >> 24 << 4
                self.edns = klass
                if size:
                    self.why = struct.unpack_from("!H", data, 4)[0]
            elif index < answers:
                self.records.append((name, TYPE_NAMES[kind], ttl, self._data(kind, at + 10, size)))
            at += 10 + size
        if at != len(packet) or authority:
            raise ValueError(f"{len(packet) - at} bytes behind a reply, {authority} in its authority")
        self.rcode = RCODES.get(rcode, rcode)

    def _data(self, kind, at, size):
        if kind == TYPES["CNAME"]:
            return decode_name(self.packet, at)[0]
        return str(ipaddress.ip_address(self.packet[at : at + size]))

    @property
    def addresses(self):
        return [data for _, kind, _, data in self.records if kind != "CNAME"]


def _message(kind, body):
    return struct.pack("<II", kind, 8 + len(body)) + body


def hello(range4, range6, slots=128, forbidden=(), version=1):
    body = struct.pack("<I", version) + ipaddress.ip_address(range4).packed
    body += ipaddress.ip_address(range6).packed + struct.pack("<II", slots, len(forbidden))
    for prefix in map(ipaddress.ip_network, forbidden):
        body += struct.pack("BB16s", prefix.version, prefix.prefixlen, prefix.network_address.packed)
    return _message(HELLO, body + bytes((64 - len(forbidden)) * 18))


def opening(slot, generation, names=None, prefixes=(), sandbox=None):
    """names None: no rules at all; a list of (pattern, ports) else."""
    text, entries, nets = b"", b"", b""
    for pattern, ports in names or ():
        entries += struct.pack("<BH", ports, len(text))
        text += pattern.encode() + b"\0"
    for prefix, ports in prefixes:
        prefix = ipaddress.ip_network(prefix)
        nets += struct.pack("BBB16s", prefix.version, prefix.prefixlen, ports, prefix.network_address.packed)
    rules = names is not None or bool(prefixes)
    body = struct.pack("<IQ40s", slot, generation, (sandbox or str(uuid.uuid4())).encode())
    body += struct.pack("<II", rules, len(prefixes)) + nets.ljust(64 * 19, b"\0")
    body += struct.pack("<I", len(names or ())) + entries.ljust(48, b"\0")
    return _message(OPEN, body + struct.pack("<I", len(text)) + text.ljust(1024, b"\0"))


def closing(slot, generation):
    return _message(CLOSE, struct.pack("<IQ", slot, generation))


def opened(sequence, errnum=0):
    return _message(OPENED, struct.pack("<QI", sequence, errnum))


def decode(packet):
    """(type, dictionary) of a message of the resolver's."""
    kind, size = struct.unpack_from("<II", packet)
    if size != len(packet):
        raise ValueError(f"a message of {len(packet)} bytes says {size}")
    body = packet[8:]
    if kind == READY:
        return kind, dict(zip(("version", "port"), struct.unpack("<II", body), strict=True))
    if kind == DENIED:
        slot, generation, name = struct.unpack("<IQ256s", body)
        return kind, {"slot": slot, "generation": generation, "name": name.rstrip(b"\0").decode()}
    if kind == ALLOW:
        sequence, slot, generation, ports, family, address, ttl = struct.unpack("<QIQII16sI", body)
        address = str(ipaddress.ip_address(address[: 4 if family == 4 else 16]))
        return kind, {"sequence": sequence, "slot": slot, "generation": generation, "ports": ports,
                      "address": address, "ttl": ttl}
    raise ValueError(f"message type {kind}")
