# SPDX-License-Identifier: Apache-2.0
"""Every forbidden network at both ends and just outside, over TCP, UDP and ICMP; one line each.

A program in a sandbox tries them with its sockets. Then the same by packets made by hand in the
sandbox's network namespace, as if the program had broken out of every lock but the rules: that is
how ICMP gets there at all, and what a sandbox's own kernel would not send.
"""

import probes
import ranges
from case import SLEEP, EgressTest
from helpers import internet as net
from helpers import packets

NETWORKS = ranges.all_networks()
# Nobody answers with an error what went to a group (RFC 1122 section 3.2.2, RFC 4443 section 2.4).
GROUPS = [ranges.ipaddress.ip_network(prefix) for prefix in ("224.0.0.0/4", "ff00::/8")]
# Of the rest the kernel drops some before anybody can judge them.
UNANSWERED = GROUPS + [ranges.ipaddress.ip_network(prefix) for prefix in (
    "0.0.0.0/8", "255.255.255.255/32", "::/128", "::1/128", "fe80::/10")]


def by_hand(source, address):
    """ICMP and a TCP connection's first packet."""
    source = source[address.version]
    icmp = packets.ICMP if address.version == 4 else packets.ICMPV6
    return [packets.ip(source, address, icmp, packets.echo_request(source, address)),
            packets.ip(source, address, packets.TCP, packets.tcp(source, address, 8080))]


class PlacesTest(EgressTest):
    """Tries everything once; the tests look at what came of it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        addresses = list(dict.fromkeys(place.address for place in probes.places()))
        cls.found = cls.probe(probes.probes_for(addresses))
        with cls.node.hold(SLEEP) as held:
            source = cls.addresses_of(held)
            sent = [packet for address in addresses for packet in by_hand(source, address)]
            answers = cls.send(held, sent)
        cls.arrived = {}
        for (address, protocol, port), _ in cls.internet.arrived().items():
            cls.arrived.setdefault(address, set()).add((protocol, port))
        cls.pairs = {target for _, target in cls.internet.arrived_pairs()}
        cls.refused_by_hand = {(answer.about.target, answer.about.kind) for answer in answers
                               if answer.kind == "unreachable" and answer.about}
        cls.refused_by_hand |= {(answer.source, "tcp") for answer in answers
                                if answer.kind == "rst"}
        cls.echoed = {answer.source for answer in answers if answer.kind == "echo"}

    def refused_by_hand_too(self, address):
        text = str(address)
        self.assertNotIn(text, self.echoed)
        if not any(address in network for network in UNANSWERED):
            self.assertTrue({(text, "icmp"), (text, "tcp")} <= self.refused_by_hand, text)

    def check_inside(self, place):
        address = str(place.address)
        errors = ("ECONNREFUSED",)
        if probes.is_own_kernels(place.address):
            errors = probes.OWN_KERNEL_ERRORS
        in_group = any(place.address in network for network in GROUPS)
        for probe in probes.probes_for([address]):
            if in_group and probe[0] == "udp":
                self.assertIn(self.found[probe][0], (*errors, "silence"), probe)
            else:
                self.assert_refused(self.found, probe, errors)
        self.assertNotIn(address, self.pairs, "it arrived in the world")
        self.refused_by_hand_too(place.address)

    def check_outside(self, place):
        address = str(place.address)
        for port in (probes.HTTP, probes.HTTPS):
            self.assertEqual(self.found["tcp", address, port][0], "connected", port)
        self.assert_refused(self.found, ("tcp", address, probes.SSH))
        for port in probes.UDP_PORTS:
            self.assert_refused(self.found, ("udp", address, port))
        self.assertEqual(self.arrived.get(address), {("tcp", 80), ("tcp", 443)})
        self.refused_by_hand_too(place.address)


class TestNetworks(PlacesTest):
    def __str__(self):
        return self._testMethodDoc or super().__str__()

    def shortDescription(self):
        return None


def add_tests():
    for number, place in enumerate(probes.places()):
        def test(self, place=place):
            (self.check_inside if place.is_inside else self.check_outside)(place)
        verdict = ("TCP, UDP and ICMP refused" if place.is_inside
                   else "TCP 80 and 443 go through, the rest is refused")
        test.__doc__ = f"{place.text} ({NETWORKS[place.network][:60]}): {verdict}"
        setattr(TestNetworks, f"test_{number:03}_{place.name}", test)


add_tests()


class TestDisguises(EgressTest):
    """A forbidden IPv4 address as an IPv6 address."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.forms = [(form, str(address)) for network in NETWORKS if network.version == 4
                     for _, end in ranges.ends(network) for form, address in ranges.disguises(end)]
        cls.forms += [(form, str(address)) for metadata in (net.METADATA4, "168.63.129.16")
                      for form, address in ranges.disguises(ranges.ipaddress.ip_address(metadata))]
        cls.found = cls.probe([(protocol, address, port) for _, address in cls.forms
                               for protocol, port in (("tcp", 80), ("tcp", 443), ("udp", 443))])

    def check(self, wanted):
        for address in (address for form, address in self.forms if form == wanted):
            parsed = ranges.ipaddress.ip_address(address)
            inner = parsed.ipv4_mapped or parsed
            own = probes.is_own_kernels(inner)
            errors = probes.OWN_KERNEL_ERRORS if own else ("ECONNREFUSED",)
            for probe in (("tcp", address, 80), ("tcp", address, 443), ("udp", address, 443)):
                if probe[0] == "udp" and any(inner in network for network in GROUPS):
                    continue
                self.assert_refused(self.found, probe, errors)
        self.assert_nothing_arrived()


def add_disguises():
    for form, _ in ranges.disguises(ranges.ipaddress.ip_address("10.0.0.1")):
        def test(self, form=form):
            self.check(form)
        test.__doc__ = f"every forbidden IPv4 network as {form}"
        setattr(TestDisguises, "test_" + form.replace("-", "_").replace(" ", "_"), test)


add_disguises()

