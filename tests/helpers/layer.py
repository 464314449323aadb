# SPDX-License-Identifier: Apache-2.0
"""Runs one layer of Python tests: layer.py LAYER [PATTERN...] runs tests/LAYER/test_*.py.

PATTERN (as in `python3 -m unittest -k`) picks tests by name. The last line of output is
`LAYER: N passed, N failed, N skipped`, which hack/test.sh reads. The exit status is 0 if nothing
failed; with CI=true only if nothing was skipped either. A layer may have a line of its own before
the last: a suite of its sets `last_words` of the result that it is run with.

SANDBOXRUN_TEST_LINE is a file that all layers lock which run one after the other.
"""

import fcntl
import os
import pathlib
import signal
import sys
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent


class LayerResult(unittest.TextTestResult):
    """Counts what really ran: a class that is skipped or breaks in setUpClass counts as one."""

    def __init__(self, stream, descriptions, verbosity):
        super().__init__(stream, descriptions, verbosity)
        self.passed = 0
        self.started_at = 0.0
        self.last_words = None

    def startTest(self, test):
        self.started_at = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        self.passed += 1
        self.stream.write(f"({time.monotonic() - self.started_at:.2f} s) ")
        super().addSuccess(test)

    def failed(self):
        return len(self.failures) + len(self.errors) + len(self.unexpectedSuccesses)


def wait_in_line():
    """Until the layers before this one have ended; those behind it wait until this process has."""
    if path := os.environ.pop("SANDBOXRUN_TEST_LINE", None):
        fcntl.flock(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX)


def main(argv):
    if len(argv) < 2 or argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if argv[1:] in (["-h"], ["--help"]) else 2
    layer, patterns = argv[1], argv[2:]
    directory = TESTS / layer
    if not directory.is_dir():
        print(f"layer.py: there is no directory {directory}", file=sys.stderr)
        return 2

    # A shell has what it starts in the background ignore it, and so would all that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # So does nohup; a handler stays with this process, and what it starts has the default.
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)

    wait_in_line()  # interrupted it ends, as a test does

    # Tests say `from helpers import ...`.
    sys.path[0] = str(TESTS)
    loader = unittest.TestLoader()
    if patterns:
        loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in patterns]
    suite = loader.discover(str(directory), pattern="test_*.py", top_level_dir=str(directory))
    runner = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=LayerResult)
    result = runner.run(suite)

    failed, skipped = result.failed(), len(result.skipped)
    # A layer without a single test is a mistake, not a success.
    if result.passed + failed + skipped == 0:
        print(f"layer.py: no test in {directory} matches", file=sys.stderr)
        failed = 1
    if result.last_words:
        print(result.last_words)
    print(f"{layer}: {result.passed} passed, {failed} failed, {skipped} skipped", flush=True)
    if failed or (skipped and os.environ.get("CI") == "true"):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
