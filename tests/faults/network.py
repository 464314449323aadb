# SPDX-License-Identifier: Apache-2.0
"""A network namespace for each part of the cluster, and a hub between them that can cut.

Every part has a link to the hub and reaches the others through it. A cut drops what one part sends
to another, in one direction, and tells nobody. Whoever makes the hub has the first place in it: the
test, and with it the API server, whose clients the tests themselves are.
"""

import collections
import subprocess

from helpers.netns import Namespace, new_network

RULES = """
table ip faults {
    set cuts { type ipv4_addr . ipv4_addr; }
    chain forward {
        type filter hook forward priority 0;
        ip saddr . ip daddr @cuts drop
    }
}
"""


class Place:
    """Where a part is: its namespace, by a process in it, and its address."""

    def __init__(self, number, pid):
        self.pid = pid
        self.address = f"10.91.{number}.2"
        self.gateway = f"10.91.{number}.1"


class Hub:
    def __init__(self):
        self.namespaces = []
        self.places = {}
        # The calling process leaves the machine's network for good.
        new_network()
        self.hub = self._namespace()
        self.hub.sysctl(net__ipv4__ip_forward=1)
        self.hub.nft(RULES)
        self.cuts = collections.Counter()  # more than one fault may cut the same

    def close(self):
        for each in self.namespaces:
            each.close()

    def _namespace(self):
        made = Namespace()
        self.namespaces.append(made)
        return made

    def join(self, name, pid=None):
        """A place with a namespace of its own, or that of a process."""
        space = None if pid else self._namespace()
        place = Place(len(self.places), pid or space.pid)
        self.places[name] = place
        number = len(self.places)
        self.hub.ip(f"link add to{number} type veth peer name eth0 netns {place.pid}\n"
                    f"address add {place.gateway}/30 dev to{number}\n"
                    f"link set to{number} up\n")
        batch = (f"link set lo up\naddress add {place.address}/30 dev eth0\nlink set eth0 up\n"
                 f"route add default via {place.gateway}\n")
        if space:
            space.ip(batch)
        else:
            _ip_here(batch)
        return place

    def cut(self, sender, receiver):
        self.cuts[sender, receiver] += 1
        if self.cuts[sender, receiver] == 1:
            self._change("add", sender, receiver)

    def mend(self, sender, receiver):
        self.cuts[sender, receiver] -= 1
        if self.cuts[sender, receiver] == 0:
            self._change("delete", sender, receiver)

    def _change(self, verb, sender, receiver):
        pair = f"{self.places[sender].address} . {self.places[receiver].address}"
        self.hub.nft(f"{verb} element ip faults cuts {{ {pair} }}\n")


def _ip_here(text):
    subprocess.run(["ip", "-batch", "-"], input=text, text=True, check=True)
