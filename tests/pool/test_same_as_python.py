# SPDX-License-Identifier: Apache-2.0
"""Every program of the runner's table in a sandbox that has waited, against `python3 main.py` with
the same interpreter, in a sandbox that was made for that: output and exit status are the same, byte
for byte."""

import base64
import json
import os
import sys
import unittest

from helpers.cgroup_tree import parent_is_gone, sandboxes_below
from helpers.local import ROOT, need_root
from warm import PARENT, gated_jailer, new_jailer

sys.path.append(os.path.join(ROOT, "tests/runtime"))

from test_runner import CASES  # noqa: E402

# Runs inside, once for some of the programs: each in an empty home.
PLAIN = """
import base64, json, os, shutil, subprocess, sys, tempfile
def empty(place):
    for name in os.listdir(place):
        path = os.path.join(place, name)
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
given = os.environb
found = []
for code, args, env, stdin in json.loads(sys.stdin.read()):
    code, *args = (base64.b64decode(text) for text in (code, *args))
    for place in (os.getcwd(), "/tmp", "/dev/shm"):
        empty(place)
    with open("main.py", "wb") as file:
        file.write(code)
    with tempfile.TemporaryFile(dir="/tmp") as file:
        file.write(base64.b64decode(stdin or ""))
        file.seek(0)
        done = subprocess.run(
            ["python3", "-E", "-s", "-u", "-B", os.path.join(os.getcwd(), "main.py"), *args],
            env={**given, **{base64.b64decode(n): base64.b64decode(v) for n, v in env}},
            stdin=subprocess.DEVNULL if stdin is None else file, capture_output=True)
    found.append([done.returncode, *(base64.b64encode(text).decode()
                                     for text in (done.stdout, done.stderr))])
print(json.dumps(found))
"""
AT_A_TIME = 40


def setUpModule():
    need_root()


def tearDownModule():
    assert parent_is_gone(PARENT), sandboxes_below(PARENT)


def text(data):
    return base64.b64encode(data).decode()


def plain(jailer, cases):
    """(exit status, stdout, stderr) of each by itself."""
    described = [[text(case.code), list(map(text, case.args)),
                  [[text(name), text(value)] for name, value in case.env],
                  None if case.stdin is None else text(case.stdin)] for case in cases]
    result = jailer.run(PLAIN, stdin=json.dumps(described).encode(), timeout_ms=60_000)
    if result.stderr or not result.stdout:
        raise AssertionError(result)
    return [(status, base64.b64decode(out), base64.b64decode(err))
            for status, out, err in json.loads(result.stdout)]


class TestSameAsPython(unittest.TestCase):
    def test_every_program_of_the_table(self):
        cases = list(CASES.items())
        with new_jailer() as cold:
            expected = []
            for at in range(0, len(cases), AT_A_TIME):
                expected += plain(cold, [case for _, case in cases[at:at + AT_A_TIME]])
        with gated_jailer() as jailer:
            for (name, case), wanted in zip(cases, expected, strict=True):
                with self.subTest(name):
                    result = jailer.run(case.code, args=case.args, env=case.env, stdin=case.stdin)
                    found = (result.exit_code, result.stdout, result.stderr)
                    if case.normalise:
                        found, wanted = ((status, *map(case.normalise, streams))
                                         for status, *streams in (found, wanted))
                    self.assertEqual(found, wanted)


if __name__ == "__main__":
    unittest.main()
