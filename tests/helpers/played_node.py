# SPDX-License-Identifier: Apache-2.0
"""A node that a test plays: the objects of a real one, and nobody behind them who starts runs."""

import datetime
import threading

from helpers.manifests import NAMESPACE
from helpers.rawapi import RawApi

NODES = "/apis/sandboxrun.dev/v1alpha1/sandboxnodes"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
RENEW_S = 1


def now():
    """As an agent writes it."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _accepted(answer):
    if not answer.accepted:
        raise AssertionError(answer.message)


def register(api, name, runs=100, memory="100Gi", cpu="100", ready=True):
    """Makes SandboxNode and Lease as whom api is: heard of, and with as much room as it says."""
    instance = f"{name}-instance"
    _accepted(api.post(NODES, {"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxNode",
                               "metadata": {"name": name}}))
    _accepted(api.patch(f"{NODES}/{name}/status", {"status": {
        "instance": instance, "capacity": {"runs": runs, "memory": memory, "cpu": cpu},
        "allocated": {"runs": 0, "memory": "0", "cpu": "0"},
        "runtimes": [{"name": "python3.12", "version": "3.12.1"}], "profiles": ["Snippet"],
        "conditions": [{"type": "Ready", "status": "True" if ready else "False",
                        "reason": "Played", "message": "", "lastTransitionTime": now()}]}}))
    _accepted(api.post(LEASES, {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": name, "labels": {"sandboxrun.dev/lease": "node"}},
        "spec": {"holderIdentity": instance, "leaseDurationSeconds": 40, "acquireTime": now(),
                 "renewTime": now(), "leaseTransitions": 0}}))


class PlayedNode:
    """One whose Lease is renewed until the end. room: what register() takes."""

    def __init__(self, plane, name, **room):
        self.api = RawApi(plane)
        self.name = name
        self.over = threading.Event()
        register(self.api, name, **room)
        self.thread = threading.Thread(target=self._renew, daemon=True)
        self.thread.start()

    def _renew(self):
        while not self.over.wait(RENEW_S):
            _accepted(self.api.patch(f"{LEASES}/{self.name}", {"spec": {"renewTime": now()}}))

    def remove(self):
        self.over.set()
        self.thread.join()
        _accepted(self.api.delete(f"{NODES}/{self.name}"))
        _accepted(self.api.delete(f"{LEASES}/{self.name}"))
        self.api.close()
