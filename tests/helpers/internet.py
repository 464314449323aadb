# SPDX-License-Identifier: Apache-2.0
"""A pretend internet: two or three network namespaces in which every address answers.

    world    every IPv4 and IPv6 address is local here (AnyIP), so that whatever destination a
             packet has, there is somebody who answers: a refusal can only be the node's. It counts
             each packet that arrives, whether the kernel makes something of it or not.
    node     where jailer and resolver run: the network namespace of their Pod. Private addresses
             as a Pod has them, and public ones, as a Pod on the host's network has them.
    behind() a namespace behind the node that is forwarded without any judgement: to show that
             what a sandbox may not reach is there to be reached.

    with Internet() as internet:
        internet.node.run("curl", ...)
        internet.script("www.example.com", "A", [{"records": [...]}])
        internet.arrived()      # {(address, protocol, port): packets} since forget()

All of it is gone with the test's process. Needs root, iproute2, nftables, openssl, util-linux.
"""

import ipaddress
import json
import os
import subprocess
import sys
import tempfile
import time

from helpers.netns import Namespace, die_with_parent

HERE = os.path.dirname(os.path.abspath(__file__))

NODE4, NODE6 = "10.244.1.7", "fd00:10:244:1::7"
HOST4, HOST6 = "10.244.1.1", "fd00:10:244:1::1"
HOST_MAC, NODE_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
# Public addresses that are the node's own.
NODE_PUBLIC4, NODE_PUBLIC6 = "203.0.114.7", "2a02:6b8:7::7"

WEB4, WEB6 = "93.184.215.14", "2606:2800:21f:cb07::14"
OTHER4, OTHER6 = "151.101.1.6", "2a04:4e42::6"
DNS4, DNS6 = "9.9.9.9", "2620:fe::fe"
METADATA4, METADATA6 = "169.254.169.254", "fd00:ec2::254"

CERTIFIED_NAMES = ("www.example.com", "example.com", "api.example.org", "*.example.org",
                   "*.example.net")
CERTIFIED_ADDRESSES = (WEB4, WEB6, OTHER4, OTHER6, "1.1.1.1", "2606:4700:4700::1111", METADATA4)

WORLD = """
table netdev arrivals {{
    set flows4 {{
        typeof ip daddr . meta l4proto . th dport
        size 65535
        flags dynamic
        counter
    }}
    set flows6 {{
        typeof ip6 daddr . meta l4proto . th dport
        size 65535
        flags dynamic
        counter
    }}
    set packets4 {{
        typeof ip saddr . ip daddr
        size 65535
        flags dynamic
        counter
    }}
    set packets6 {{
        typeof ip6 saddr . ip6 daddr
        size 65535
        flags dynamic
        counter
    }}
    chain arrived {{
        type filter hook ingress device "{device}" priority 0; policy accept;
        meta protocol ip add @packets4 {{ ip saddr . ip daddr }}
        meta protocol ip6 add @packets6 {{ ip6 saddr . ip6 daddr }}
        meta l4proto != {{ tcp, udp, icmp, icmpv6, sctp }} accept
        meta protocol ip add @flows4 {{ ip daddr . meta l4proto . th dport }}
        meta protocol ip6 add @flows6 {{ ip6 daddr . meta l4proto . th dport }}
    }}
}}
table inet everything {{
    # Not redirect: that wants an address of the same scope as the one that was asked.
    chain echo {{
        meta nfproto ipv4 meta l4proto {{ tcp, udp }} dnat ip to {host4}:7
        meta nfproto ipv6 meta l4proto {{ tcp, udp }} dnat ip6 to [{host6}]:7
    }}
    chain answers {{
        type nat hook prerouting priority dstnat;
        iifname "{device}" tcp dport != {{ 9, 53, 80, 443 }} jump echo
        iifname "{device}" udp dport != {{ 9, 53 }} jump echo
    }}
}}
"""

MASQUERADE = """
table inet plain {
    chain leave {
        type nat hook postrouting priority srcnat;
        oifname "up0" masquerade
    }
}
"""


def make_certificates(directory):
    """ca.pem and server.{pem,key}, for the names and addresses above."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=directory, check=True, capture_output=True,
                       timeout=30)

    names = [f"DNS:{name}" for name in CERTIFIED_NAMES]
    names += [f"IP:{address}" for address in CERTIFIED_ADDRESSES]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj", "/CN=Pretend CA", "-addext", "basicConstraints=critical,CA:TRUE",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=pretend")
    with open(os.path.join(directory, "extensions"), "w", encoding="ascii") as file:
        file.write(f"subjectAltName={','.join(names)}\nextendedKeyUsage=serverAuth\n"
                   "basicConstraints=CA:FALSE\nkeyUsage=digitalSignature\n"
                   "authorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "2", "-extfile", "extensions", "-out", "server.pem")


def _plain(word):
    """An address in Python's spelling: nft writes ::ffff:ffff as ::255.255.255.255."""
    try:
        return str(ipaddress.ip_address(word)) if isinstance(word, str) else word
    except ValueError:
        return word


class Internet:
    def __init__(self):
        self.world = self.node = self.process = None
        self.others = []
        self.directory = tempfile.TemporaryDirectory(prefix="sandboxrun-internet-")

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        make_certificates(self.directory.name)
        self.world, self.node = Namespace(), Namespace()
        self.node.sysctl(net__ipv6__conf__default__accept_ra=0,
                         net__ipv6__conf__default__accept_dad=0)
        self._link_world()
        self._link_node()
        self.process = subprocess.Popen(
            self.world.enter(sys.executable, os.path.join(HERE, "internet_world.py"),
                             self.directory.name),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=die_with_parent)  # fmt: skip
        if not self.process.stdout.readline():
            raise RuntimeError("the world did not start")
        self.standard_names()
        self._wait_for_links()

    def _wait_for_links(self):
        """The kernel lets a new link have its carrier up to a second late."""
        code = ("import socket\n"
                f"for address in ({WEB4!r}, {WEB6!r}):\n"
                "    socket.create_connection((address, 80), 0.2).close()\n")
        until = time.monotonic() + 10
        while self.node.run(sys.executable, "-c", code, check=False).returncode != 0:
            if time.monotonic() > until:
                raise RuntimeError("the node does not reach the world")
        self.forget()

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait(10)
            self.process.stdout.close()
        for namespace in (*self.others, self.node, self.world):
            if namespace:
                namespace.close()
        self.directory.cleanup()

    def _link_world(self):
        self.world.sysctl(net__ipv4__icmp_ratelimit=0, net__ipv4__icmp_ratemask=0,
                          net__ipv6__icmp__ratelimit=0, net__ipv4__conf__all__rp_filter=0,
                          net__ipv4__conf__default__rp_filter=0,
                          net__ipv6__conf__default__accept_dad=0,
                          # So that a datagram can leave from whatever address it came to.
                          net__ipv6__ip_nonlocal_bind=1)
        self.world.ip(f"""\
link set lo up
link add name down0 type veth peer name up0 netns {self.node.pid}
link set down0 address {HOST_MAC}
addr add {HOST4}/24 dev down0
addr add {HOST6}/64 dev down0 nodad
neigh add {NODE4} lladdr {NODE_MAC} nud permanent dev down0
neigh add {NODE6} lladdr {NODE_MAC} nud permanent dev down0
link set down0 up
""")

    def _link_node(self):
        self.node.ip(f"""\
link set lo up
link set up0 address {NODE_MAC}
addr add {NODE4}/24 dev up0
addr add {NODE6}/64 dev up0 nodad
addr add {NODE_PUBLIC4}/32 dev up0
addr add {NODE_PUBLIC6}/128 dev up0 nodad
neigh add {HOST4} lladdr {HOST_MAC} nud permanent dev up0
neigh add {HOST6} lladdr {HOST_MAC} nud permanent dev up0
link set up0 up
route add default via {HOST4}
route add default via {HOST6}
""")
        # In the main table, so that the link's own network, which is more specific, stays.
        self.world.ip(f"""\
route add local 0.0.0.0/0 dev lo table main
route add local ::/0 dev lo table main
route add {NODE_PUBLIC4}/32 via {NODE4}
route add {NODE_PUBLIC6}/128 via {NODE6}
""")
        self.world.nft(WORLD.format(device="down0", host4=HOST4, host6=HOST6))

    def behind(self):
        """A namespace behind the node, forwarded and masqueraded without judgement."""
        namespace = Namespace()
        self.others.append(namespace)
        self.node.sysctl(net__ipv4__ip_forward=1, net__ipv6__conf__all__forwarding=1)
        self.node.ip(f"""\
link add name box type veth peer name eth0 netns {namespace.pid}
addr add 198.18.77.1/30 dev box
addr add fd99:77::1/64 dev box nodad
link set box up
""")
        namespace.ip("""\
link set lo up
addr add 198.18.77.2/30 dev eth0
addr add fd99:77::2/64 dev eth0 nodad
link set eth0 up
route add default via 198.18.77.1
route add default via fd99:77::1
""")
        self.node.nft(MASQUERADE)
        return namespace

    # The world's servers.

    def ask(self, do, **fields):
        self.process.stdin.write(json.dumps({"do": do, **fields}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def script(self, name, kind, answers):
        """What the name server says of name from now on: see helpers/internet_dns.py."""
        self.ask("script", name=name, type=kind, answers=answers)

    def address(self, name, *addresses, ttl=60):
        """Plain A and AAAA records."""
        for kind, colon in (("A", False), ("AAAA", True)):
            records = [[name, kind, ttl, address] for address in addresses
                       if (":" in address) == colon]
            self.script(name, kind, [{"records": records}])

    def standard_names(self):
        for name in ("www.example.com", "example.com"):
            self.address(name, WEB4, WEB6)
        for name in ("api.example.org", "cdn.example.org", "a.b.example.org"):
            self.address(name, OTHER4, OTHER6)
        self.address("metadata.example.net", METADATA4, METADATA6)

    def questions(self):
        """[name, type, transport, client, server] of every question since forget()."""
        return self.ask("questions")["questions"]

    def served(self):
        """[address, port, host, path] of every HTTP request since forget()."""
        return self.ask("served")["served"]

    @property
    def ca(self):
        with open(os.path.join(self.directory.name, "ca.pem"), encoding="ascii") as file:
            return file.read()

    # What has arrived.

    def forget(self):
        self.ask("forget")
        self.world.nft("".join(f"flush set netdev arrivals {name}\n"
                               for name in ("flows4", "flows6", "packets4", "packets6")))

    def _elements(self, name):
        listed = self.world.run("nft", "-j", "list", "set", "netdev", "arrivals", name).stdout
        for item in json.loads(listed)["nftables"]:
            for element in item.get("set", {}).get("elem", []):
                element = element["elem"]
                words = [_plain(word) for word in element["val"]["concat"]]
                yield tuple(words), element["counter"]["packets"]

    def arrived(self):
        """{(address, protocol, port): packets}; of ICMP, port is type and code as one number."""
        return dict(self._elements("flows4")) | dict(self._elements("flows6"))

    def arrived_pairs(self):
        """{(source, destination): packets} of whatever came, fragments and all."""
        return dict(self._elements("packets4")) | dict(self._elements("packets6"))
