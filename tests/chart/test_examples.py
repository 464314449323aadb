# SPDX-License-Identifier: Apache-2.0
"""The examples are taken by the API server and say how they end; and how that is read."""

import glob
import os
import shutil
import tempfile
import time
import unittest

from helpers import expectations
from helpers.controlplane import ROOT, ControlPlane
from helpers.manifests import MANIFESTS, install_crds, parse

TOOLCALL = sorted(glob.glob(os.path.join(ROOT, "examples/toolcall/*.yaml")))
EXAMPLES = sorted(glob.glob(os.path.join(ROOT, "examples/*.yaml")))

GOOD = """\
# A comment.
# expect: phase=Failed reason=Error exitCode=1 usage.wallMilliseconds>=10 stdoutTruncated=false
# expect: stdoutBytes<=5
# expect-stdout: \\Aab$
# expect-stderr: two
# expect-cli-exit: 1
# or:
# expect: phase=Succeeded reason=Completed exitCode=0
# expect-cli-exit: 0
kind: SandboxRun
# expect: this is behind the head
"""
STATUS = {"phase": "Failed", "reason": "Error", "exitCode": 1, "stdout": "ab\nc", "stdoutBytes": 4,
          "stderr": "one\ntwo\n", "stdoutTruncated": False, "usage": {"wallMilliseconds": 10}}
BAD = [
    ("", "needs phase"),
    ("# expect: phase=Failed reason=Error exitCode=1", "expect-cli-exit"),
    ("# expect: phase=Failed exitCode=1\n# expect-cli-exit: 1", "needs phase"),
    ("# expect: phase", "FIELD=VALUE"),
    ("# expect: phase==Failed x", "FIELD=VALUE"),
    ("# expect-stdin: x", "unknown"),
    ("# expect-cli-exit: one", "unknown"),
    ("# expect-stdout: (", "regular expression"),
    ("# expects: phase=Failed", "nearly"),
    ("# Expect: phase=Failed", "nearly"),
    ("# expect phase=Failed", "nearly"),
    ("# or:\n", "needs phase"),
]


class TestExpectations(unittest.TestCase):
    def test_good(self):
        expected = expectations.parse(GOOD)
        self.assertEqual(expected.check(self, STATUS), 0)
        self.assertEqual(expected.check(self, {"phase": "Succeeded", "reason": "Completed",
                                               "exitCode": 0}), 1)
        expected.check_cli_exit(self, 1)
        expected.check_cli_exit(self, 0, end=1)
        with self.assertRaises(self.failureException):
            expected.check_cli_exit(self, 2)

    def test_every_difference_fails(self):
        expected = expectations.parse(GOOD)
        for change in ({"phase": "Succeeded"}, {"reason": "Signaled"}, {"exitCode": 2},
                       {"exitCode": True}, {"exitCode": "1"}, {"stdout": "xab"}, {"stderr": ""},
                       {"stdoutBytes": 6}, {"stdoutBytes": None}, {"stdoutTruncated": True},
                       {"usage": {"wallMilliseconds": 9}}, {"usage": None}):
            with self.subTest(change), self.assertRaises(self.failureException):
                expected.check(self, {**STATUS, **change})
        for field in STATUS:
            if field == "stdoutTruncated":
                continue
            with self.subTest(without=field), self.assertRaises(self.failureException):
                expected.check(self, {k: v for k, v in STATUS.items() if k != field})

    def test_false_may_be_absent(self):
        status = {k: v for k, v in STATUS.items() if k != "stdoutTruncated"}
        self.assertEqual(expectations.parse(GOOD).check(self, status), 0)

    def test_what_can_not_be_read_is_an_error(self):
        for text, words in BAD:
            with self.subTest(text), self.assertRaises(expectations.ExpectationError) as caught:
                expectations.parse(text)
            self.assertIn(words, str(caught.exception))


class TestExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="sandboxrun-examples-")
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.plane = ControlPlane(cls.dir, controllers=False)
        cls.plane.start()
        cls.addClassCleanup(cls.plane.stop)
        install_crds(cls.plane)

    def test_there_are_examples(self):
        self.assertGreaterEqual(len(EXAMPLES), 13)

    def test_every_example_is_accepted_as_it_is(self):
        for path in EXAMPLES:
            with self.subTest(os.path.basename(path)):
                self.plane.kubectl("create", "--dry-run=server", "--validate=strict", "-f", path)

    def test_every_example_says_how_it_ends(self):
        for path in EXAMPLES:
            with self.subTest(os.path.basename(path)):
                expectations.load(path)

    def test_every_example_is_named_after_its_file_and_short(self):
        for path in EXAMPLES:
            with self.subTest(os.path.basename(path)), open(path, encoding="utf-8") as file:
                documents = parse(file.read())
                self.assertEqual([d["metadata"]["name"] for d in documents],
                                 [os.path.basename(path).removesuffix(".yaml")])
                for document in documents:
                    self.assertLessEqual(document["spec"].get("timeoutSeconds", 20), 30)
                    compile(document["spec"]["code"], path, "exec")

    def test_the_toolcall_examples_are_accepted_in_their_namespace(self):
        self.assertEqual([os.path.basename(path) for path in TOOLCALL],
                         ["fetch.yaml", "namespace.yaml", "refused.yaml"])
        self.plane.kubectl("apply", "-f", os.path.join(MANIFESTS, "admission"))
        end = time.monotonic() + 30
        while self.create("fetch.yaml", "default").returncode == 0:
            self.assertLess(time.monotonic(), end, "the admission policies are not in force")
            time.sleep(0.1)
        self.plane.kubectl("apply", "-f", os.path.join(ROOT, "examples/toolcall/namespace.yaml"))
        for name in ("fetch.yaml", "refused.yaml"):
            with self.subTest(name):
                done = self.create(name, "toolcall-example")
                self.assertEqual(done.returncode, 0, done.stderr)
                expectations.load(os.path.join(ROOT, "examples/toolcall", name))

    def create(self, name, namespace):
        """A dry run of an example of ToolCall, in this namespace and not its own."""
        with open(os.path.join(ROOT, "examples/toolcall", name), encoding="utf-8") as file:
            text = file.read().replace("namespace: toolcall-example\n", f"namespace: {namespace}\n")
        return self.plane.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-",
                                  input=text, check=False)

    def test_the_readme_lists_every_example(self):
        with open(os.path.join(ROOT, "examples/README.md"), encoding="utf-8") as file:
            text = file.read()
        for path in EXAMPLES:
            self.assertIn(f"| `{os.path.basename(path)}` |", text)
        for path in TOOLCALL:
            self.assertIn(f"| `toolcall/{os.path.basename(path)}` |", text)


if __name__ == "__main__":
    unittest.main()
