# SPDX-License-Identifier: Apache-2.0
"""ToolCall runs in a pretend internet: what a prepared slot costs on the path of a run, a cold run
from its request to its end, and throughput through a slot against a bare veth with NAT.

Contenders take turns within each round, so that the drift of a shared machine hits all alike. The
throughput's client is the same program of the same interpreter on both ways, and so is the server.
"""

import os
import re
import statistics
import time

from figures import quantile
from helpers import internet as net
from helpers import jailer_protocol as protocol
from helpers.local import RUNTIMES
from helpers.toolcall import Node

MIB = 1 << 20

# Prints bytes per second, counted from the connection to the last byte.
DOWNLOAD = """
import socket, sys, time
buffer = bytearray(1 << 20)
begin, count = time.monotonic(), 0
with socket.create_connection((sys.argv[1], 80), 10) as sock:
    sock.sendall(b"GET /bytes?count=%d HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" % int(sys.argv[2]))
    while got := sock.recv_into(buffer):
        count += got
assert count > int(sys.argv[2]), count
print(count / (time.monotonic() - begin))
"""


def one_run(node, kind):
    """(request to created, request to the last word) in seconds of one print(1)."""
    connection = node.jailer.connection
    request = protocol.encode_request("print(1)\n")
    begin = time.monotonic()
    sandbox = connection.create(**kind)
    word, fields, fds = connection.receive_about(sandbox)
    created = time.monotonic()
    if word != protocol.CREATED:
        raise SystemExit(f"refused: {fields}")
    connection.send(protocol.START, id=sandbox, timeout_ms=20000)
    os.write(fds[0], request)
    os.close(fds[0])
    word, fields, _ = connection.receive_about(sandbox)
    ended = time.monotonic()
    for fd in fds[1:]:
        os.close(fd)
    if fields["end"] != protocol.END_EXITED or fields["wait_status"] != 0:
        raise SystemExit(f"it ended so: {fields}")
    return created - begin, ended - begin


def slot_setups(node):
    """From a request until its slot was taken, in microseconds, as the jailer's log has them."""
    found = [int(number) for number in re.findall(r"\bslot_us=([0-9]+)", node.jailer.log_text())]
    return [number for number in found if number > 0]  # Snippet takes none


def measure_runs(node, rounds):
    """A run with a slot against one with no network, by turns."""
    times = {"snippet": [], "toolcall": []}
    for _ in range(rounds):
        times["snippet"].append(one_run(node, protocol.AS_SNIPPET))
        times["toolcall"].append(one_run(node, protocol.AS_TOOL_CALL))
        time.sleep(0.02)  # slots are made ready again in between, as they are used up only once
    setups = slot_setups(node)[-rounds:]
    cold = [end * 1000 for _, end in times["toolcall"]]
    return {"slot_setup_us": statistics.median(setups),
            "slot_setup_p99_us": quantile(setups, 0.99),
            "toolcall_cold_ms": round(statistics.median(cold), 3),
            "toolcall_cold_p99_ms": round(quantile(cold, 0.99), 3),
            "toolcall_cold_over_snippet": round(
                statistics.median(cold) / (1000 * statistics.median(
                    end for _, end in times["snippet"])), 3)}


def bare_download(box, size):
    rootfs = os.path.join(RUNTIMES, "python3.12")
    done = box.run("chroot", rootfs, "/usr/bin/python3", "-I", "-c", DOWNLOAD, net.WEB4, str(size))
    return float(done.stdout)


def measure_throughput(internet, node, rounds, size):
    box = internet.behind()
    arguments = [net.WEB4, str(size)]
    ratios, through, bare = [], [], []
    for _ in range(rounds):
        bare.append(bare_download(box, size))
        through.append(node.run_json(DOWNLOAD, args=arguments, **protocol.AS_TOOL_CALL))
        ratios.append(through[-1] / bare[-1])
    return {"egress_throughput_over_bare_veth": round(statistics.median(ratios), 3),
            "egress_mib_per_s": round(statistics.median(through) / MIB, 1),
            "bare_veth_mib_per_s": round(statistics.median(bare) / MIB, 1)}


def measure(rounds, downloads, size=200 * MIB):
    with net.Internet() as internet, Node(internet, "--slots", "16") as node:
        one_run(node, protocol.AS_TOOL_CALL)
        time.sleep(1)  # the slots are made ahead meanwhile
        figures = measure_runs(node, rounds)
        return figures | measure_throughput(internet, node, downloads, size)
