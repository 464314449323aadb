# SPDX-License-Identifier: Apache-2.0
"""/healthz and /readyz: a process that lives is healthy; it is ready while it can do its work."""

import unittest
import urllib.error

from helpers.cluster import Node, free_port, http_get
from helpers.wait import wait_until

from shared import KubectlCase


def probe(port, path):
    """(status, body); (None, why) if nobody answers."""
    try:
        return http_get(f"http://127.0.0.1:{port}{path}")
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read().decode()
    except OSError as error:
        return None, str(error)


class TestHealth(KubectlCase):
    def wait_answer(self, port, path, status, body):
        wait_until(f"{path} of port {port} to be {status} {body!r}",
                   lambda: (lambda got: got[0] == status and body in got[1])(probe(port, path)),
                   timeout=60, interval=0.1)

    def test_without_the_api_server(self):
        cluster = self.cluster
        ports = {"controller": cluster.controller_port, "agent": cluster.agent_port}
        for port in ports.values():
            self.wait_answer(port, "/readyz", 200, "ok\n")
        self.assertEqual(probe(ports["controller"], "/readyz")[1],
                         "sandboxruns: ok\nsandboxnodes: ok\nnodes: ok\nleases: ok\n")
        cluster.plane.kill()
        try:
            self.wait_answer(ports["controller"], "/readyz", 503,
                             "sandboxruns: the watch is not up to date\n")
            self.wait_answer(ports["agent"], "/readyz", 503, "the API server is not being heard of")
            for port in ports.values():
                self.assertEqual(probe(port, "/healthz"), (200, "ok\n"))
        finally:
            cluster.plane.start()
            cluster.api.close()
        for port in ports.values():
            self.wait_answer(port, "/readyz", 200, "ok\n")

    def agent(self, name):
        node = Node(self.cluster, name)
        self.addCleanup(node.stop)
        self.addCleanup(self.cluster.kubectl, "delete", "sbn", name, "--ignore-not-found")
        port = free_port()
        node.start_agent("--health-address", f"127.0.0.1:{port}")
        return node, port

    def test_an_agent_before_and_after_its_jailer(self):
        node, port = self.agent("node-h")
        self.wait_answer(port, "/readyz", 503, "the jailer has not answered yet")
        self.assertEqual(probe(port, "/healthz"), (200, "ok\n"))
        node.start_jailer()
        self.wait_answer(port, "/readyz", 200, "ok\n")
        node.jailer.kill()
        # It says why on its node, then ends, for its container to be started again.
        self.assertNotEqual(node.agent.child.wait(60), 0)
        ready, = node.status()["conditions"]
        self.assertEqual((ready["status"], ready["reason"]), ("False", "JailerLost"))
        self.assertIn("the jailer is lost, ending",
                      [line["msg"] for line in self.cluster.lines(node.agent)])

    def test_a_resolver_without_its_jailer(self):
        resolver, port = self.cluster.start_resolver("resolver-h")
        self.addCleanup(resolver.stop)
        self.wait_answer(port, "/readyz", 503, "jailer")
        self.assertEqual(probe(port, "/healthz"), (200, "ok\n"))


if __name__ == "__main__":
    unittest.main()
