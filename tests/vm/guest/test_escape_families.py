# SPDX-License-Identifier: Apache-2.0
"""The attempts of tests/escape that meet something else on a host with cgroup v2 alone."""

import os
import sys
import unittest

from helpers.local import ROOT

sys.path.append(os.path.join(ROOT, "tests/escape"))

import corpus  # noqa: E402
from outside import Outside  # noqa: E402
from suite import Family  # noqa: E402
from verdict import REFUSED  # noqa: E402

FAMILIES = ("cgroups", "core-dumps", "limits-of-process-1")
# Emulated processors are too slow for a share of one to be measured.
LEFT_OUT = {"cgroups/processor-time"}


class TestFamilies(unittest.TestCase):
    def check(self, name):
        attempts = [attempt for attempt in corpus.load_family(name) if attempt.id not in LEFT_OUT]
        with Outside() as outside:
            family = Family(outside, attempts)
            self.assertEqual(family.run(), [], "changed outside")
        for attempt in attempts:
            outcome = family.outcomes[attempt.id]
            with self.subTest(attempt=attempt.id):
                self.assertEqual(outcome.kind, REFUSED, f"{outcome.met}\n{outcome.detail}")


def add_tests():
    for name in FAMILIES:
        def test(self, name=name):
            self.check(name)
        setattr(TestFamilies, "test_" + name.replace("-", "_"), test)


add_tests()

if __name__ == "__main__":
    unittest.main()
