# SPDX-License-Identifier: Apache-2.0
"""Runs files of CPython's regression tests and says what became of every test method.

The same file is the program of a SandboxRun (`spec.code`) and what a plain user outside the jail
runs. stdin holds one JSON object:

    {"resources": "cpu,subprocess", "items": [{"file": "test_os", "match": ["test.test_os.X.y"],
                                              "silenceSeconds": 45}]}

An item is a file of tests, or with `match` those methods of it. Each is a process of its own that
does what `python -m test FILE` does, with a result class that also writes a line for each event:

    {"file": FILE}                                   its process starts
    {"planned": [ID, ...]}                           these will run
    {"class": CLASS}                                 a class is set up
    {"begin": ID}                                    a method starts
    {"test": ID, "result": R, "seconds": S, "why": W}
    {"status": N, "seconds": S, "tail": T}           its process has ended

R is passed, failed, error, skipped, expected (a failure that the test expects) or unexpected. A
process in which nothing happens for `silenceSeconds` is killed. The lines reach stdout while the
tests run, so that a run that is killed has told how far it came.
"""

import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
import unittest

PROGRAM = os.path.abspath(__file__)
EVENTS = "/tmp/sandboxrun-events"
OUTPUT = "/tmp/sandboxrun-output"
NAMES = "/tmp/sandboxrun-names"
POLL_SECONDS = 0.05
TAIL_BYTES = 2000
WHY_CHARACTERS = 300


def record(event):
    # Opened for each line: no descriptor of ours is there for a test to count or close.
    with open(EVENTS, "a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(json.dumps(event) + "\n")


def recording(base):
    """A result class that writes down what the base class counts."""

    class Recorder(base):
        def startTest(self, test):
            record({"begin": test.id()})
            self.recorded_since = time.monotonic()
            super().startTest(test)

        def write(self, test, result, why=""):
            name = test.id() if hasattr(test, "id") else str(test)
            now = time.monotonic()
            seconds = round(now - getattr(self, "recorded_since", now), 3)
            record({"test": name, "result": result, "seconds": seconds,
                    "why": str(why)[:WHY_CHARACTERS]})

        def addSuccess(self, test):
            self.write(test, "passed")
            super().addSuccess(test)

        def addFailure(self, test, err):
            self.write(test, "failed", repr(err[1]))
            super().addFailure(test, err)

        def addError(self, test, err):
            self.write(test, "error", repr(err[1]))
            super().addError(test, err)

        def addSkip(self, test, reason):
            self.write(test, "skipped", reason)
            super().addSkip(test, reason)

        def addExpectedFailure(self, test, err):
            self.write(test, "expected", repr(err[1]))
            super().addExpectedFailure(test, err)

        def addUnexpectedSuccess(self, test):
            self.write(test, "unexpected")
            super().addUnexpectedSuccess(test)

        def addSubTest(self, test, subtest, err):
            if err is not None:
                self.write(test, "failed", f"{subtest.id()}: {err[1]!r}")
            super().addSubTest(test, subtest, err)

    return Recorder


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def run_one(argv):
    """`python -m test ARGV`, recorded."""
    sys.path.pop(0)  # the directory of this file
    from test.libregrtest import single, testresult

    testresult.RegressionTestResult = recording(testresult.RegressionTestResult)
    run_suite = single._run_suite
    set_up = unittest.TestSuite._handleClassSetUp

    def planned(suite):
        record({"planned": [test.id() for test in tests_of(suite)]})
        return run_suite(suite)

    def recorded_set_up(self, test, result):
        if type(test) is not getattr(result, "_previousTestClass", None):
            record({"class": f"{type(test).__module__}.{type(test).__qualname__}"})
        set_up(self, test, result)

    single._run_suite = planned
    unittest.TestSuite._handleClassSetUp = recorded_set_up
    sys.argv = ["test", *argv]
    runpy.run_module("test", run_name="__main__", alter_sys=True)


def clean():
    """Each file of tests finds the places it may write to empty."""
    for directory in ("/tmp", "/dev/shm", os.environ["HOME"]):
        for entry in os.scandir(directory):
            if entry.path == PROGRAM:
                continue
            if entry.is_dir(follow_symlinks=False):
                for path, _, _ in os.walk(entry.path):
                    os.chmod(path, 0o700)
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)


def forward(at):
    """Copies whole new lines of the events to stdout; where it has come to."""
    if not os.path.exists(EVENTS):
        return at
    with open(EVENTS, "rb") as file:
        file.seek(at)
        data = file.read()
    end = data.rfind(b"\n") + 1
    sys.stdout.buffer.write(data[:end])
    sys.stdout.flush()
    return at + end


def run_item(item, resources):
    clean()
    print(json.dumps({"file": item["file"]}), flush=True)
    argv = [sys.executable, PROGRAM, "--one", "--randseed=1", "-u", resources]
    if "match" in item:
        with open(NAMES, "w", encoding="utf-8") as file:
            # Brackets would stand for a choice of characters.
            file.writelines(name.replace("[", "[[]") + "\n" for name in item["match"])
        argv += ["--matchfile", NAMES]
    # Variables of our own launcher that a user's `python -m test` would not have.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    started = time.monotonic()
    with open(OUTPUT, "wb") as output:
        child = subprocess.Popen([*argv, item["file"]], stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=output, env=env, start_new_session=True)
    at, silent_since = 0, started
    while child.poll() is None:
        time.sleep(POLL_SECONDS)
        was, at = at, forward(at)
        if at > was:
            silent_since = time.monotonic()
        elif time.monotonic() - silent_since > item["silenceSeconds"]:
            child.kill()
    seconds = round(time.monotonic() - started, 3)
    forward(at)
    try:
        os.killpg(child.pid, signal.SIGKILL)  # what the tests have left
    except ProcessLookupError:
        pass
    with open(OUTPUT, "rb") as output:
        tail = output.read()[-TAIL_BYTES:].decode(errors="replace")
    print(json.dumps({"status": child.returncode, "seconds": seconds,
                      "tail": tail if child.returncode else ""}), flush=True)


def main():
    if sys.argv[1:2] == ["--one"]:
        run_one(sys.argv[2:])
        return
    # A shell without job control starts what is to run in the background with this ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    request = json.load(sys.stdin)
    for item in request["items"]:
        run_item(item, request["resources"])


if __name__ == "__main__":
    main()
