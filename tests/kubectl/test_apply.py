# SPDX-License-Identifier: Apache-2.0
"""`kubectl apply`, `create`, `delete`: large objects, the second time, changes, the ways to go."""

import json
import unittest

from helpers.cluster import run_document

from shared import KUBECTLS, NEW, OLD, PLAYED, KubectlCase

IMMUTABLE = "immutable except ttlSecondsAfterFinished: create another SandboxRun to run again"


class TestApply(KubectlCase):
    def document(self, name, code="print(1)", **spec):
        return json.dumps(run_document(name, code, **{**PLAYED, **spec}))

    def apply(self, kubectl, text, *args, **kwargs):
        return self.kubectl(kubectl, "apply", *args, "-f", "-", input=text, **kwargs)

    def test_the_second_time_nothing_changes(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                name = f"applied-by-{kubectl}"
                self.remove_later(name)
                text = self.document(name)
                self.assertEqual(self.apply(kubectl, text).stdout,
                                 f"sandboxrun.sandboxrun.dev/{name} created\n")
                before = self.cluster.get(name)["metadata"]
                self.assertEqual(self.apply(kubectl, text).stdout,
                                 f"sandboxrun.sandboxrun.dev/{name} unchanged\n")
                self.assertEqual(self.cluster.get(name)["metadata"]["generation"],
                                 before["generation"])

    def test_what_has_run_does_not_run_again(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                name = f"once-by-{kubectl}"
                self.remove_later(name)
                text = self.document(name, nodeSelector={})
                self.apply(kubectl, text)
                status = self.cluster.wait_finished(name)["status"]
                self.assertEqual(self.apply(kubectl, text).stdout,
                                 f"sandboxrun.sandboxrun.dev/{name} unchanged\n")
                self.assertEqual(self.cluster.get(name)["status"], status)

    def test_server_side_the_second_time_nothing_changes(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                name = f"serverside-{kubectl}"
                self.remove_later(name)
                for _ in range(2):
                    done = self.apply(kubectl, self.document(name), "--server-side")
                    self.assertEqual(done.stdout,
                                     f"sandboxrun.sandboxrun.dev/{name} serverside-applied\n")
                self.assertEqual(self.cluster.get(name)["metadata"]["generation"], 1)

    def test_no_more_than_256_kib_without_server_side(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                name = f"large-{kubectl}"
                self.remove_later(name)
                text = self.document(name, "#" * (300 << 10) + "\npass")
                done = self.apply(kubectl, text, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn("metadata.annotations: Too long", done.stderr)
                self.assertIsNone(self.cluster.get(name))
                self.apply(kubectl, text, "--server-side")
                self.assertEqual(len(self.cluster.get(name)["spec"]["code"]), (300 << 10) + 5)
                self.cluster.delete(name)
                self.kubectl(kubectl, "wait", "--for=delete", "--timeout=60s", f"sbr/{name}",
                             check=False)
                self.kubectl(kubectl, "create", "-f", "-", input=text)
                self.assertEqual(len(self.cluster.get(name)["spec"]["code"]), (300 << 10) + 5)

    def test_the_spec_is_immutable_but_for_the_ttl(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                name = f"fixed-{kubectl}"
                self.remove_later(name)
                self.apply(kubectl, self.document(name))
                for changed in ({"code": "print(2)"}, {"timeoutSeconds": 5}, {"args": ["a"]}):
                    text = self.document(name, **{"code": "print(1)", **changed})
                    done = self.apply(kubectl, text, check=False)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(f'The SandboxRun "{name}" is invalid: spec: ', done.stderr)
                    self.assertIn(IMMUTABLE, done.stderr)
                done = self.apply(kubectl, self.document(name, ttlSecondsAfterFinished=7200))
                self.assertEqual(done.stdout, f"sandboxrun.sandboxrun.dev/{name} configured\n")

    def test_generated_names(self):
        document = run_document("", "print(1)", **PLAYED)
        document["metadata"] = {"generateName": "made-"}
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                done = self.kubectl(kubectl, "create", "-o", "name", "-f", "-",
                                    input=json.dumps(document))
                self.assertRegex(done.stdout, r"\Asandboxrun\.sandboxrun\.dev/made-[a-z0-9]{5}\n\Z")
                self.remove_later(done.stdout.strip().split("/")[1])

    def test_every_way_to_delete(self):
        ways = {OLD: ("background", "orphan", "foreground", "true", "false"),
                NEW: ("background", "orphan", "foreground")}
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                for way in ways[kubectl]:
                    name = f"goes-{way}"
                    self.play(name)
                    done = self.kubectl(kubectl, "delete", "sbr", name, f"--cascade={way}",
                                        "--timeout=60s")
                    self.assertIn(f'sandboxrun.sandboxrun.dev "{name}" deleted', done.stdout)
                    self.assertIsNone(self.cluster.get(name))

    def test_many_are_deleted_by_label(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                for index in range(3):
                    document = run_document(f"many-{index}", "print(1)", **PLAYED)
                    document["metadata"]["labels"] = {"batch": "x"}
                    self.remove_later(f"many-{index}")
                    self.cluster.create(document)
                done = self.kubectl(kubectl, "delete", "sbr", "-l", "batch=x", "--timeout=60s")
                self.assertEqual(done.stdout.count("deleted"), 3)

    def test_a_running_run_is_deleted_and_its_sandbox_goes(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                name = f"doomed-{kubectl}"
                self.create(name, "while True:\n    pass\n", timeoutSeconds=60)
                sandbox = self.cluster.wait_phase(name, ("Running",))["status"]["sandboxID"]
                self.kubectl(kubectl, "delete", "sbr", name, "--timeout=60s")
                self.cluster.wait_for_line(self.cluster.node.jailer, "sandbox gone", sandbox)


if __name__ == "__main__":
    unittest.main()
