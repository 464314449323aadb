# SPDX-License-Identifier: Apache-2.0
"""What kubectl says of a run that isn't taken: the field, and what to write instead."""

import json
import os
import re
import tempfile
import unittest

from helpers.cluster import run_document

from shared import KUBECTLS, NEW, OLD, KubectlCase

MIB = 1 << 20


def egress(**rule):
    return {"profile": "ToolCall", "egress": [rule]}


def block(cidr, *excepted):
    return egress(to=[{"ipBlock": {"cidr": cidr, "except": list(excepted)}}])


def limits(**values):
    return {"resources": {"limits": values}}


def names(count, name="n{}.example.com"):
    return [{"to": [{"fqdn": name.format(i)} for i in range(part, count, 2)]} for part in (0, 1)]


# (message of a rule as the CRD has it, a spec that breaks it, the field that is named, what to do).
# Rules that only an update can break are in test_apply.py.
RULES = [
    ("code, stdin, args and env together are at most 1048576 bytes",
     {"code": "#", "stdin": "x" * MIB}, "spec", "are at most 1048576 bytes; got 1048577"),
    ("source code can't have a NUL byte", {"code": "x\0"}, "spec.code", "can't have a NUL byte"),
    ("can't carry a NUL byte; encode binary data, for instance as base64", {"stdin": "x\0"},
     "spec.stdin", "encode binary data, for instance as base64"),
    ("at most 60 for profile Snippet, 120 for ToolCall", {"timeoutSeconds": 61},
     "spec.timeoutSeconds", "at most 60 for profile Snippet; got 61"),
    ("at most 512Mi for profile Snippet, 1Gi for ToolCall", limits(memory="513Mi"),
     "spec.resources.limits.memory", "at most 512Mi for profile Snippet; got 513Mi"),
    ("at most 1 for profile Snippet, 2 for ToolCall", limits(cpu="1001m"),
     "spec.resources.limits.cpu", "at most 1 for profile Snippet; got 1001m"),
    ("egress rules need profile ToolCall: profile Snippet has no network at all", {"egress": []},
     "spec.egress", "need profile ToolCall"),
    ("has more DNS names than the maximum of 16",
     {"profile": "ToolCall", "egress": names(17)}, "spec.egress",
     "use a name such as *.example.org for several"),
    ("has DNS names of more than 1024 bytes in all",
     {"profile": "ToolCall", "egress": names(16, "n{}." + "b" * 59 + ".c")}, "spec.egress",
     "of more than 1024 bytes in all"),
    ("a runtime's name has lower-case letters", {"runtime": "Python"}, "spec.runtime",
     "such as python3.12"),
    ("an argument is at most 16384 bytes", {"args": ["é" * 8193]}, "spec.args",
     "at most 16384 bytes; got 16386"),
    ("an argument can't carry a NUL byte", {"args": ["a\0"]}, "spec.args",
     "can't carry a NUL byte"),
    ("name and value together are at most 16384 bytes",
     {"env": [{"name": "A", "value": "x" * 16384}]}, "spec.env[0]",
     "at most 16384 bytes; got 16385"),
    ("an environment variable can't carry a NUL byte", {"env": [{"name": "A", "value": "\0"}]},
     "spec.env[0]", "can't carry a NUL byte"),
    ("a variable's name has letters", {"env": [{"name": "1A"}]}, "spec.env[0].name",
     "doesn't start with a digit"),
    ("not a quantity; write CPUs such as", limits(cpu="many"), "spec.resources.limits.cpu",
     "write CPUs such as 1, 0.5 or 500m"),
    ("at least 10m", limits(cpu="9m"), "spec.resources.limits.cpu", "at least 10m; got 9m"),
    ("not a quantity; write bytes such as", limits(memory="much"), "spec.resources.limits.memory",
     "write bytes such as 256Mi or 268435456"),
    ("at least 32Mi", limits(memory="31Mi"), "spec.resources.limits.memory",
     "at least 32Mi; got 31Mi"),
    ("must be a whole number of bytes", limits(memory="100000000100m"),
     "spec.resources.limits.memory", "such as 256Mi"),
    ("has neither TCP 80 nor TCP 443", egress(ports=[{"port": 22}]), "spec.egress[0].ports",
     "name one of them, or leave ports out"),
    ("set exactly one of ipBlock and fqdn", egress(to=[{}]), "spec.egress[0].to[0]",
     "set exactly one of ipBlock and fqdn"),
    ("every range in except must lie within cidr", block("203.0.113.0/24", "198.51.100.0/24"),
     "spec.egress[0].to[0].ipBlock", "must lie within cidr"),
    ("not an address range", block("203.0.113.1/24"), "spec.egress[0].to[0].ipBlock.cidr",
     "write it as 203.0.113.0/24"),
    ("not a DNS name", egress(to=[{"fqdn": "Example.com"}]), "spec.egress[0].to[0].fqdn",
     "write it in lower case"),
    ("endPort needs a port", egress(ports=[{"port": 443}, {"endPort": 80}]),
     "spec.egress[0].ports[1]", "endPort needs a port"),
    ("a label's value", {"nodeSelector": {"pool": "not one"}}, "spec.nodeSelector[pool]",
     "at most 63 letters"),
    ("a label's name", {"nodeSelector": {"a/b/c": "x"}}, "spec.nodeSelector",
     "such as example.com/pool"),
]
OF_UPDATES = ("immutable except ttlSecondsAfterFinished",)


def rules_of(schema):
    for rule in schema.get("x-kubernetes-validations", ()):
        yield rule["message"]
    for inner in schema.get("properties", {}).values():
        yield from rules_of(inner)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from rules_of(schema[key])


class TestRules(KubectlCase):
    def test_there_is_a_case_for_every_rule_of_spec(self):
        crd = self.cluster.plane.get("crd", "sandboxruns.sandboxrun.dev")
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        messages = set(rules_of(schema["properties"]["spec"]))
        cases = (*(case[0] for case in RULES), *OF_UPDATES)
        for message in messages:
            self.assertTrue(any(message.startswith(case) for case in cases), message)
        for case in cases:
            self.assertTrue(any(message.startswith(case) for message in messages), case)

    def test_each_names_the_field_and_what_to_do(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        for index, (_, spec, _, _) in enumerate(RULES):
            with open(os.path.join(directory.name, f"{index:02}.json"), "w") as file:
                json.dump(run_document(f"rule-{index}", **{"code": "pass", **spec}), file)
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                said = self.refused(kubectl, "create", "-f", directory.name)
                for index, (_, _, field, advice) in enumerate(RULES):
                    with self.subTest(rule=advice):
                        words = re.search(rf'"rule-{index}" is invalid: (.+)', said)
                        self.assertIsNotNone(words, said[:4000])
                        self.assertIn(f"{field}:", words.group(1))
                        self.assertIn(advice, words.group(1))

    def test_what_is_missing_or_of_another_type(self):
        cases = [({}, "spec.code: Required value"),
                 ({"code": "pass", "profile": "Root"}, 'spec.profile: Unsupported value: "Root": '
                  'supported values: "Snippet", "ToolCall"'),
                 ({"code": "pass", "queueTimeoutSeconds": 3601}, "less than or equal to 3600")]
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                for spec, words in cases:
                    # Without the check that the old one makes before it asks.
                    document = {**run_document("wrong", ""), "spec": spec}
                    said = self.refused(kubectl, "create", "--validate=false", "-f", "-",
                                        input=json.dumps(document))
                    self.assertIn(words, said)

    def test_unknown_fields(self):
        document = json.dumps(run_document("misspelt", "pass", timeoutSecond=5))
        said = {
            NEW: 'strict decoding error: unknown field "spec.timeoutSecond"',
            OLD: 'ValidationError(SandboxRun.spec): unknown field "timeoutSecond"',
        }
        for kubectl in KUBECTLS:
            for verb in ("create", "apply"):
                with self.subTest(kubectl=kubectl, verb=verb):
                    self.assertIn(said[kubectl], self.refused(kubectl, verb, "-f", "-",
                                                              input=document))

    def test_whoever_may_not_is_told_so(self):
        document = json.dumps(run_document("not-mine", "pass"))
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                said = self.refused(kubectl, "create", "-n", "sandboxrun-system", "-f", "-",
                                    input=document, user="alice")
                self.assertIn('cannot create resource "sandboxruns" in API group "sandboxrun.dev"',
                              said)


if __name__ == "__main__":
    unittest.main()
