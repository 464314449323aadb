# SPDX-License-Identifier: Apache-2.0
"""Runs tests inside the virtual machine and reports each on descriptor 3, one JSON line an event.

    {"event": "start", "test": ID}
    {"event": "end", "test": ID, "outcome": "passed|failed|error|skipped", "detail": TEXT}
    {"event": "done", "words": TEXT}

words is what a suite has to say at the end (see tests/helpers/layer.py), or empty.

report.py PLANS NAME takes the plan of that name from a JSON file: {NAME: {"directories":
[[DIRECTORY, KIND], ...], "patterns": [...] or null, "left_out": [...]}, ...}. KIND is that of the
sandboxes (tests/helpers/kinds.py). A class whose set-up fails or is skipped ends without having
started.
"""

import json
import os
import sys
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
REPORT_FD = 3
MAX_DETAIL = 12000


def report(**event):
    if len(event.get("detail", "")) > MAX_DETAIL:
        half = MAX_DETAIL // 2
        event["detail"] = event["detail"][:half] + "\n[...]\n" + event["detail"][-half:]
    line = (json.dumps(event) + "\n").encode()
    while line:
        line = line[os.write(REPORT_FD, line):]


class Reporter(unittest.TestResult):
    """A test may fail in several subtests: they are told together, at its end. kind is that of the
    sandboxes which tests are run for, where they may be run for several."""

    def __init__(self):
        super().__init__()
        self.kind = None
        self.open = None
        self.found = []
        self.last_words = ""

    def name(self, test):
        return test.id() + (f" as {self.kind}" if self.kind else "")

    def startTest(self, test):
        super().startTest(test)
        self.open, self.found = test, []
        report(event="start", test=self.name(test))

    def stopTest(self, test):
        super().stopTest(test)
        outcome, detail = "passed", ""
        for wanted in ("skipped", "failed", "error"):
            details = [text for kind, text in self.found if kind == wanted]
            if details:
                outcome, detail = wanted, "\n".join(details)
        self.open = None
        report(event="end", test=self.name(test), outcome=outcome, detail=detail)

    def note(self, test, kind, detail):
        if self.open is not None:
            self.found.append((kind, detail))
        else:
            report(event="end", test=self.name(test), outcome=kind, detail=detail)

    def addError(self, test, err):
        self.note(test, "error", self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        self.note(test, "failed", self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        if err is not None:
            kind = "failed" if issubclass(err[0], test.failureException) else "error"
            self.note(test, kind, f"{subtest}\n{self._exc_info_to_string(err, test)}")

    def addSkip(self, test, reason):
        self.note(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        pass

    def addUnexpectedSuccess(self, test):
        self.note(test, "failed", "succeeded against expectation")


def main(argv):
    with open(argv[1], encoding="utf-8") as file:
        plan = json.load(file)[argv[2]]
    # As tests/helpers/layer.py has it: tests say `from helpers import ...`.
    sys.path[0] = os.path.join(SOURCE, "tests")
    from helpers import kinds, selection
    reporter = Reporter()
    for directory, kind in plan["directories"]:
        path = os.path.join(SOURCE, directory)
        loader = unittest.TestLoader()
        loader.testNamePatterns = plan["patterns"]
        found = loader.discover(path, pattern="test_*.py", top_level_dir=path)
        of_kinds = kinds.plan_of(path)
        left_out = {*plan["left_out"], *of_kinds["LEFT_OUT"].get(kind, ())}
        reporter.kind = kind if of_kinds["OWN_POOLS"] else None
        with kinds.of_tests(kind, of_kinds["OWN_POOLS"]):
            selection.chosen(found, lambda name, out=left_out: not selection.fits(name, out)).run(
                reporter)
    report(event="done", words=reporter.last_words)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
