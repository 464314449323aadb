# SPDX-License-Identifier: Apache-2.0
"""The policy as sweep.py works it out, against the compiler's own table."""

import os
import subprocess
import unittest

import sweep
from helpers.local import program


class TestSweep(unittest.TestCase):
    def test_the_names_that_are_allowed_are_the_compilers(self):
        for profile in sweep.POLICIES:
            with self.subTest(profile):
                self.check_names(profile)

    def check_names(self, profile):
        policy = sweep.Policy(profile)
        mine = {name for name, rules in policy.rules.items()
                if any(rule["action"] == "SCMP_ACT_ALLOW" for rule in rules)}
        lines = subprocess.run(
            [program("sandboxrun-seccomp"), "explain",
             sweep.POLICIES[profile]], capture_output=True, text=True,
            check=True).stdout.splitlines()
        theirs = {line.split()[0] for line in lines if len(line.split()) > 1
                  and line.split()[1] == "allow"}
        self.assertEqual(mine & set(self.names()), theirs & set(self.names()))
        self.assertGreater(len(theirs), 100)

    @staticmethod
    def names():
        return sweep.table("x86_64" if os.uname().machine == "x86_64" else "aarch64").values()

    def test_a_wrong_outcome_is_seen(self):
        def call(wanted):
            return sweep.Call("x86-64", 1, "write", [0] * 6, wanted)
        for wanted, got, fine in (("kill", "SIGSYS", True), ("kill", -1, False), ("kill", 0, False),
                                  ("allow", -9, True), ("allow", 5, True), ("allow", -1, False),
                                  ("allow", -38, False), ("allow", "SIGSYS", False),
                                  ("allow", "blocked", True), ("allow", "ended", True),
                                  (38, -38, True), (38, -1, False), (38, -14, False), (1, -1, True),
                                  (1, 0, False), (0, 0, True), (0, -9, False)):
            self.assertEqual(call(wanted).fails(got) is None, fine, (wanted, got))

    @unittest.skipUnless(os.geteuid() == 0, "needs root to be nobody")
    def test_a_call_of_a_newer_kernel_is_told_from_a_refusal(self):
        def call(number, wanted="allow"):
            return sweep.Call("", number, None, [sweep.ALL_ONES] * 6, wanted)
        known = next(number for number, name in sweep.table(
            "x86_64" if os.uname().machine == "x86_64" else "aarch64").items() if name == "fstat")
        unknown = sweep.BEYOND[-1]
        self.assertTrue(call(unknown).is_unknown(-38))
        self.assertFalse(call(known).is_unknown(-38))
        self.assertFalse(call(unknown).is_unknown(-1))
        self.assertFalse(call(unknown, wanted=38).is_unknown(-38))


if __name__ == "__main__":
    unittest.main()
