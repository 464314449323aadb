# SPDX-License-Identifier: Apache-2.0
"""Runs code in a jail of this machine through the command line and hands back the object."""

import json
import os
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("SANDBOXRUN_BIN", os.path.join(ROOT, "build/release/bin"))
RUNTIMES = os.environ.get("SANDBOXRUN_RUNTIMES", os.path.join(ROOT, "build/runtimes"))

# An emulated machine is some ten times slower: what is bounded there has so much more time.
EMULATED = os.environ.get("SANDBOXRUN_EMULATED") == "1"
PATIENCE = 10 if EMULATED else 1
# The most that a run may have, where it has no timeout of the test's own.
TIMEOUT = {"timeoutSeconds": 60} if EMULATED else {}

# What --full of hack/test.sh asks for.
FULL = os.environ.get("SANDBOXRUN_TEST_FULL") == "1"


def need_root(why="to make jails"):
    if os.geteuid() != 0:
        raise unittest.SkipTest(f"needs root {why}")


def program(name):
    from helpers import kinds  # which needs what stands here
    if name == "sandboxrun" and kinds.current.gives_pools:
        return kinds.current.command_line
    return os.path.join(BIN, name)


def unprivileged(uid, *argv):
    """The words that run argv as a user without any privilege, or a way to one."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all",
            "--bounding-set=-all", "--no-new-privs", "--", *argv]


def document(code, name="probe", **spec):
    return {"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxRun",
            "metadata": {"name": name}, "spec": {"code": code, **spec}}


def sandboxrun(*args, input=None, timeout=120, **kwargs):
    """One call of the command line; the finished process with text output."""
    argv = [program("sandboxrun"), *args]
    return subprocess.run(argv, input=input, capture_output=True, text=True, timeout=timeout,
                          errors="replace", **kwargs)


def run_object(code, **spec):
    """Runs code with a spec; the object with its status."""
    done = sandboxrun("run", "--runtimes-dir", RUNTIMES, "-o", "json", "-",
                      input=json.dumps(document(code, **(TIMEOUT | spec))))
    if not done.stdout:
        raise AssertionError(f"no object came back ({done.returncode}): {done.stderr}")
    return json.loads(done.stdout)


def run_status(code, **spec):
    return run_object(code, **spec)["status"]


def run_json(code, **spec):
    """Runs code that prints one JSON value; that value. Fails if the run did."""
    status = run_status(code, **spec)
    if status["phase"] != "Succeeded":
        raise AssertionError(f"{status['reason']}: {status['message']}\n{status.get('stderr')}")
    return json.loads(status["stdout"])
