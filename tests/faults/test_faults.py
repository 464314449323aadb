# SPDX-License-Identifier: Apache-2.0
"""At most once, whatever dies: runs through a whole cluster whose parts are killed, stopped and cut
off at random moments."""

import unittest

from faults_suite import FaultsSuite


def load_tests(loader, tests, _pattern):
    return FaultsSuite() if not loader.testNamePatterns else tests


if __name__ == "__main__":
    unittest.main()
