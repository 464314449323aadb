# SPDX-License-Identifier: Apache-2.0
"""Every attempt of the corpus, each in a sandbox, and what is outside afterwards.

Each attempt is a test; so is the outside after each family, and each entry of the sweep over the
system call numbers. An attempt's own word is never enough for a success: what can be seen from
outside is looked at there. suite.py runs them.
"""

import unittest

import corpus
from helpers.local import FULL
from suite import EscapeSuite, Tally

# As ToolCall, what may come out otherwise for its network and its longer list of calls; --full: all.
OF_THE_NETWORK = None if FULL else ("sweep", "sockets", "inheritance")


def load_tests(loader, _tests, _pattern):
    patterns, tally = loader.testNamePatterns, Tally()
    return unittest.TestSuite([
        EscapeSuite(patterns, tally=tally),
        EscapeSuite(patterns, corpus.TOOL_CALL, OF_THE_NETWORK, tally)])


if __name__ == "__main__":
    unittest.main()
