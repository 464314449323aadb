# SPDX-License-Identifier: Apache-2.0
"""The commands and flags of manifests and chart are those of the programs.

    python3 tests/chart/test_flags.py [--build-dir DIR]
"""

import os
import re
import subprocess
import sys
import unittest

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from helpers.controlplane import ROOT
from helpers.manifests import containers, helm_template, kustomize, parse, pods

BIN = os.environ.get("SANDBOXRUN_BIN", os.path.join(ROOT, "build/release/bin"))
# Flags without which a program can't do its work in a Pod.
NEEDED = {
    "sandboxrun-controller": {"--health-address"},
    "sandboxrun-agent": {"--node-name", "--jailer-socket", "--spool-dir", "--health-address",
                         "--output-address", "--output-host"},
    "sandboxrun-jailer": {"--socket", "--peer-uid", "--runtimes-dir", "--spool-dir",
                          "--cgroup-parent", "--resolver-socket", "--resolver-uid"},
    "sandboxrun-resolver": {"--jailer-socket", "--port", "--metrics-address"},
}


def expand(argument, env):
    """$(NAME) as the kubelet fills it in, with a name or a number of the right kind."""
    for variable in env:
        source = variable["valueFrom"]
        value = "some-name" if "fieldRef" in source else "2000"
        if source.get("fieldRef", {}).get("fieldPath") == "status.podIP":
            value = "10.0.0.7"
        argument = argument.replace(f"$({variable['name']})", value)
    assert "$(" not in argument, f"a variable that isn't in env: {argument}"
    return argument


def command_lines(text):
    """Program -> {flag: value} of everything that is started."""
    found = {}
    for _, pod in pods(parse(text)):
        for container in containers(pod).values():
            directory, program = os.path.split(container["command"][0])
            assert directory == "/usr/bin" and len(container["command"]) == 1, container["command"]
            pairs = [expand(argument, container.get("env", [])).split("=", 1)
                     for argument in container["args"]]
            assert all(len(pair) == 2 for pair in pairs), f"--FLAG=VALUE each: {pairs}"
            found[program] = dict(pairs)
            assert len(found[program]) == len(pairs), f"a flag twice: {pairs}"
    return found


class TestFlags(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rendered = {"manifests": command_lines(kustomize()),
                        "chart": command_lines(helm_template())}

    def for_each(self, check):
        for source, lines in self.rendered.items():
            self.assertEqual(set(lines), set(NEEDED))
            for program, flags in lines.items():
                with self.subTest(source=source, program=program):
                    check(program, flags)

    def run_with_help(self, program, *arguments):
        path = os.path.join(BIN, program)
        if not os.access(path, os.X_OK):
            self.skipTest(f"{path} is not built")
        done = subprocess.run([path, *arguments, "--help"], text=True, capture_output=True,
                              timeout=20, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_every_flag_is_in_the_help(self):
        def check(program, flags):
            known = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", self.run_with_help(program)))
            self.assertLessEqual(set(flags), known)
        self.for_each(check)

    def test_every_value_is_accepted(self):
        """A program reads its command line from the left, and --help comes last."""
        def check(program, flags):
            self.run_with_help(program, *(f"{flag}={value}" for flag, value in flags.items()))
        self.for_each(check)

    def test_every_limit_of_namespaces_is_accepted(self):
        flags = command_lines(helm_template(
            "--set", "controller.perNamespace.maxRuns=7,controller.perNamespace.maxCpu=8500m",
            "--set", "controller.perNamespace.maxMemory=16Gi,controller.perNamespace.maxQueued=9"))
        flags = flags["sandboxrun-controller"]
        self.assertEqual(len([flag for flag in flags if flag.endswith("-per-namespace")]), 5)
        self.run_with_help("sandboxrun-controller",
                           *(f"{flag}={value}" for flag, value in flags.items()))

    def test_the_needed_flags_are_given(self):
        self.for_each(lambda program, flags: self.assertLessEqual(NEEDED[program], set(flags)))

    def test_agent_and_jailer_share_socket_and_spool(self):
        for source, lines in self.rendered.items():
            with self.subTest(source=source):
                agent, jailer = lines["sandboxrun-agent"], lines["sandboxrun-jailer"]
                self.assertEqual(agent["--jailer-socket"], jailer["--socket"])
                self.assertEqual(agent["--spool-dir"], jailer["--spool-dir"])

    def test_resolver_and_jailer_share_a_socket(self):
        for source, lines in self.rendered.items():
            with self.subTest(source=source):
                resolver, jailer = lines["sandboxrun-resolver"], lines["sandboxrun-jailer"]
                self.assertEqual(resolver["--jailer-socket"], jailer["--resolver-socket"])
                self.assertNotEqual(jailer["--resolver-uid"], jailer["--peer-uid"])


if __name__ == "__main__":
    if "--build-dir" in sys.argv:
        at = sys.argv.index("--build-dir")
        BIN = os.path.join(os.path.abspath(sys.argv[at + 1]), "bin")
        del sys.argv[at:at + 2]
    unittest.main()
