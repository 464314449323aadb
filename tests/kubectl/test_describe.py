# SPDX-License-Identifier: Apache-2.0
"""`kubectl describe`, `events` and `explain`: what there is to read for people."""

import concurrent.futures
import re
import unittest

from shared import KUBECTLS, NEW, REAL, KubectlCase, failed, running, scheduled

SENTENCE = re.compile(r"[A-Z0-9].{8,}[.]", re.DOTALL)


class TestDescribe(KubectlCase):
    def test_a_finished_run_shows_its_conditions_and_events(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                for name, (_, _, reason) in REAL.items():
                    with self.subTest(run=name):
                        status = self.cluster.get(name)["status"]
                        text = self.kubectl(kubectl, "describe", "sbr", name).stdout
                        self.assertRegex(text, r"(?m)^Name: +" + name + "$")
                        self.assertRegex(text, r"(?m)^Events:")
                        self.assertRegex(text, r"(?m)^  Phase: +" + status["phase"] + "$")
                        self.assertRegex(text, r"(?m)^  Reason: +" + reason + "$")
                        self.assertIn(status["message"].split()[0], text)
                        self.assertRegex(text, r"(?m)^  Exit Code: +" f"{status['exitCode']}$")
                        self.assertRegex(text, r"(?m)^  Conditions:$")
                        self.assertRegex(text, r"Status: +True\n +Type: +Finished\n")

    def test_a_run_on_its_way_shows_where_it_is(self):
        self.play("on-its-way", scheduled("sandbox-d"), running("sandbox-d"))
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                text = self.kubectl(kubectl, "describe", "sbr/on-its-way").stdout
                self.assertIn("Assigned to node node-p.", text)
                self.assertRegex(text, r"Status: +False\n +Type: +Finished\n")
                self.assertRegex(text, r"(?m)^  Phase: +Running$")

    def test_a_waiting_run_shows_what_it_waits_for(self):
        self.create("waits", "print(1)", nodeSelector={"no": "such-node"}, queueTimeoutSeconds=600)
        self.kubectl(NEW, "wait", "--for=condition=Scheduled=False", "--timeout=30s", "sbr/waits")
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                text = self.kubectl(kubectl, "describe", "sbr", "waits").stdout
                self.assertIn("0 of 1 node", text)
                self.assertRegex(text, r"Status: +False\n +Type: +Scheduled\n")

    def test_the_node(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                text = self.kubectl(kubectl, "describe", "sbn", "node-a").stdout
                self.assertRegex(text, r"Status: +True\n +Type: +Ready\n")

    def test_events_of_one_run(self):
        self.play("spoken-of", failed("NodeLost"))
        self.play("silent", failed("NodeLost"))
        uid = self.cluster.get("spoken-of")["metadata"]["uid"]
        event = {
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": "spoken-of.1", "namespace": "default"},
            "eventTime": "2026-01-02T03:04:05.000001Z", "type": "Warning", "reason": "EgressDenied",
            "action": "Connect", "note": "refused 10.0.0.1:443/TCP",
            "reportingController": "sandboxrun.dev/node-agent", "reportingInstance": "node-a",
            "regarding": {"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxRun",
                          "namespace": "default", "name": "spoken-of", "uid": uid}}
        path = "/apis/events.k8s.io/v1/namespaces/default/events"
        answer = self.cluster.api.post(path, event)
        self.assertTrue(answer.accepted, answer.message)
        self.addCleanup(self.cluster.api.delete, f"{path}/spoken-of.1")
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                self.assertRegex(self.kubectl(kubectl, "describe", "sbr", "spoken-of").stdout,
                                 r"Warning +EgressDenied +.*refused 10\.0\.0\.1:443/TCP")
                self.assertRegex(self.kubectl(kubectl, "describe", "sbr", "silent").stdout,
                                 r"(?m)^Events: +<none>$")
                selector = "involvedObject.kind=SandboxRun,involvedObject.name="
                text = self.kubectl(kubectl, "get", "events", "--field-selector",
                                    f"{selector}spoken-of").stdout
                self.assertIn("sandboxrun/spoken-of", text)
                self.assertEqual(self.kubectl(kubectl, "get", "events", "--field-selector",
                                              f"{selector}silent").stdout, "")
        text = self.kubectl(NEW, "events", "--for", "sandboxrun.sandboxrun.dev/spoken-of").stdout
        self.assertIn("EgressDenied", text)


class TestExplain(KubectlCase):
    """A sentence for every field. What is asked for is every object: explain lists its fields, each
    with its text."""

    def objects(self, path, schema):
        """(path, names of its fields) of every object in a schema."""
        inner = schema.get("items", schema)
        fields = inner.get("properties", {})
        if fields:
            yield path, sorted(fields)
        for name, field in fields.items():
            if name != "metadata":
                yield from self.objects(f"{path}.{name}", field)

    def check(self, kubectl, path, fields):
        text = self.kubectl(kubectl, "explain", path).stdout
        self.assertIsNone(re.search(r"<empty>|<no description>", text.split("FIELDS:")[0]), text)
        found = re.split(r"(?m)^ {2,3}(?=\w+\t)", text.split("FIELDS:")[1])[1:]
        described = {part.split("\t")[0]: " ".join(part.split("\n", 1)[1].split())
                     for part in found}
        self.assertEqual(sorted(described), fields, path)
        for name, words in described.items():
            self.assertRegex(words, SENTENCE, f"{path}.{name}")

    def test_every_field_of_every_object(self):
        questions = []
        for resource, plural in (("sbr", "sandboxruns"), ("sbn", "sandboxnodes")):
            crd = self.cluster.plane.get("crd", f"{plural}.sandboxrun.dev")
            schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
            for path, fields in self.objects(resource, schema):
                questions += [(kubectl, path, fields) for kubectl in KUBECTLS]
        self.assertGreater(len(questions), 30)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = {pool.submit(self.check, *question): question for question in questions}
            for answer, (kubectl, path, _) in answers.items():
                with self.subTest(kubectl=kubectl, path=path):
                    answer.result()

    def test_one_field(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                text = self.kubectl(kubectl, "explain", "sandboxrun.spec.timeoutSeconds").stdout
                self.assertIn("Wall-clock limit in seconds", " ".join(text.split()))
                self.assertIn("<integer>", text)


if __name__ == "__main__":
    unittest.main()
