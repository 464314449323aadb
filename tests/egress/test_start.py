# SPDX-License-Identifier: Apache-2.0
"""The rules are in force before the process exists: a program's very first act is refused."""

from case import EgressTest
from helpers import internet as net
from helpers import jailer_protocol as protocol
from helpers.local import FULL

RUNS = 1000 if FULL else 50

# As soon as there is an interpreter: the packet leaves before the call returns.
FIRST = """
import _socket
sock = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
sock.settimeout(0)
first = sock.connect_ex(("{forbidden}", 80))
others = []
for target in (("8.8.8.8", 22), ("{other}", 443), ("1.1.1.1", 80)):
    others.append(_socket.socket(_socket.AF_INET, _socket.SOCK_STREAM))
    others[-1].settimeout(0)
    others[-1].connect_ex(target)
import json, select, errno
sockets = [sock, *others]
outcomes = []
for one in sockets:
    ready = select.select([], [one], [], 1)[1]
    code = one.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR) if ready else -1
    outcomes.append(errno.errorcode.get(code, str(code)))
if first not in (0, errno.EINPROGRESS):
    outcomes[0] = errno.errorcode[first]
print(json.dumps(outcomes))
"""


class TestFirstMicrosecond(EgressTest):
    def test_the_first_statement(self):
        """Each run has rules of its own: 1.1.1.1 is allowed in every other one."""
        self.internet.forget()
        code = FIRST.format(forbidden=net.METADATA4, other="10.0.0.1")
        narrow = protocol.encode_egress([("8.8.4.0/24", protocol.HTTP)])
        wrong = []
        for number in range(RUNS):
            outcomes = self.node.run_json(code, **({"egress": narrow} if number % 2 else {}))
            wanted = ["ECONNREFUSED"] * 3 + ["ECONNREFUSED" if number % 2 else "0"]
            if outcomes != wanted:
                wrong.append((number, outcomes))
        self.assertEqual(wrong, [])
        self.assert_nothing_arrived(net.METADATA4, "8.8.8.8", "10.0.0.1")
        arrived = {key: count for key, count in self.internet.arrived().items()
                   if key[0] == "1.1.1.1"}
        self.assertEqual(set(arrived), {("1.1.1.1", "tcp", 80)})
