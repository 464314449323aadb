# SPDX-License-Identifier: Apache-2.0
"""Runs one layer of Python tests: layer.py LAYER [--kind=KIND,...] [PATTERN...] runs
tests/LAYER/test_*.py.

PATTERN (as in `python3 -m unittest -k`) picks tests by name. The last line of output is
`LAYER: N passed, N failed, N skipped`, which hack/test.sh reads. The exit status is 0 if nothing
failed; with CI=true only if nothing was skipped either. A layer may have a line of its own before
the last: a suite of its sets `last_words` of the result that it is run with.

A layer with a file kind_plan.py runs once for each kind of sandbox (kinds.py): all of it, or for a
kind of which the plan has a share, that. With --kind, a PATTERN or in full, all is run that makes
sense for a kind.

SANDBOXRUN_TEST_LINE is a file that all layers lock which run one after the other.
"""

import fcntl
import json
import os
import pathlib
import re
import signal
import sys
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
# Tests say `from helpers import ...`.
sys.path[0] = str(TESTS)

from helpers import kinds, selection  # noqa: E402
from helpers.local import FULL  # noqa: E402


class LayerResult(unittest.TextTestResult):
    """Counts what really ran: a class that is skipped or breaks in setUpClass counts as one.

    A test whose jailers have a pool for the kind of sandbox that it is run for must have had a run in
    one, itself or its class or module as they were set up.
    """

    def __init__(self, stream, descriptions, verbosity):
        super().__init__(stream, descriptions, verbosity)
        self.passed = 0
        self.started_at = 0.0
        self.last_words = None
        self.runs_at_end = 0       # of the last test
        self.runs_at_start = 0
        self.of_set_up = {}        # runs by the class or module that was set up with them

    def startTest(self, test):
        self.started_at = time.monotonic()
        self.runs_at_start = kinds.current.runs()
        for place in type(test), type(test).__module__:
            self.of_set_up.setdefault(place, self.runs_at_start - self.runs_at_end)
        super().startTest(test)

    def stopTest(self, test):
        self.runs_at_end = kinds.current.runs()
        super().stopTest(test)

    def shows_its_kind(self, test):
        return (not kinds.current.gives_pools or hasattr(test, "made_elsewhere")
                or kinds.current.runs() > self.runs_at_start
                or self.of_set_up[type(test)] or self.of_set_up[type(test).__module__])

    def addSuccess(self, test):
        if not self.shows_its_kind(test):
            self.addFailure(test, (AssertionError, AssertionError(
                f"no run of it got a sandbox that is {kinds.current.kind.name}: mend it, or name it "
                "among those that are left out"), None))
            return
        self.passed += 1
        self.stream.write(f"({time.monotonic() - self.started_at:.2f} s) ")
        super().addSuccess(test)

    def failed(self):
        return len(self.failures) + len(self.errors) + len(self.unexpectedSuccesses)


def wait_in_line():
    """Until the layers before this one have ended; those behind it wait until this process has."""
    if path := os.environ.pop("SANDBOXRUN_TEST_LINE", None):
        fcntl.flock(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX)


class Counts:
    """Of a layer, or of one kind of it; words is what a suite has to say."""

    def __init__(self, passed=0, failed=0, skipped=0, words=""):
        self.passed, self.failed, self.skipped, self.words = passed, failed, skipped, words

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        # The same words with other figures.
        figures = iter(re.findall(r"\d+", other.words))
        self.words = re.sub(r"\d+", lambda found: str(int(found[0]) + int(next(figures, "0"))),
                            self.words) or other.words

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def load(directory, patterns):
    loader = unittest.TestLoader()
    if patterns:
        loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in patterns]
    return loader.discover(str(directory), pattern="test_*.py", top_level_dir=str(directory))


def run(suite):
    runner = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=LayerResult)
    result = runner.run(suite)
    return Counts(result.passed, result.failed(), len(result.skipped),
                  str(result.last_words or ""))


# ---- layers that are run for several kinds

def run_as(layer, name, patterns, some):
    """The layer for one kind; some: only the plan's share of it."""
    directory = TESTS / layer
    suite = load(directory, patterns)
    plan = kinds.plan_of(directory)
    left_out, share = plan["LEFT_OUT"].get(name, {}), plan["SHARE"].get(name) if some else None
    if not patterns and (idle := selection.idle([*left_out, *(share or ())], suite)):
        print(f"{layer}: the plan for {name} names what isn't there: {', '.join(idle)}")
        return Counts(failed=1)
    suite = selection.chosen(suite, lambda test: not selection.fits(test, left_out) and (
        share is None or selection.fits(test, share)))
    with kinds.of_tests(name, own_pools=plan["OWN_POOLS"]) as tests:
        counts = run(suite)
        if broken := tests.broken():
            print(f"{layer}: between the command line and its jailer:\n{broken}")
            counts.failed += 1
        if tests.kind.is_pooled:
            print(f"{tests.runs()} runs, each in a sandbox that was {name}")
    return counts


def apart(function):
    """Calls it in a process of its own: what test modules keep is for one kind."""
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        try:
            counts = function()
            os.write(write_end, json.dumps(vars(counts)).encode())
        except KeyboardInterrupt:
            pass
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as file:
        try:
            text = file.read()
        except KeyboardInterrupt:
            os.kill(child, signal.SIGINT)
            raise
        finally:
            os.waitpid(child, 0)
    return Counts(**json.loads(text)) if text else Counts(failed=1)


def run_kinds(layer, known, wanted, patterns):
    shares = kinds.plan_of(TESTS / layer)["SHARE"]
    everything = Counts()
    for name in [name for name in wanted or known if name in known]:
        if why_not := kinds.KINDS[name].why_not():
            print(f"{layer} as {name}: {why_not}")
            # Who asks for it must get it.
            everything.failed += bool(wanted)
            continue
        some = not wanted and not FULL and not patterns and name in shares
        print(f"-- {layer} as {name}{' (some)' if some else ''}", flush=True)
        counts = apart(lambda name=name, some=some: run_as(layer, name, patterns, some))
        print(f"{layer} as {name}: {counts}")
        everything.add(counts)
    return everything


def main(argv):
    if len(argv) < 2 or argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if argv[1:] in (["-h"], ["--help"]) else 2
    layer, patterns = argv[1], [word for word in argv[2:] if not word.startswith("--kind=")]
    wanted = [name for word in argv[2:] if word.startswith("--kind=")
              for name in word.removeprefix("--kind=").split(",")]
    directory = TESTS / layer
    if not directory.is_dir():
        print(f"layer.py: there is no directory {directory}", file=sys.stderr)
        return 2
    known = kinds.plan_of(directory)["KINDS"]
    if set(wanted) - set(kinds.KINDS) or (wanted and not set(wanted) & set(known)):
        print(f"layer.py: {layer} is run for {', '.join(known) or 'no kind'}, not for "
              f"{', '.join(wanted)}", file=sys.stderr)
        return 2

    # A shell has what it starts in the background ignore it, and so would all that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # So does nohup; a handler stays with this process, and what it starts has the default.
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)

    wait_in_line()  # interrupted it ends, as a test does

    counts = run_kinds(layer, known, wanted, patterns) if known else run(
        load(directory, patterns))
    # A layer without a single test is a mistake, not a success.
    if counts.passed + counts.failed + counts.skipped == 0:
        print(f"layer.py: no test in {directory} matches", file=sys.stderr)
        counts.failed = 1
    if counts.words:
        print(counts.words)
    print(f"{layer}: {counts}", flush=True)
    if counts.failed or (counts.skipped and os.environ.get("CI") == "true"):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
