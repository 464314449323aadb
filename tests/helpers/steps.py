# SPDX-License-Identifier: Apache-2.0
"""Tests that a suite makes as it goes."""

import unittest


class Step(unittest.TestCase):
    """One line of a layer's output: a function that is called with the test."""

    def __init__(self, name, function):
        super().__init__("runTest")
        self.name, self.function = name, function

    def runTest(self):
        self.function(self)

    def id(self):
        return self.name

    def __str__(self):
        return self.name
