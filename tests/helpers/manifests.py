# SPDX-License-Identifier: Apache-2.0
"""What manifests/ and charts/sandboxrun render to, as text and as objects."""

import json
import os
import subprocess

from helpers.controlplane import BIN, ROOT
from helpers.rawapi import RawApi
from helpers.wait import wait_until

MANIFESTS = os.path.join(ROOT, "manifests")
CHART = os.path.join(ROOT, "charts/sandboxrun")
NAMESPACE = "sandboxrun-system"
MARK = "parsed"


def _tool(name, *args, check=True, input=None):
    done = subprocess.run([os.path.join(BIN, name), *args], text=True, capture_output=True,
                          timeout=120, env={"PATH": os.environ["PATH"], "KUBECONFIG": "/dev/null"},
                          **({"input": input} if input else {"stdin": subprocess.DEVNULL}))
    if check and done.returncode != 0:
        raise AssertionError(f"{name} {' '.join(args)}: {done.stderr}")
    return done


def kustomize():
    return _tool("kubectl", "kustomize", MANIFESTS).stdout


def helm_lint():
    return _tool("helm", "lint", "--strict", CHART, check=False)


def helm_template(*args, release="sandboxrun", namespace=NAMESPACE):
    return _tool("helm", "template", release, CHART, "--namespace", namespace, *args).stdout


def helm_refusal(*args):
    """What helm says of values that it refuses; None if it takes them."""
    done = _tool("helm", "template", "sandboxrun", CHART, *args, check=False)
    return done.stderr if done.returncode != 0 else None


def parse(text):
    """YAML documents as objects. kubectl is the YAML reader here: it labels each of them, without
    asking a server, and prints JSON."""
    printed = _tool("kubectl", "label", "--local", "--overwrite", "-o", "json", "-f", "-",
                    f"{MARK}=yes", input=text).stdout
    objects, decoder, at = [], json.JSONDecoder(), 0
    while at < len(printed):
        item, at = decoder.raw_decode(printed, at)
        at += len(printed[at:]) - len(printed[at:].lstrip())
        item["metadata"]["labels"].pop(MARK)
        objects.append(item)
    return objects


def install_crds(plane, timeout=30):
    """`kubectl wait` isn't used: it fails on an object that has no conditions yet."""
    plane.kubectl("apply", "-f", os.path.join(MANIFESTS, "crd"))
    for name in ("sandboxruns", "sandboxnodes"):
        wait_until(f"the CRD of {name} to be established", lambda name=name: _established(
            plane.get("crd", f"{name}.sandboxrun.dev")), timeout)


def _established(crd):
    return any(c["type"] == "Established" and c["status"] == "True"
               for c in crd.get("status", {}).get("conditions") or [])


def wait_until_agents_are_bound(plane, timeout=30):
    """The policies are in force a moment after they were made. Asked with a token that names no
    node."""
    plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-agent")
    lost = RawApi(plane, "sandboxrun-agent")
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "probe"}}
    wait_until("the policies to be in force", lambda: "names no node" in lost.post(
        f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases", lease,
        dryRun="All").message, timeout)
    lost.close()


def pods(objects):
    """(object, pod spec) of all workloads."""
    for item in objects:
        if item["kind"] in ("Deployment", "DaemonSet"):
            yield item, item["spec"]["template"]["spec"]


def containers(pod):
    return {c["name"]: c for c in pod.get("initContainers", []) + pod["containers"]}


def find(objects, kind, name):
    for item in objects:
        if (item["kind"], item["metadata"]["name"]) == (kind, name):
            return item
    raise AssertionError(f"no {kind} {name}")
