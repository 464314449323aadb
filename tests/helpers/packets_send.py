# SPDX-License-Identifier: Apache-2.0
"""Sends IP packets as they are, by an interface of the network namespace that it is started in.

    packets_send.py INTERFACE WAIT_SECONDS PACE_SECONDS < one packet a line, in hexadecimal
    packets_send.py INTERFACE --addresses

Prints what comes in until WAIT_SECONDS after the last packet, in the same form; or the interface's
own addresses. Goes by no route and asks no neighbour: the frames go to the gateway's address, which
is the only neighbour there is.
"""

import json
import select
import socket
import subprocess
import sys
import time

ETH_P_ALL, ETH_P_IP, ETH_P_IPV6 = 3, 0x0800, 0x86DD
PACKET_OUTGOING = 4


def ip_json(*words):
    return json.loads(subprocess.run(["ip", "-j", *words], check=True, capture_output=True,
                                     timeout=10).stdout)


def gateway(interface):
    for neighbour in ip_json("neigh", "show", "dev", interface):
        if "lladdr" in neighbour:
            return bytes.fromhex(neighbour["lladdr"].replace(":", ""))
    raise SystemExit(f"{interface} knows no neighbour")


def collect(sock, until, received):
    while (left := until - time.monotonic()) > 0:
        if not select.select([sock], [], [], left)[0]:
            break
        data, (_, protocol, kind, *_) = sock.recvfrom(65536)
        if kind != PACKET_OUTGOING and protocol in (ETH_P_IP, ETH_P_IPV6):
            received.append(data)


def main(interface, wait, pace):
    packets = [bytes.fromhex(line) for line in sys.stdin.read().split()]
    hardware = gateway(interface)
    received = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL)) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        sock.bind((interface, ETH_P_ALL))
        for packet in packets:
            protocol = ETH_P_IP if packet[0] >> 4 == 4 else ETH_P_IPV6
            sock.sendto(packet, (interface, protocol, 0, 0, hardware))
            collect(sock, time.monotonic() + pace, received)
        collect(sock, time.monotonic() + wait, received)
    print("\n".join(data.hex() for data in received))


if __name__ == "__main__":
    if sys.argv[2] == "--addresses":
        print("\n".join(address["local"] for link in ip_json("addr", "show", "dev", sys.argv[1])
                        for address in link.get("addr_info", []) if address["scope"] == "global"))
    else:
        main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
