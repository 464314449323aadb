# SPDX-License-Identifier: Apache-2.0
"""What a sandbox runs to try destinations; its code is handed to the sandbox as it is.

Reads [[protocol, address, port]...] from stdin and prints [[outcome, milliseconds]...]. The outcome
is "connected" or "answered", "silence" after a second, or the name of an error. What is refused is
tried up to three times, and its best time counts: a busy machine is not a slow refusal.
"""

import errno
import json
import socket
import sys
import time

SILENCE_SECONDS = 1.0
MAX_SILENCES = 20
SLOW_MS = 50
# A node answers so many refusals a second, and no scanner.
PACE_SECONDS = 0.001
# What link-local addresses need; the system call that looks it up is refused here.
ETH0 = 2
# www.example.com, A: on port 53 there may be a name server.
QUESTION = bytes.fromhex("1234010000010000000000000377777707657861 6d706c6503636f6d0000010001")


def attempt(protocol, address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    target = (address, port)
    if address.startswith("fe") and address[2] in "89ab":
        target = (address, port, 0, ETH0)
    kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
    begin = time.monotonic()
    try:
        with socket.socket(family, kind) as sock:
            sock.settimeout(SILENCE_SECONDS)
            sock.connect(target)
            outcome = "connected"
            if protocol == "udp":
                sock.send(QUESTION)
                sock.recv(100)
                outcome = "answered"
    except TimeoutError:
        outcome = "silence"
    except OSError as error:
        outcome = errno.errorcode.get(error.errno, str(error))
    return outcome, (time.monotonic() - begin) * 1000


def best_attempt(probe):
    outcome, took = attempt(*probe)
    for _ in range(2):
        if took <= SLOW_MS or outcome in ("silence", "connected", "answered"):
            break
        again, took_again = attempt(*probe)
        if again != outcome:
            return again, took_again
        took = min(took, took_again)
    return outcome, took


def main():
    results, silences = [], 0
    for probe in json.load(sys.stdin):
        if silences >= MAX_SILENCES:
            results.append(["not tried", 0])
            continue
        outcome, took = best_attempt(probe)
        silences += outcome == "silence"
        results.append([outcome, round(took, 2)])
        time.sleep(PACE_SECONDS)
    print(json.dumps(results))


main()
