# SPDX-License-Identifier: Apache-2.0
"""The judge, on what a run could have been, and what it judges by."""

import unittest

import corpus
import runs
import verdict
from suite import beyond_limits
from verdict import REFUSED, THROUGH, UNCLEAR


class TestVerdict(unittest.TestCase):
    ATTEMPT = ("# SPDX-License-Identifier: Apache-2.0\n# family: x\n# tries: a\n# matters: b\n"
               "# expect: EPERM, no effect, OOMKilled\n")

    def judged(self, stdout, reason="Completed", secrets=()):
        attempt = corpus.Attempt("/x/y.py", self.ATTEMPT)
        return verdict.judge(attempt, {"reason": reason, "stdout": stdout, "message": ""}, secrets)

    def test_table(self):
        for stdout, reason, kind in (
                ("REFUSED EPERM\n", "Completed", REFUSED),
                ("REFUSED EPERM, no effect\n", "Completed", REFUSED),
                ("REFUSED ENOSYS\n", "Completed", UNCLEAR),
                ("REFUSED EPERM, ENOSYS\n", "Completed", UNCLEAR),
                ("THROUGH it\n", "Completed", THROUGH),
                ("REFUSED EPERM\nTHROUGH it\n", "Completed", THROUGH),
                ("THROUGH it\n", "OOMKilled", THROUGH),
                ("", "Completed", UNCLEAR),
                ("REFUSED EPERM\n", "Error", UNCLEAR),
                ("", "Error", UNCLEAR),
                ("", "OOMKilled", REFUSED),
                ("", "DeadlineExceeded", UNCLEAR),
                ("", "SandboxSetupFailed", UNCLEAR)):
            with self.subTest(stdout=stdout, reason=reason):
                self.assertEqual(self.judged(stdout, reason).kind, kind)

    def test_a_secret_is_through_whatever_is_said(self):
        self.assertEqual(self.judged("abc\nREFUSED EPERM\n", secrets=["abc"]).kind, THROUGH)

    def test_limits(self):
        for usage, through in (({"peakMemoryBytes": 64 << 20}, False),
                               ({"peakMemoryBytes": (64 << 20) + 1}, True),
                               ({"cpuMilliseconds": 700, "wallMilliseconds": 1000}, False),
                               ({"cpuMilliseconds": 1000, "wallMilliseconds": 1000}, True)):
            found = beyond_limits({"memory": "64Mi", "cpu": "500m"}, {"usage": usage})
            self.assertEqual(bool(found), through, usage)
        # A second of its own, and another one in which it died.
        for spent, through in (1900, False), (2200, True):
            found = beyond_limits({"cpu": "500m"}, {
                "usage": {"cpuMilliseconds": spent, "wallMilliseconds": 2000},
                "effective": {"timeoutSeconds": 1}})
            self.assertEqual(bool(found), through, spent)

    def test_a_head_with_a_mistake_is_an_error(self):
        for bad in ("# expcet: EPERM", "# expect: eperm", "# host: moon", "# needs: sparc",
                    "#expect: EPERM", "# expect:", "# tries: twice"):
            text = self.ATTEMPT + bad + "\n"
            with self.subTest(bad=bad), self.assertRaises(corpus.CorpusError):
                corpus.Attempt("/x/y.py", text)

    def test_control_bytes(self):
        for shown, found in ((b"text\r\n\t\xc3\xa9", []), (b"\x1b[2J", ["U+001B"]),
                             (b"\xc2\x9b", ["U+009B"]), (b"\x9b", ["U+DC9B"]),
                             (b"\x7f\x00", ["U+0000", "U+007F"])):
            self.assertEqual(runs.control_bytes(shown), found)


if __name__ == "__main__":
    unittest.main()
