# SPDX-License-Identifier: Apache-2.0
"""IP packets as bytes: made by hand, as no socket would send them, and taken apart again."""

import dataclasses
import ipaddress
import struct

ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58
HOP_BY_HOP, ROUTING, FRAGMENT, DESTINATION = 0, 43, 44, 60
SYN, RST, ACK = 0x02, 0x04, 0x10


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packed(address):
    return ipaddress.ip_address(address).packed


def pseudo_header(source, target, protocol, length):
    source, target = packed(source), packed(target)
    if len(source) == 4:
        return source + target + struct.pack("!BBH", 0, protocol, length)
    return source + target + struct.pack("!II", length, protocol)


def tcp(source, target, port, source_port=40000, flags=SYN, sequence=1, data=b""):
    head = struct.pack("!HHIIBBHHH", source_port, port, sequence, 0, 5 << 4, flags, 65535, 0, 0)
    total = checksum(pseudo_header(source, target, TCP, len(head + data)) + head + data)
    return head[:16] + struct.pack("!H", total) + head[18:] + data


def udp(source, target, port, source_port=40000, data=b"x"):
    head = struct.pack("!HHHH", source_port, port, 8 + len(data), 0)
    total = checksum(pseudo_header(source, target, UDP, len(head + data)) + head + data)
    return head[:6] + struct.pack("!H", total or 0xFFFF) + data


def echo_request(source, target, number=1, data=b"ping" * 8):
    if len(packed(target)) == 4:
        message = struct.pack("!BBHHH", 8, 0, 0, 77, number) + data
        total = checksum(message)
    else:
        message = struct.pack("!BBHHH", 128, 0, 0, 77, number) + data
        total = checksum(pseudo_header(source, target, ICMPV6, len(message)) + message)
    return message[:2] + struct.pack("!H", total) + message[4:]


def ipv4(source, target, protocol, payload, options=b"", offset=0, more=False, identity=1):
    """offset counts in units of 8 bytes, as on the wire."""
    options += bytes(-len(options) % 4)
    head = struct.pack("!BBHHHBBH", 0x40 | (5 + len(options) // 4), 0,
                       20 + len(options) + len(payload), identity,
                       (0x2000 if more else 0) | offset, 64, protocol, 0)
    head += packed(source) + packed(target) + options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ipv6(source, target, protocol, payload, extensions=()):
    """extensions: (number, bytes from behind the next-header byte on) in their order."""
    numbers = [number for number, _ in extensions] + [protocol]
    chain = b"".join(bytes([numbers[index + 1]]) + body
                     for index, (_, body) in enumerate(extensions))
    head = struct.pack("!IHBB", 6 << 28, len(chain + payload), numbers[0], 64)
    return head + packed(source) + packed(target) + chain + payload


def ip(source, target, protocol, payload):
    make = ipv4 if len(packed(target)) == 4 else ipv6
    return make(source, target, protocol, payload)


def source_route(hops, strict=False):
    """An IPv4 source route option over hops."""
    body = b"".join(map(packed, hops))
    return bytes([137 if strict else 131, 3 + len(body), 4]) + body


def routing_header(kind, hops):
    """An IPv6 routing header with every hop still to come."""
    body = b"".join(map(packed, hops))
    return ROUTING, struct.pack("!BBBI", len(body) // 8, kind, len(hops), 0) + body


def fragment_header(offset, more, identity=1):
    return FRAGMENT, struct.pack("!BHI", 0, offset << 3 | more, identity)


def padding(number):
    """Hop-by-hop or destination options with nothing but padding in them."""
    return number, bytes([0, 1, 4, 0, 0, 0, 0])


@dataclasses.dataclass
class Answer:
    """What came back: an error names the packet that it is about."""

    source: str
    target: str
    kind: str  # "rst", "syn-ack", "tcp", "udp", "echo", "unreachable", "icmp"
    port: int = 0  # the one that was asked
    about: "Answer | None" = None


def parse(packet):
    """An Answer, or None of what is neither TCP, UDP nor ICMP."""
    try:
        if packet[0] >> 4 == 4:
            source, target = packet[12:16], packet[16:20]
            protocol, payload = packet[9], packet[(packet[0] & 15) * 4:]
        else:
            source, target = packet[8:24], packet[24:40]
            protocol, payload = packet[6], packet[40:]
        answer = Answer(str(ipaddress.ip_address(source)), str(ipaddress.ip_address(target)), "")
        return _parse_payload(answer, protocol, payload)
    except (IndexError, struct.error):
        return None


def _parse_payload(answer, protocol, payload):
    if protocol == TCP:
        flags = payload[13] if len(payload) > 13 else 0
        answer.kind = "rst" if flags & RST else "syn-ack" if flags & SYN and flags & ACK else "tcp"
        answer.port = struct.unpack_from("!H", payload)[0]
    elif protocol == UDP:
        answer.kind, answer.port = "udp", struct.unpack_from("!H", payload)[0]
    elif protocol in (ICMP, ICMPV6):
        kind = payload[0]
        if kind in (0, 129) and kind == (0 if protocol == ICMP else 129):
            answer.kind = "echo"
        elif kind == (3 if protocol == ICMP else 1):
            answer.kind, answer.about = "unreachable", parse(payload[8:])
            if answer.about and answer.about.kind in ("tcp", "udp"):
                # The inner packet is our own: its port is the target's.
                at = 8 + ((payload[8] & 15) * 4 if protocol == ICMP else 40)
                answer.port = struct.unpack_from("!H", payload, at + 2)[0]
        else:
            answer.kind = "icmp"
    else:
        return None
    return answer
