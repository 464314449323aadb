# SPDX-License-Identifier: Apache-2.0
"""Every attempt of the corpus, each in a sandbox, and what is outside afterwards.

Each attempt is a test; so is the outside after each family, and each entry of the sweep over the
system call numbers. An attempt's own word is never enough for a success: what can be seen from
outside is looked at there. suite.py runs them.
"""

import unittest

from suite import EscapeSuite


def load_tests(loader, _tests, _pattern):
    return EscapeSuite(loader.testNamePatterns)


if __name__ == "__main__":
    unittest.main()
