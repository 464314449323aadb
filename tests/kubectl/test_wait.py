# SPDX-License-Identifier: Apache-2.0
"""`kubectl wait`: before the end, after it, without one, and for the object to go."""

import unittest

from shared import KUBECTLS, NEW, OLD, KubectlCase, failed

MET = "sandboxrun.sandboxrun.dev/{} condition met\n"


class TestWait(KubectlCase):
    def wait(self, kubectl, name, what="condition=Finished", timeout="60s", check=False):
        return self.kubectl(kubectl, "wait", f"--for={what}", f"--timeout={timeout}",
                            f"sbr/{name}", check=check)

    def start(self, kubectl, name, what):
        """A kubectl that is known to wait."""
        return self.cluster.start_watching(kubectl, "wait", f"--for={what}", "--timeout=60s",
                                           f"sbr/{name}")

    def met(self, done, name):
        self.assertEqual((done.returncode, done.stdout), (0, MET.format(name)), done.stderr)

    def test_for_what_is_finished_it_returns_at_once(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                for name in ("hello", "exits-3", "queued"):
                    self.met(self.wait(kubectl, name), name)

    def test_from_before_the_start_to_the_end(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                name = f"awaited-by-{kubectl}"
                self.create(name, "import time; time.sleep(1)")
                self.met(self.wait(kubectl, name), name)
                self.assertEqual(self.cluster.get(name)["status"]["phase"], "Succeeded")

    def test_while_it_waits_for_a_node(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                name = f"pending-{kubectl}"
                self.play(name)
                waiting = self.start(kubectl, name, "condition=Finished")
                self.cluster.play_on(name, failed("Cancelled"))
                out, err = waiting.communicate(timeout=60)
                self.assertEqual((waiting.returncode, out), (0, MET.format(name)), err)

    def test_in_vain_it_exits_with_1(self):
        self.play("endless")
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                done = self.wait(kubectl, "endless", timeout="1s")
                self.assertEqual(done.returncode, 1)
                self.assertIn("timed out waiting for the condition on sandboxruns/endless",
                              done.stderr)

    def test_for_what_is_not_there_it_exits_with_1(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                done = self.wait(kubectl, "no-such-run", timeout="1s")
                self.assertEqual(done.returncode, 1)
                self.assertIn('"no-such-run" not found', done.stderr)

    def test_for_the_deletion(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                name = f"leaving-{kubectl}"
                self.play(name)
                waiting = self.start(kubectl, name, "delete")
                self.cluster.delete(name)
                out, err = waiting.communicate(timeout=60)
                self.assertEqual((waiting.returncode, out), (0, MET.format(name)), err)

    def test_for_the_deletion_of_what_is_gone(self):
        self.assertEqual(self.wait(NEW, "gone", "delete").returncode, 0)
        done = self.wait(OLD, "gone", "delete")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no matching resources found", done.stderr)

    def test_after_a_finished_run_was_given_another_ttl(self):
        """A new generation, which kubectl wants to see observed before it believes a condition."""
        self.create("kept-on", "print(1)", ttlSecondsAfterFinished=1800)
        self.cluster.wait_finished("kept-on")
        for ttl, kubectl in ((1900, OLD), (2000, NEW)):
            with self.subTest(kubectl=kubectl):
                self.kubectl(kubectl, "patch", "sbr", "kept-on", "--type=merge", "-p",
                             f'{{"spec":{{"ttlSecondsAfterFinished":{ttl}}}}}')
                self.met(self.wait(kubectl, "kept-on"), "kept-on")
        run = self.cluster.get("kept-on")
        self.assertEqual(run["status"]["observedGeneration"], run["metadata"]["generation"])

    def test_for_a_phase(self):
        self.create("phased", "import time; time.sleep(1)")
        for phase in ("Running", "Succeeded"):
            self.met(self.wait(NEW, "phased", f"jsonpath={{.status.phase}}={phase}"), "phased")
        self.met(self.wait(NEW, "exits-3", "jsonpath={.status.exitCode}=3"), "exits-3")

    def test_for_the_node_to_be_ready(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                done = self.kubectl(kubectl, "wait", "--for=condition=Ready", "--timeout=60s",
                                    "sbn", "--all")
                self.assertIn("sandboxnode.sandboxrun.dev/node-a condition met\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
