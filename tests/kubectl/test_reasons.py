# SPDX-License-Identifier: Apache-2.0
"""The reasons of an end: the same in the documentation, the CRD, the code and what really runs."""

import os
import re
import unittest

from helpers.cluster import ROOT

from shared import FAULTS, REAL, KubectlCase


def documented():
    """reason -> exit code, as the README's table has it."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        section = file.read().split("### How a run ends")[1].split("\n### ")[0]
    found = {}
    for reasons, code in re.findall(r"(?m)^\| (`\w+`(?:, `\w+`)*) \| ([^|]+) \|", section):
        for reason in re.findall(r"\w+", reasons):
            if reason != "reason":
                found[reason] = code.strip()
    return found


def in_code():
    with open(os.path.join(ROOT, "common/api/run_status.c"), encoding="utf-8") as file:
        return set(re.findall(r'\[RUN_REASON_\w+\] = "(\w+)"', file.read()))


class TestReasons(KubectlCase):
    def test_documentation_schema_and_code_have_the_same(self):
        crd = self.cluster.plane.get("crd", "sandboxruns.sandboxrun.dev")
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        enum = schema["properties"]["status"]["properties"]["reason"]["enum"]
        self.assertEqual(set(documented()), set(enum))
        self.assertEqual(in_code(), set(enum))
        self.assertEqual({reason for _, _, reason in REAL.values()} | set(FAULTS), set(enum))

    def fits(self, status, code):
        """Whether an exit code is one that the documentation allows for this reason."""
        actual = status["exitCode"]
        if code == "the program's own":
            return 0 < actual <= 255
        if code == "128 + n":
            return 128 < actual <= 192
        return actual == int(code.replace("\N{MINUS SIGN}", "-"))

    def test_what_has_really_run(self):
        codes = documented()
        for name, (_, spec, reason) in REAL.items():
            with self.subTest(run=name):
                status = self.cluster.get(name)["status"]
                self.assertEqual(status["reason"], reason, status["message"])
                self.assertEqual(status["phase"],
                                 "Succeeded" if reason == "Completed" else "Failed")
                self.assertTrue(self.fits(status, codes[reason]), status["exitCode"])
                self.assertRegex(status["message"], r"\A\S.*[^.\s]\Z")
                conditions = {c["type"]: c for c in status["conditions"]}
                self.assertEqual((conditions["Finished"]["status"],
                                  conditions["Finished"]["reason"],
                                  conditions["Finished"]["message"]),
                                 ("True", reason, status["message"]))
                self.assertEqual(conditions["Scheduled"]["status"],
                                 "True" if "nodeName" in status else "False")
                self.assertEqual(conditions["Finished"]["lastTransitionTime"],
                                 status["completionTime"])
                self.assertEqual(status["observedGeneration"], 1)

    def test_messages_have_the_limit_and_the_figure(self):
        words = {"exits-3": r"exited with code 3",
                 "signaled": r"signal 15|SIGTERM",
                 "deadline": r"killed after 1\.\d s, timeoutSeconds is 1\Z",
                 "memory": r"64Mi.*peak",
                 "flood": r"reached \d{8} bytes, the limit is 67108864",
                 "forbidden": r"kexec_load",
                 "queued": r"not placed within 1 s \(queueTimeoutSeconds\): 0 of 1 node"}
        for name, pattern in words.items():
            with self.subTest(run=name):
                self.assertRegex(self.cluster.get(name)["status"]["message"], pattern)


if __name__ == "__main__":
    unittest.main()
