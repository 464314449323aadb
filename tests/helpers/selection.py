# SPDX-License-Identifier: Apache-2.0
"""Which tests of a suite are run: by the names of tests, and patterns of names.

A suite that knows by itself what it is made of has names() and keep(stays).
"""

import fnmatch
import unittest


def fits(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def names(suite):
    """Of all tests, as they are told apart by id()."""
    for entry in suite:
        if not isinstance(entry, unittest.TestSuite):
            yield entry.id()
        elif hasattr(entry, "names"):
            yield from entry.names()
        else:
            yield from names(entry)


def chosen(suite, stays):
    """The tests with a name for which stays(name), in order."""
    found = unittest.TestSuite()
    for entry in suite:
        if not isinstance(entry, unittest.TestSuite):
            if stays(entry.id()) or is_broken(entry):
                found.addTest(entry)
        elif hasattr(entry, "keep"):
            entry.keep(stays)
            found.addTest(entry)
        else:
            found.addTest(chosen(entry, stays))
    return found


def is_broken(test):
    """It stands for a file that can't be loaded, and fails."""
    return type(test).__module__ == "unittest.loader"


def idle(patterns, suite):
    """Those of the patterns that fit no test."""
    found = list(names(suite))
    return [pattern for pattern in patterns if not any(fits(name, [pattern]) for name in found)]
