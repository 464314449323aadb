# SPDX-License-Identifier: Apache-2.0
"""Thousands of runs of mixed programs, ended in every way, and the machine before and after."""

import unittest

from soak_suite import SoakSuite


def load_tests(loader, tests, _pattern):
    return SoakSuite() if not loader.testNamePatterns else tests


if __name__ == "__main__":
    unittest.main()
