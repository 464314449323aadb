# SPDX-License-Identifier: Apache-2.0
"""The jail's tests in a virtual machine whose only cgroups are version 2, and what is particular
to that version. Each test of the machine appears here as one of this layer."""

import time
import unittest

import machine

# For the whole layer. It takes about four minutes on two processors.
HARD_TIMEOUT_S = 900

# The name of each boot: what it runs, and what its kernel is told.
BOOTS = {
    "vm": (["tests/vm/guest", "tests/jail"], ()),
    "vm-without-memory": (["tests/vm/guest/without_memory"], ("cgroup_disable=memory",)),
}

# Tests that say nothing about cgroups, or too much about time, by pattern.
LEFT_OUT = {
    "test_attacks.*": "storms beside neighbours, for a machine at full speed; guest/ has its own",
    "test_cli.*": "the command line is the same here, and its tests count on a quick machine",
    "test_inside.TestPrograms.*": "reads the programs' files, which are the same here",
    "test_examples.*_as_streams": "the same runs as those that are shown as objects",
    "test_examples.*fork_bomb*": "emulated, it takes longer than its 2 s; guest/ has bombs",
    "test_examples.*test_all_in_one_call": "the fork bomb is one of them",
}


class GuestTest(unittest.TestCase):
    """A test that ran elsewhere; it exists so that its outcome has a name."""

    def __init__(self, name):
        super().__init__("runTest")
        self.name = name

    def runTest(self):
        raise AssertionError("runs in the virtual machine only")

    def id(self):
        return self.name

    def __str__(self):
        return self.name

    def shortDescription(self):
        return None


def failure(detail):
    return (AssertionError, AssertionError(detail), None)


class MachineSuite(unittest.TestSuite):
    """Boots machines one after the other and tells their tests' outcomes as they come."""

    def __init__(self, patterns):
        super().__init__()
        self.patterns = patterns
        self.open = None

    def countTestCases(self):
        return len(BOOTS)

    def run(self, result, debug=False):
        plans = {name: {"directories": directories, "patterns": self.patterns,
                        "left_out": list(LEFT_OUT)}
                 for name, (directories, _) in BOOTS.items()}
        try:
            machine.prepare()
            with machine.Disk(plans) as disk:
                deadline = time.monotonic() + HARD_TIMEOUT_S
                for name, (_, options) in BOOTS.items():
                    self.boot(result, disk, name, options, deadline)
        except machine.Unavailable as reason:
            self.tell(result, GuestTest("vm"), "skipped", str(reason))
        except machine.MachineError as error:
            self.tell(result, GuestTest("vm"), "failed", str(error))
        return result

    def boot(self, result, disk, name, options, deadline):
        try:
            with machine.Machine(disk, name, options) as guest:
                for event in guest.events(deadline):
                    self.take(result, event)
        except machine.MachineError as error:
            test, self.open = self.open, None
            if test is None:
                self.tell(result, GuestTest(name), "failed", str(error))
            else:
                self.outcome(result, test, "failed", str(error))
                result.stopTest(test)

    def take(self, result, event):
        if event["event"] == "start":
            self.open = GuestTest(event["test"])
            result.startTest(self.open)
            return
        test, self.open = self.open, None
        if test is None:
            self.tell(result, GuestTest(event["test"]), event["outcome"], event["detail"])
        else:
            self.outcome(result, test, event["outcome"], event["detail"])
            result.stopTest(test)

    def tell(self, result, test, outcome, detail):
        result.startTest(test)
        self.outcome(result, test, outcome, detail)
        result.stopTest(test)

    def outcome(self, result, test, outcome, detail):
        if outcome == "passed":
            result.addSuccess(test)
        elif outcome == "skipped":
            result.addSkip(test, detail)
        elif outcome == "failed":
            result.addFailure(test, failure(detail))
        else:
            result.addError(test, failure(detail))


def load_tests(loader, _tests, _pattern):
    return MachineSuite(loader.testNamePatterns)


if __name__ == "__main__":
    unittest.main()
