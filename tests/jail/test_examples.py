# SPDX-License-Identifier: Apache-2.0
"""Every file of examples/ on this machine, with each kind of output, held to its own head."""

import glob
import json
import os
import subprocess
import unittest

from helpers import expectations
from helpers.leftovers import Watch
from helpers.local import ROOT, RUNTIMES, document, need_root, program, sandboxrun

EXAMPLES = sorted(glob.glob(os.path.join(ROOT, "examples", "*.yaml")))


def setUpModule():
    need_root()


class TestExamples(unittest.TestCase):
    """One test per example and kind of output; they are made below."""

    def as_object(self, path):
        expected = expectations.load(path)
        with Watch(self):
            done = sandboxrun("run", "--runtimes-dir", RUNTIMES, "-o", "json", path)
        self.assertTrue(done.stdout, done.stderr)
        found = json.loads(done.stdout)
        status = found["status"]
        end = expected.check(self, status)
        expected.check_cli_exit(self, done.returncode, end)
        self.assertEqual(done.stderr, "")
        self.assertEqual(status["phase"] == "Succeeded", status["exitCode"] == 0)
        self.assertLessEqual(len(done.stdout.encode()), 1_310_720)
        finished = [c for c in status["conditions"] if c["type"] == "Finished"]
        self.assertEqual([(c["status"], c["reason"]) for c in finished],
                         [("True", status["reason"])])

    def as_streams(self, path):
        expected = expectations.load(path)
        with Watch(self):
            done = subprocess.run([program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES,
                                   "--quiet", path], capture_output=True, timeout=120)
        streams = {"stdout": done.stdout.decode(errors="replace"),
                   "stderr": done.stderr.decode(errors="replace")}
        problems = []
        for end in expected.ends:
            found = [f"exit status {done.returncode}, not {end.cli_exit}"
                     for _ in range(done.returncode != end.cli_exit)]
            found += [f"{name} has no /{pattern.pattern}/" for name, pattern in end.patterns
                      if name in streams and not pattern.search(streams[name])]
            if not found:
                return
            problems.append("; ".join(found))
        self.fail(f"{path}: {' or '.join(problems)}\n{streams['stderr'][-600:]}")


def add_tests():
    for path in EXAMPLES:
        name = os.path.basename(path)[:-len(".yaml")].replace("-", "_")
        for kind in ("as_object", "as_streams"):
            def test(self, path=path, kind=kind):
                getattr(self, kind)(path)
            setattr(TestExamples, f"test_{name}_{kind}", test)


add_tests()


class TestTogether(unittest.TestCase):
    def test_there_are_examples(self):
        self.assertGreaterEqual(len(EXAMPLES), 13)

    def test_all_in_one_call(self):
        """Many documents of one call don't disturb each other, and come back in their order."""
        with Watch(self):
            done = sandboxrun("run", "--runtimes-dir", RUNTIMES, "-o", "json", "--parallel", "4",
                              *EXAMPLES)
        items = json.loads(done.stdout)["items"]
        self.assertEqual(len(items), len(EXAMPLES))
        for path, item in zip(EXAMPLES, items):
            expectations.load(path).check(self, item["status"])
        ids = {item["status"]["sandboxID"] for item in items}
        self.assertEqual(len(ids), len(items))

    def test_a_neighbour_of_a_memory_hog_is_unharmed(self):
        hog = "held = []\nwhile True:\n    held.append(b'x' * (4 << 20))\n"
        neighbour = ("import time\nheld = b'y' * (64 << 20)\n"
                     "for _ in range(20):\n    time.sleep(0.05)\nprint(sum(held) // 121)\n")
        limits = {"limits": {"memory": "128Mi"}}
        docs = [document(neighbour, "neighbour", resources=limits),
                document(hog, "hog", resources=limits)]
        done = sandboxrun("run", "--runtimes-dir", RUNTIMES, "-o", "json", "--parallel", "2", "-",
                          input="\n---\n".join(map(json.dumps, docs)))
        first, second = (item["status"] for item in json.loads(done.stdout)["items"])
        self.assertEqual((second["reason"], second["exitCode"]), ("OOMKilled", 137))
        self.assertEqual((first["reason"], first["stdout"]), ("Completed", f"{64 << 20}\n"))
        self.assertEqual(done.returncode, 137)


if __name__ == "__main__":
    unittest.main()
