# SPDX-License-Identifier: Apache-2.0
"""Runs the files of tests on both sides and reports; see run.sh, which prepares the runtime."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

import compare
import plan
import sides

HERE = pathlib.Path(__file__).resolve().parent
# What differences.txt is about.
VERSION = "3.12"
# What may cost time and processes is run; what needs a network, a screen, sound or gigabytes isn't.
RESOURCES = "cpu,subprocess,walltime"
# A test that depends on the machine's load may fail on either side. One that passes once can pass.
RETRIES = 3
MAX_RETRIED = 400
WAITING_JOBS = 6

LIST = """
import json
from test.libregrtest.findtests import SPLITTESTDIRS, findtests
found = findtests()
packages = {name.split(".")[1] for name in found if name.startswith("test.")} | set(found)
print(json.dumps([found, sorted(SPLITTESTDIRS - packages)]))
"""


class NoTests(Exception):
    """This machine's Python has no tests to run, or others than the table is about."""


class Results:
    """What one side has told, over all its processes."""

    def __init__(self):
        self.tests = {}  # name -> (result, seconds, why)
        self.where = {}  # name -> (file, id)
        self.ids = collections.defaultdict(dict)  # file -> {id: seconds}
        self.seconds = collections.defaultdict(float)  # file -> over all its processes
        self.tails = {}  # file -> end of the output of a process that ended badly

    def add(self, outcomes, end, lost):
        for outcome in outcomes:
            if outcome.running is None:
                self.seconds[outcome.file] += outcome.seconds
            else:  # waited for in vain
                self.seconds[outcome.file] += sum(told[1] for told in outcome.tests.values())
            if outcome.tail:
                self.tails[outcome.file] = outcome.tail
            for test in filter(plan.is_test, outcome.planned):
                self.ids[outcome.file].setdefault(test, 0)
            for test, told in outcome.tests.items():
                self.add_test(outcome.file, test, told)
        for item, test in lost:
            how = "its process died or hung" if end == "Completed" else end
            if test is None:
                self.tails[item["file"]] = how
            else:
                self.add_test(item["file"], test, ("no end", 0, how))

    def add_test(self, file, test, told):
        name = compare.key(file, test)
        # A test that has passed once can pass.
        if name not in self.tests or self.tests[name][0] not in compare.PASSED:
            self.tests[name] = told
        self.where[name] = (file, test)
        self.ids[file][test] = told[1]


def say(text):
    print(f"run.sh: {text}", file=sys.stderr, flush=True)


def list_files():
    """(files of tests, packages that this Python's own list names and that aren't there)"""
    done = subprocess.run(["chroot", "--userspec=65532:65532", sides.RUNTIME, "/usr/bin/python3",
                           "-I", "-B", "-c", LIST], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        cause = done.stderr.strip().rpartition("\n")[2]
        raise NoTests("this Python came without its regression tests (Debian: apt-get install "
                      f"libpython{VERSION}-testsuite): {cause}")
    return json.loads(done.stdout)


def chosen(options, known):
    """The files of tests that the options ask for."""
    if options.files or options.full:
        return options.files or known
    lines = (HERE / "subset.txt").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return [file for file, *marks in words if not options.fast or "fast" in marks]


def run_chunks(side, chunks, results, jobs):
    """Runs chunks on a side, some at the same time, and what must be run again of them."""

    def one(chunk):
        outcomes, end = side(chunk, RESOURCES)
        return outcomes, end, *plan.follow_up(chunk, outcomes, end)

    # What has hung once will mostly wait, and needs no CPU for that.
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool, \
            concurrent.futures.ThreadPoolExecutor(WAITING_JOBS * jobs) as patient:
        waiting = {pool.submit(one, chunk) for chunk in chunks}
        while waiting:
            ready, waiting = concurrent.futures.wait(
                waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in ready:
                outcomes, end, again, lost = future.result()
                results.add(outcomes, end, lost)
                waiting |= {patient.submit(one, chunk) for chunk in again}


def doubtful(inside, outside, table, files):
    """Names whose outcome does not agree with the table."""
    found = compare.differences(inside.tests, outside.tests)
    _, unexplained, stale = compare.judge(found, table, files)
    names = set(unexplained)
    for name in inside.tests.keys() | outside.tests.keys():
        if any(compare.covers(entry, name) for entry in stale):
            names.add(name)
    return sorted(names)


def retry(names, inside, outside, jobs):
    by_file = collections.defaultdict(list)
    for name in names:
        file, test = (outside.where.get(name) or inside.where[name])
        if plan.is_test(test):
            by_file[file].append(test)
    items = [plan.make_item(file, match=tests) for file, tests in by_file.items()]
    run_chunks(sides.outside, [[item] for item in items], outside, jobs)
    timed = [(item, plan.START_SECONDS + sum(outside.ids[item["file"]].get(test, 0)
                                             for test in item["match"])) for item in items]
    run_chunks(sides.inside, plan.chunks(timed), inside, jobs)


def run_both(files, table, jobs):
    inside, outside, seconds = Results(), Results(), {}
    started = time.monotonic()
    say(f"{len(files)} files of tests outside the sandbox")
    run_chunks(sides.outside, [[plan.make_item(file)] for file in files], outside, jobs)
    seconds["outside"] = time.monotonic() - started
    say("and inside")
    started = time.monotonic()
    items = []
    for file in files:
        items += plan.items_of_file(file, list(outside.ids[file].items()), outside.seconds[file])
    run_chunks(sides.inside, plan.chunks(items), inside, jobs)
    seconds["inside"] = time.monotonic() - started
    started = time.monotonic()
    retried = 0
    for attempt in range(RETRIES):
        names = doubtful(inside, outside, table, files)
        if not names or len(names) > MAX_RETRIED:
            break
        say(f"again, since the table knows nothing of it: {len(names)} tests")
        retried = max(retried, len(names))
        # The later ones with the machine to itself.
        retry(names, inside, outside, jobs if attempt == 0 else 1)
    seconds["again"] = time.monotonic() - started
    return inside, outside, seconds, retried


def outcome_of(results, name):
    """Result and cause on one side, in a few words."""
    if name in results.tests:
        result, _, why = results.tests[name]
        return f"{result} ({why})" if why else result
    for file, tail in results.tails.items():
        if compare.covers(file, name):
            return f"not run ({tail.splitlines()[-1]})"
    return "not run"


def report(version, files, missing, runs, table):
    inside, outside, seconds, retried = runs
    found = compare.differences(inside.tests, outside.tests)
    explained, unexplained, stale = compare.judge(found, table, files)
    ran = {results.where[name][0] for results in (inside, outside) for name in results.tests}
    return {
        "python": version,
        "files": len(files),
        "missingPackages": missing,
        "filesWithoutTests": sorted(set(files) - ran),
        "resources": RESOURCES,
        "passedInside": len(compare.passing(inside.tests)),
        "passedOutside": len(compare.passing(outside.tests)),
        "differences": [
            {"test": name, "passes": found[name], "inside": outcome_of(inside, name),
             "outside": outcome_of(outside, name), "reason": explained.get(name)}
            for name in found],
        "withoutReason": unexplained,
        "reasonsWithoutDifference": stale,
        "runAgain": retried,
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
    }


def show(result):
    print(f"CPython {result['python']}: {result['files']} files of tests, "
          f"resources {result['resources']}")
    if result["missingPackages"]:
        print("not in this Python's test package: " + ", ".join(result["missingPackages"]))
    if result["filesWithoutTests"]:
        print("skipped or broken as a whole on both sides: "
              + ", ".join(result["filesWithoutTests"]))
    by_reason = collections.defaultdict(list)
    for difference in result["differences"]:
        by_reason[difference["reason"]].append(difference)
    for reason, differences in sorted(by_reason.items(), key=lambda pair: (pair[0] is None,
                                                                           pair[0] or "")):
        print(f"\n{reason or 'WITHOUT A REASON in tests/cpython/differences.txt'}: "
              f"{len(differences)}")
        for difference in differences:
            print(f"  {difference['test']}")
            if reason is None:
                print(f"      inside: {difference['inside']}\n"
                      f"      outside: {difference['outside']}")
    if result["reasonsWithoutDifference"]:
        print("\nREASONS WITHOUT A DIFFERENCE in tests/cpython/differences.txt:")
        for entry in result["reasonsWithoutDifference"]:
            print(f"  {entry}")
    seconds = result["seconds"]
    print(f"\ntook {sum(seconds.values()):.0f} s (outside {seconds['outside']:.0f}, inside "
          f"{seconds['inside']:.0f}, {result['runAgain']} tests again {seconds['again']:.0f})")
    print(f"passed inside: {result['passedInside']}")
    print(f"passed outside: {result['passedOutside']}")
    print(f"differences: {len(result['differences'])}, of them without a reason: "
          f"{len(result['withoutReason'])}; reasons without a difference: "
          f"{len(result['reasonsWithoutDifference'])}")


def main(argv):
    parser = argparse.ArgumentParser(prog="run.sh", add_help=False, allow_abbrev=False)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--full", action="store_true")
    which.add_argument("--fast", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args(argv)
    if options.files and (options.full or options.fast):
        parser.error("files of tests go with neither --fast nor --full")
    table = compare.parse_table((HERE / "differences.txt").read_text(encoding="utf-8"))
    version = (sides.RUNTIME / "usr/lib/sandboxrun/version").read_text(encoding="utf-8").strip()
    if not version.startswith(f"{VERSION}."):
        raise NoTests(f"the table of differences is about Python {VERSION}, and the runtime that "
                      f"this machine gives has {version}")
    known, missing = list_files()
    files = chosen(options, known)
    if unknown := sorted(set(files) - set(known)):
        say(f"this Python has no such files of tests: {', '.join(unknown)}")
        return 3
    runs = run_both(files, table, os.cpu_count())
    result = report(version, files, missing, runs, table)
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        show(result)
    return 1 if result["withoutReason"] or result["reasonsWithoutDifference"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except NoTests as error:
        say(error)
        sys.exit(3)
