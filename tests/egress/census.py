# SPDX-License-Identifier: Apache-2.0
"""Counts what slots could leave behind: in the node's namespace, in the jailer's processes and in
the kernel."""

import collections
import glob
import json
import os
import re

from helpers.cgroup_tree import sandboxes_below
from helpers.leftovers import network_namespaces
from helpers.toolcall import PARENT


def links(namespace):
    """(interfaces, addresses, neighbours, routes) of a namespace."""
    shown = json.loads(namespace.run("ip", "-j", "addr").stdout)
    routes = [namespace.run("ip", "-j", family, "route", "show", "table", "all").stdout
              for family in ("-4", "-6")]
    return {"interfaces": len(shown),
            "addresses": sum(len(link["addr_info"]) for link in shown),
            "neighbours": len([entry for entry in json.loads(
                namespace.run("ip", "-j", "neigh", "show", "nud", "all").stdout)
                if entry["dev"] not in ("lo", "up0") or "PERMANENT" in entry["state"]]),
            "routes": sum(len(json.loads(text or "[]")) for text in routes)}


def rules(namespace):
    """Tables, chains, sets and the elements of them. (Of a table with an owner some versions of nft
    print JSON that is none, so tables are counted as text.)"""
    counts = collections.Counter()
    counts["tables"] = len(namespace.run("nft", "list", "tables").stdout.splitlines())
    for kind in ("chains", "sets", "maps"):
        for item in json.loads(namespace.run("nft", "-j", "list", kind).stdout)["nftables"]:
            for body in item.values():
                if "name" in body:
                    counts[kind] += 1
                    name = re.sub("_[0-9]+$", "", body["name"])
                    counts[f"elements of {name}"] += len(body.get("elem", []))
    return dict(counts)


def connections(namespace):
    """Tracked connections that a slot's address has begun."""
    listed = namespace.run("conntrack", "-L", check=False).stdout
    listed += namespace.run("conntrack", "-L", "-f", "ipv6", check=False).stdout
    begun = re.findall(r"src=(?:198\.(?:18|19)\.|fd53:6272:)[^ ]* dst=", listed)
    return {"connections": len(begun)}


def tree_of(pid):
    """A process and all below it."""
    found = [pid]
    for parent in found:
        for path in glob.glob(f"/proc/{parent}/task/*/children"):
            try:
                with open(path, encoding="ascii") as file:
                    found += [int(word) for word in file.read().split()]
            except OSError:
                continue
    return found


def processes(pid):
    """Processes, descriptors and network namespaces of a jailer with its helpers."""
    pids, descriptors, namespaces = tree_of(pid), 0, set()
    for one in pids:
        for path in glob.glob(f"/proc/{one}/fd/*") + [f"/proc/{one}/ns/net"]:
            try:
                link = os.readlink(path)
            except OSError:
                continue
            descriptors += "/fd/" in path
            if link.startswith("net:"):
                namespaces.add(link)
    return {"processes": len(pids), "descriptors": descriptors, "namespaces": len(namespaces),
            "sandboxes": len(sandboxes_below(PARENT))}


def held_namespaces():
    found = set()
    for path in glob.glob("/proc/[0-9]*/ns/net") + glob.glob("/proc/[0-9]*/fd/*"):
        try:
            link = os.readlink(path)
        except OSError:
            continue
        if link.startswith("net:"):
            found.add(link)
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        found |= {line.split()[3] for line in file if " nsfs " in line}
    return len(found)


def unheld_namespaces():
    """Network namespaces of the kernel that nobody on the machine is seen to hold."""
    objects = network_namespaces()
    return 0 if objects is None else objects - held_namespaces()


def take(node):
    namespace = node.internet.node
    return (links(namespace) | rules(namespace) | connections(namespace)
            | processes(node.jailer.process.pid))
