# SPDX-License-Identifier: Apache-2.0
"""The jail's tests and the attempts to get out, in virtual machines whose only cgroups are
version 2, and what is particular to that version. Each test of a machine appears here as one of
this layer.
"""

import queue
import threading
import time
import traceback
import unittest

import machine
from helpers.local import FULL

# For the whole layer. It takes some 12 minutes of processor time: about seven minutes on two
# processors that have nothing else to do.
HARD_TIMEOUT_S = 1200

# What takes and returns a sandbox that waited is the same code for both kinds.
POOLS = [("tests/pool", kind) for kind in (("fresh", "forked") if FULL else ("forked",))]

# The name of each boot: what it runs, each in which kind of sandbox, and what its kernel is told.
BOOTS = {
    "vm": ([("tests/vm/guest", "cold")], ()),
    "vm-jail": ([("tests/jail", "cold"), *POOLS], ()),
    "vm-escape": ([("tests/escape", "cold")], ()),
    "vm-without-memory": ([("tests/vm/guest/without_memory", "cold")], ("cgroup_disable=memory",)),
}

# Tests that say nothing about cgroups or the kernel, or too much about time, by pattern.
LEFT_OUT = {
    "test_attacks.*": "storms beside neighbours, for a machine at full speed; guest/ has its own",
    "test_cli.*": "the command line is the same here, and its tests count on a quick machine",
    "test_network_slots.*": "the emulated machine's kernel has neither veth nor nftables",
    "test_doctor.*what_only_sandboxes_with_a_network_need": "the same",
    "test_capabilities.*": "one of them is for the network, which that kernel hasn't",
    "test_inside.TestPrograms.*": "reads the programs' files, which are the same here",
    "test_jailer_upgrade.*": "who of two jailers works, and what they say, is the same here",
    "test_jailer_life.*without_the_helper*": "network namespaces are the same here",
    "test_jailer_life.*one_that_is_never_started": "waits by the clock, which is the same here",
    "test_doctor.*without_a_runtime_says_so_until*": "the same",
    "test_pool.TestRunners.*": "a runtime's own runner is the same here",
    "test_same_as_python.*": "the runner is the same here",
    "test_fork.TestDraws.*": "emulated, so many take long; test_apart draws here",
    "test_fork.*_with_threads_is_none": "how a zygote starts is the same here",
    "test_fork.*_whose_module_fails_is_none": "the same",
    "test_fork.*_a_module_leaves_for_the_end_*": "the same",
    "test_examples.*big_output*": "how output is cut is the same here",
    "test_examples.*_as_streams": "the same runs as those that are shown as objects",
    "test_examples.*fork_bomb*": "emulated, it takes longer than its 2 s; guest/ has bombs",
    "test_examples.*infinite_loop*": "emulated, it may say nothing yet when its second is over",
    "test_examples.*stubborn*": "the same; deadline/ leaves daemons behind as well",
    "test_examples.*test_all_in_one_call": "the fork bomb is one of them",
    "test_corpus.*": "the attempts' files are the same here",
    "test_page.*": "the page is the same here",
    "test_verdict.*": "a decision without a kernel",
    "test_sweep.*": "the policy is the same here; the sweep itself runs",
    "* as ToolCall": "the emulated machine's kernel has neither veth nor nftables",
    "terminal/*": "what the command line shows, which is the same here",
    "cgroups/processor-time": "emulated processors are too slow for a share of one to be measured",
    "signals-at-process-1/flood-of-orphans": "emulated, it takes longer than a run may",
    "signals-at-process-1/orphan-with-the-pid-of-the-program": "the same",
}


# What an ordinary run spares the processors, and --full does: filter, descriptors, capabilities and
# namespaces refuse these, for which the version of the cgroups is nothing.
ONLY_IN_FULL = ("system-calls/*", "inheritance/*", "read-back/*", "other-processes/*", "sockets/*",
                "devices/*", "known-holes/*", "mounts/*", "namespaces/*", "privileges/*",
                "kernel-interfaces/*", "proc-and-sys/*")


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


class Boot(threading.Thread):
    """A machine's life; its events, then None."""

    def __init__(self, disk, name, deadline):
        super().__init__(name=name, daemon=True)
        self.disk, self.deadline = disk, deadline
        self.events = queue.SimpleQueue()

    def run(self):
        try:
            _, options = BOOTS[self.name]
            with machine.Machine(self.disk, self.name, options) as guest:
                for event in guest.events(self.deadline):
                    self.events.put(event)
        except machine.MachineError as error:
            self.events.put({"event": "broken", "detail": str(error)})
        except Exception:
            self.events.put({"event": "broken", "detail": traceback.format_exc()})
        self.events.put(None)


class MachineSuite(unittest.TestSuite):
    """Boots the machines side by side, since each alone leaves processors idle, and tells one after
    the other how its tests ended."""

    def __init__(self, patterns):
        super().__init__()
        self.patterns = patterns

    def countTestCases(self):
        return len(BOOTS)

    def run(self, result, debug=False):
        plans = {name: {"directories": directories, "patterns": self.patterns,
                        "left_out": [*LEFT_OUT, *(() if FULL else ONLY_IN_FULL)]}
                 for name, (directories, _) in BOOTS.items()}
        try:
            machine.prepare()
            with machine.Disk(plans) as disk:
                deadline = time.monotonic() + HARD_TIMEOUT_S
                boots = [Boot(disk, name, deadline) for name in BOOTS]
                for boot in boots:
                    boot.start()
                for boot in boots:
                    self.follow(result, boot)
                    boot.join()
        except machine.Unavailable as reason:
            self.tell(result, GuestTest("vm"), "skipped", str(reason))
        except machine.MachineError as error:
            self.tell(result, GuestTest("vm"), "failed", str(error))
        return result

    def follow(self, result, boot):
        test = None
        while event := boot.events.get():
            kind = event["event"]
            if kind == "start":
                test = GuestTest(event["test"])
                result.startTest(test)
            elif kind == "done":
                if event["words"]:
                    result.last_words = event["words"]
            elif test is None:
                # A class that couldn't be set up, or a machine between two tests.
                self.tell(result, GuestTest(event.get("test", boot.name)),
                          event.get("outcome", "failed"), event["detail"])
            else:
                self.outcome(result, test, event.get("outcome", "failed"), event["detail"])
                result.stopTest(test)
                test = None

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
