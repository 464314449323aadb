# SPDX-License-Identifier: Apache-2.0
"""What a NetworkPolicy's egress rules allow, written down from the Kubernetes API reference
(NetworkPolicySpec v1: egress, NetworkPolicyEgressRule, NetworkPolicyPeer, IPBlock,
NetworkPolicyPort), independent of the program's own reading."""

import ipaddress


def peer_matches(peer, address):
    block = peer["ipBlock"]
    network = ipaddress.ip_network(block["cidr"])
    return address in network and not any(
        address in ipaddress.ip_network(hole) for hole in block.get("except", []))


def port_matches(entry, protocol, port):
    """"protocol defaults to TCP"; no port: all of them; endPort: all from port to endPort."""
    if entry.get("protocol", "TCP") != protocol:
        return False
    first = entry.get("port")
    return first is None or first <= port <= entry.get("endPort", first)


def rule_matches(rule, address, protocol, port):
    """"matches both to and ports"; an empty or missing list matches all."""
    peers, ports = rule.get("to", []), rule.get("ports", [])
    return (not peers or any(peer_matches(peer, address) for peer in peers)) and (
        not ports or any(port_matches(entry, protocol, port) for entry in ports))


def allows(rules, address, protocol, port):
    """"If this field is empty then this policy limits all outgoing traffic"."""
    address = ipaddress.ip_address(address)
    return any(rule_matches(rule, address, protocol, port) for rule in rules)
