# SPDX-License-Identifier: Apache-2.0
"""What the CRDs accept and refuse, asked of a real API server, with the words of the refusal."""

import shutil
import tempfile
import time
import unittest

from helpers.controlplane import ControlPlane
from helpers.manifests import install_crds
from helpers.rawapi import RawApi

RUNS = "/apis/sandboxrun.dev/v1alpha1/namespaces/default/sandboxruns"
NODES = "/apis/sandboxrun.dev/v1alpha1/sandboxnodes"
MIB = 1 << 20


def merged(base, change):
    """base with change laid over it as a JSON merge patch would; None removes."""
    if not isinstance(change, dict):
        return change
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def run(name="probe", **spec):
    return {"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxRun",
            "metadata": {"name": name}, "spec": merged({"code": "print(1)"}, spec)}


def limits(**values):
    return {"resources": {"limits": values}}


def tool(**spec):
    return {"profile": "ToolCall", **spec}


def egress(**rule):
    return tool(egress=[rule])


def block(cidr, *excepted):
    rest = {"except": list(excepted)} if excepted else {}
    return egress(to=[{"ipBlock": {"cidr": cidr, **rest}}])


def fqdn(name):
    return egress(to=[{"fqdn": name}])


def env(**variables):
    return {"env": [{"name": name, "value": value} for name, value in variables.items()]}


def named(name):
    return {"env": [{"name": name, "value": "x"}]}


# What the refusal must say; None: it is accepted. Each line is a bound of the API.
SPECS = [
    ("minimal", {}, None),
    ("every field", {"profile": "ToolCall", "runtime": "python3.12", "code": "pass",
                     "args": ["a", "", "é"], "env": [{"name": "A", "value": "1"}, {"name": "B"}],
                     "stdin": "xy", "timeoutSeconds": 120,
                     "resources": {"limits": {"cpu": "2", "memory": "1Gi"}},
                     "egress": [{"to": [{"ipBlock": {"cidr": "198.51.100.0/24"}},
                                        {"fqdn": "api.example.com"}],
                                 "ports": [{"protocol": "TCP", "port": 443}]}],
                     "queueTimeoutSeconds": 3600, "ttlSecondsAfterFinished": 0,
                     "nodeSelector": {"pool": "sandboxes"}}, None),

    ("profile unknown", {"profile": "Root"}, ["spec.profile", "Snippet", "ToolCall"]),
    ("profile in lower case", {"profile": "snippet"}, ["spec.profile"]),
    ("profile a list", {"profile": []}, ["spec.profile"]),
    ("runtime empty", {"runtime": ""}, ["spec.runtime"]),
    ("runtime leaves its directory", {"runtime": "../../etc"}, ["spec.runtime", "python3.12"]),
    ("runtime in upper case", {"runtime": "Python"}, ["spec.runtime", "lower-case"]),
    ("runtime of 63", {"runtime": "p" * 63}, None),
    ("runtime of 64", {"runtime": "p" * 64}, ["spec.runtime", "63"]),

    ("code missing", {"code": None}, ["spec.code", "Required"]),
    ("code empty", {"code": ""}, ["spec.code"]),
    ("code no string", {"code": 7}, ["spec.code", "string"]),
    ("code of 1 MiB", {"code": "#" * MIB}, None),
    ("code of 1 MiB and a byte", {"code": "#" * (MIB + 1)}, ["spec.code", "1048576"]),
    ("code of 1 MiB in two-byte characters", {"code": "é" * (MIB // 2)}, None),
    ("code too long in bytes alone", {"code": "#" + "é" * (MIB // 2)},
     ["spec", "at most 1048576 bytes; got 1048577"]),
    ("code with a NUL byte", {"code": "x\u0000"}, ["spec.code", "NUL byte"]),
    ("stdin with a NUL byte", {"stdin": "x\u0000"}, ["spec.stdin", "NUL byte", "base64"]),
    ("stdin of 1 MiB beside a byte of code", {"code": "#", "stdin": "x" * MIB},
     ["code, stdin, args and env together are at most 1048576 bytes; got 1048577"]),
    ("stdin fills what code leaves", {"code": "#", "stdin": "x" * (MIB - 1)}, None),
    ("stdin too long alone", {"stdin": "x" * (MIB + 1)}, ["spec.stdin", "1048576"]),
    ("args fill the request", {"code": "#" * (MIB - 32768), "args": ["x" * 16384] * 2}, None),
    ("args overfill the request", {"code": "#" * (MIB - 32767), "args": ["x" * 16384] * 2},
     ["got 1048577"]),
    ("env overfills the request", {"code": "#" * (MIB - 32767),
                                   "env": [{"name": n, "value": "x" * 16383} for n in "AB"]},
     ["got 1048577"]),
    ("env without values counts too", {"code": "#" * MIB, "env": [{"name": "A"}]},
     ["got 1048577"]),

    ("args of 64", {"args": ["x"] * 64}, None),
    ("args of 65", {"args": ["x"] * 65}, ["spec.args", "64"]),
    ("args no list", {"args": "x"}, ["spec.args", "array"]),
    ("args with a number", {"args": [1]}, ["spec.args[0]", "string"]),
    ("arg of 16 KiB", {"args": ["x" * 16384]}, None),
    ("arg of 16 KiB and a byte", {"args": ["a", "x" * 16385]}, ["spec.args[1]", "16384"]),
    ("arg too long in bytes alone", {"args": ["é" * 8193]},
     ["spec.args", "at most 16384 bytes; got 16386"]),
    ("arg with a NUL byte", {"args": ["a\u0000b"]}, ["spec.args", "NUL"]),

    ("env of 64", {"env": [{"name": f"N{i}", "value": "x"} for i in range(64)]}, None),
    ("env of 65", {"env": [{"name": f"N{i}", "value": "x"} for i in range(65)]},
     ["spec.env", "64"]),
    ("env of 64 at their longest",
     {"env": [{"name": f"N{i:02}", "value": "x" * (16380 - 3)} for i in range(63)]}, None),
    ("env as a map", {"env": {"A": "1"}}, ["spec.env"]),
    ("env twice the same", {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]},
     ["spec.env[1]", "Duplicate"]),
    ("env without a name", {"env": [{"value": "1"}]}, ["spec.env[0].name"]),
    ("env with an empty name", named(""), ["spec.env[0].name"]),
    ("env name with =", named("A=B"), ["spec.env[0].name", "letters, digits"]),
    ("env name with a space", named("A B"), ["spec.env[0].name"]),
    ("env name with a NUL byte", named("A\u0000"), ["spec.env[0].name"]),
    ("env name with a line feed", named("A\n"), ["spec.env[0].name"]),
    ("env name that starts with a digit", named("1A"), ["spec.env[0].name", "digit"]),
    ("env name with a dot", named("my.var-2"), None),
    ("env value a number", {"env": [{"name": "A", "value": 1}]}, ["spec.env[0].value", "string"]),
    ("env value with a NUL byte", env(A="x\u0000"), ["spec.env[0]", "NUL"]),
    ("env of 16 KiB with its name", env(A="x" * 16383), None),
    ("env of 16 KiB and a byte", env(A="x" * 16384),
     ["spec.env[0]", "name and value together are at most 16384 bytes; got 16385"]),

    ("timeout 0", {"timeoutSeconds": 0}, ["spec.timeoutSeconds", "greater than or equal to 1"]),
    ("timeout -1", {"timeoutSeconds": -1}, ["spec.timeoutSeconds"]),
    ("timeout 1", {"timeoutSeconds": 1}, None),
    ("timeout 60", {"timeoutSeconds": 60}, None),
    ("timeout 61", {"timeoutSeconds": 61},
     ["spec.timeoutSeconds", "at most 60 for profile Snippet; got 61"]),
    ("timeout 1.5", {"timeoutSeconds": 1.5}, ["spec.timeoutSeconds", "integer"]),
    ("timeout as a string", {"timeoutSeconds": "20s"}, ["spec.timeoutSeconds", "integer"]),
    ("timeout beyond 64 bits of sense", {"timeoutSeconds": 2**62},
     ["at most 60 for profile Snippet; got 4611686018427387904"]),
    ("ToolCall timeout 120", tool(timeoutSeconds=120), None),
    ("ToolCall timeout 121", tool(timeoutSeconds=121),
     ["spec.timeoutSeconds", "at most 120 for profile ToolCall; got 121"]),

    ("memory at its floor", limits(memory="32Mi"), None),
    ("memory below its floor", limits(memory="31Mi"), ["limits.memory", "at least 32Mi; got 31Mi"]),
    ("memory a byte below its floor", limits(memory=32 * MIB - 1), ["at least 32Mi; got 33554431"]),
    ("memory negative", limits(memory="-1Gi"), ["at least 32Mi"]),
    ("memory 0", limits(memory=0), ["at least 32Mi; got 0"]),
    ("memory at its ceiling", limits(memory="512Mi"), None),
    ("memory at its ceiling in bytes", limits(memory=512 * MIB), None),
    ("memory above its ceiling", limits(memory="513Mi"),
     ["spec.resources.limits.memory", "at most 512Mi for profile Snippet; got 513Mi"]),
    ("memory a byte above its ceiling", limits(memory=512 * MIB + 1), ["got 536870913"]),
    ("memory beyond all sense", limits(memory="9999999E"), ["at most 512Mi"]),
    ("memory in decimal exponents", limits(memory="1e8"), None),
    ("memory no quantity", limits(memory="512MB"), ["limits.memory", "not a quantity", "256Mi"]),
    ("memory empty", limits(memory=""), ["limits.memory", "not a quantity"]),
    ("memory in fractions of a byte", limits(memory="40000000500m"), ["whole number of bytes"]),
    ("memory a float", limits(memory=1.5), ["limits.memory"]),
    ("memory a list", limits(memory=["1"]), ["limits.memory"]),
    ("ToolCall memory at its ceiling", tool(**limits(memory="1Gi")), None),
    ("ToolCall memory above its ceiling", tool(**limits(memory="1025Mi")),
     ["at most 1Gi for profile ToolCall; got 1025Mi"]),
    ("cpu at its floor", limits(cpu="10m"), None),
    ("cpu below its floor", limits(cpu="9m"), ["limits.cpu", "at least 10m; got 9m"]),
    ("cpu 0", limits(cpu=0), ["at least 10m; got 0"]),
    ("cpu at its ceiling", limits(cpu=1), None),
    ("cpu at its ceiling in milli", limits(cpu="1000m"), None),
    ("cpu above its ceiling", limits(cpu="1001m"),
     ["spec.resources.limits.cpu", "at most 1 for profile Snippet; got 1001m"]),
    ("cpu no quantity", limits(cpu="half"), ["limits.cpu", "not a quantity", "500m"]),
    ("ToolCall cpu at its ceiling", tool(**limits(cpu=2)), None),
    ("ToolCall cpu above its ceiling", tool(**limits(cpu="2.1")),
     ["at most 2 for profile ToolCall"]),
    ("resources without limits", {"resources": {}}, None),
    ("resources with requests", {"resources": {"requests": {"cpu": 1}}},
     ["unknown field", "spec.resources.requests"]),
    ("limits of something else", limits(gpu=1), ["unknown field", "spec.resources.limits.gpu"]),

    ("egress with Snippet", {"egress": [{}]}, ["spec.egress", "ToolCall", "no network"]),
    ("egress empty with Snippet", {"egress": []}, ["spec.egress", "ToolCall"]),
    ("egress empty", tool(egress=[]), None),
    ("egress of 32", tool(egress=[{}] * 32), None),
    ("egress of 33", tool(egress=[{}] * 33), ["spec.egress", "32"]),
    ("egress at its largest", tool(egress=[
        {"to": [{"ipBlock": {"cidr": "203.0.112.0/20", "except": ["203.0.113.0/24"] * 16}}] * 16,
         "ports": [{"port": 443, "endPort": 444}] * 16}] * 32), None),
    ("egress to nothing", egress(to=[{}]), ["egress[0].to[0]", "exactly one of ipBlock and fqdn"]),
    ("egress to both", egress(to=[{"ipBlock": {"cidr": "1.1.1.0/24"}, "fqdn": "example.com"}]),
     ["exactly one of ipBlock and fqdn"]),
    ("egress to 17", egress(to=[{"fqdn": "example.com"}] * 17), ["egress[0].to", "16"]),
    ("egress of an empty rule", egress(), None),
    ("egress to 16 names in two rules", tool(egress=[
        {"to": [{"fqdn": f"n{i}.example.com"} for i in range(8)]}] * 2), None),
    ("egress to 17 names in two rules", tool(egress=[
        {"to": [{"fqdn": f"n{i}.example.com"} for i in range(n)]} for n in (8, 9)]),
     ["spec.egress", "more DNS names than the maximum of 16"]),
    ("egress to names of 1024 bytes", egress(
        to=[{"fqdn": "a." * 125 + "com"}] * 4 + [{"fqdn": "b2345.c"}]), None),
    ("egress to names of 1025 bytes", egress(
        to=[{"fqdn": "a." * 125 + "com"}] * 4 + [{"fqdn": "b23456.c"}]),
     ["spec.egress", "more than 1024 bytes in all"]),
    ("egress to a Pod", egress(to=[{"podSelector": {}}]), ["unknown field"]),
    ("cidr IPv6", block("2001:db8::/32", "2001:db8:1::/48"), None),
    ("cidr without a prefix", block("1.1.1.1"), ["ipBlock.cidr", "not an address range"]),
    ("cidr with bits beyond its prefix", block("1.1.1.1/24"),
     ["ipBlock.cidr", "beyond the prefix"]),
    ("cidr with a prefix of 33", block("1.1.1.0/33"), ["not an address range"]),
    ("cidr mapped into IPv6", block("::ffff:1.2.3.0/120"), ["not an address range"]),
    ("cidr empty", block(""), ["ipBlock.cidr"]),
    ("except within", block("203.0.112.0/20", "203.0.113.0/24"), None),
    ("except of everything", block("203.0.113.0/24", "203.0.113.0/24"),
     ["except must lie within cidr, and not be all of it"]),
    ("except of another family", block("203.0.113.0/24", "2001:db8::/32"),
     ["except must lie within cidr"]),
    ("except outside", block("203.0.113.0/24", "198.51.100.0/24"), ["except must lie within cidr"]),
    ("except wider", block("203.0.113.0/24", "203.0.112.0/20"), ["except must lie within cidr"]),
    ("except no range", block("203.0.113.0/24", "here"), ["except[0]", "not an address range"]),
    ("fqdn wildcard", fqdn("*.example.com"), None),
    ("fqdn in upper case", fqdn("API.example.com"), ["fqdn", "lower case"]),
    ("fqdn with a final dot", fqdn("example.com."), ["fqdn", "final"]),
    ("fqdn with an underscore", fqdn("_dmarc.example.com"), ["fqdn", "not a DNS name"]),
    ("fqdn of every name in a top-level domain", fqdn("*.com"), ["fqdn", "not a DNS name"]),
    ("fqdn of one label", fqdn("localhost"), ["fqdn"]),
    ("fqdn an address", fqdn("10.0.0.1"), ["fqdn"]),
    ("fqdn wildcard in the middle", fqdn("api.*.com"), ["fqdn"]),
    ("fqdn with a label of 64", fqdn("a" * 64 + ".com"), ["fqdn"]),
    ("fqdn of 254", fqdn("a." * 125 + "comm"), ["fqdn", "253"]),
    ("port a name", egress(ports=[{"port": "https"}]), ["ports[0].port", "integer"]),
    ("port 0", egress(ports=[{"port": 0}]), ["ports[0].port"]),
    ("port 65536", egress(ports=[{"port": 65536}]), ["ports[0].port", "65535"]),
    ("protocol of its own", egress(ports=[{"protocol": "ICMP"}]), ["protocol", "TCP"]),
    ("ports of UDP alone", egress(ports=[{"protocol": "UDP", "port": 443}]),
     ["spec.egress[0].ports", "has neither TCP 80 nor TCP 443"]),
    ("ports of SCTP alone", egress(ports=[{"protocol": "SCTP"}]), ["neither TCP 80 nor TCP 443"]),
    ("ports of UDP beside TCP", egress(ports=[{"protocol": "UDP", "port": 443}, {"port": 443}]),
     None),
    ("port 22", tool(egress=[{}, {"ports": [{"port": 22}]}]),
     ["spec.egress[1].ports", "has neither TCP 80 nor TCP 443"]),
    ("every port of TCP", egress(ports=[{}]), None),
    ("no ports", egress(ports=[]), None),
    ("port range", egress(ports=[{"port": 80, "endPort": 443}]), None),
    ("port range of everything", egress(ports=[{"port": 1, "endPort": 65535}]), None),
    ("port range between", egress(ports=[{"port": 81, "endPort": 442}]),
     ["neither TCP 80 nor TCP 443"]),
    ("port range backwards", egress(ports=[{"port": 443, "endPort": 80}]), ["endPort needs a port"]),
    ("port range without a start", egress(ports=[{"endPort": 80}]), ["endPort needs a port"]),

    ("queue time-out 0", {"queueTimeoutSeconds": 0}, ["spec.queueTimeoutSeconds"]),
    ("queue time-out 3601", {"queueTimeoutSeconds": 3601}, ["spec.queueTimeoutSeconds", "3600"]),
    ("ttl -1", {"ttlSecondsAfterFinished": -1}, ["spec.ttlSecondsAfterFinished"]),
    ("ttl of 30 days", {"ttlSecondsAfterFinished": 2592000}, None),
    ("ttl above 30 days", {"ttlSecondsAfterFinished": 2592001}, ["2592000"]),
    ("nodeSelector of 16", {"nodeSelector": {f"example.com/l{i}": "v" for i in range(16)}}, None),
    ("nodeSelector of 17", {"nodeSelector": {f"l{i}": "v" for i in range(17)}},
     ["spec.nodeSelector", "16"]),
    ("nodeSelector with an empty value", {"nodeSelector": {"a": ""}}, None),
    ("nodeSelector value of 64", {"nodeSelector": {"a": "v" * 64}}, ["spec.nodeSelector", "63"]),
    ("nodeSelector value with a space", {"nodeSelector": {"a": "b c"}}, ["spec.nodeSelector"]),
    ("nodeSelector value a boolean", {"nodeSelector": {"a": True}},
     ["spec.nodeSelector", "string"]),
    ("nodeSelector name with two slashes", {"nodeSelector": {"a/b/c": "x"}}, ["label's name"]),
    ("nodeSelector name empty", {"nodeSelector": {"": "x"}}, ["label's name"]),
    ("nodeSelector name of 64", {"nodeSelector": {"a" * 64: "x"}}, ["label's name"]),
    ("nodeSelector as a list", {"nodeSelector": ["a"]}, ["spec.nodeSelector", "object"]),

    ("a field that isn't there", {"image": "debian"}, ["unknown field", "spec.image"]),
    ("valueFrom",
     {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]},
     ["unknown field", "valueFrom"]),
]

CLAIM = {"nodeName": "node-a", "agentInstance": "6b7f0b3e-1111", "sandboxID": "0f6a8f5c-2222"}
UNCLAIM = dict.fromkeys(CLAIM)
SCHEDULED = {"phase": "Scheduled", **CLAIM}
SUCCEEDED = {"phase": "Succeeded", "reason": "Completed", "exitCode": 0, "stdout": "1\n"}
FAILED = {"phase": "Failed", "reason": "Error", "exitCode": 3, "message": "exit code 3"}

# Status patches one after the other; all but the last are accepted, the last as the refusal says.
TRANSITIONS = [
    ("the whole way", [SCHEDULED, {"phase": "Running"}, SUCCEEDED], None),
    ("too short to be seen running", [SCHEDULED, SUCCEEDED], None),
    ("failed", [SCHEDULED, {"phase": "Running"}, FAILED], None),
    ("never assigned", [{"phase": "Failed", "reason": "QueueTimeout", "exitCode": -1}], None),
    ("given back", [SCHEDULED, {"phase": "Pending", **UNCLAIM}], None),
    ("given back and assigned again",
     [SCHEDULED, {"phase": "Pending", **UNCLAIM}, {**SCHEDULED, "sandboxID": "anotherone"}], None),
    ("running when nobody has claimed it", [{"phase": "Running", **CLAIM}],
     ["status.phase", "can't go from Pending to Running"]),
    ("succeeded when nobody has claimed it", [{**SUCCEEDED, **CLAIM}],
     ["can't go from Pending to Succeeded"]),
    ("running and given back", [SCHEDULED, {"phase": "Running"}, {"phase": "Pending", **UNCLAIM}],
     ["can't go from Running to Pending"]),
    ("running and scheduled again", [SCHEDULED, {"phase": "Running"}, {"phase": "Scheduled"}],
     ["can't go from Running to Scheduled"]),
    ("succeeded, then failed", [SCHEDULED, SUCCEEDED, FAILED],
     ["can't go from Succeeded to Failed", "a terminal phase never changes"]),
    ("failed, then pending", [SCHEDULED, FAILED, {"phase": "Pending", **UNCLAIM, "reason": None,
                                                  "exitCode": None}],
     ["can't go from Failed to Pending", "never"]),
    ("failed, then the phase removed", [SCHEDULED, FAILED, {"phase": None}],
     ["a terminal phase never changes"]),
    ("a finished run's exit code", [SCHEDULED, FAILED, {"exitCode": 4}],
     ["of a finished run never change"]),
    ("a finished run's reason", [SCHEDULED, FAILED, {"reason": "OOMKilled"}],
     ["of a finished run never change"]),
    ("a finished run's output", [SCHEDULED, SUCCEEDED, {"stdout": "2\n"}],
     ["of a finished run never change"]),
    ("a finished run's output removed", [SCHEDULED, SUCCEEDED, {"stdout": None}],
     ["of a finished run never change"]),
    ("a finished run's result once more", [SCHEDULED, SUCCEEDED, SUCCEEDED], None),
    ("the node changes", [SCHEDULED, {"nodeName": "node-b"}], ["never change once set"]),
    ("the agent changes", [SCHEDULED, {"agentInstance": "other"}], ["never change once set"]),
    ("the sandbox changes", [SCHEDULED, {"sandboxID": "another-one"}], ["never change once set"]),
    ("the claim is taken off", [SCHEDULED, UNCLAIM], ["never change once set"]),
    ("the node goes with the result", [SCHEDULED, {**FAILED, **UNCLAIM}],
     ["never change once set"]),
    ("the sandbox changes with the result", [SCHEDULED, {**SUCCEEDED, "sandboxID": "another-one"}],
     ["never change once set"]),
    ("given back with the node kept",
     [SCHEDULED, {"phase": "Pending", "agentInstance": None, "sandboxID": None}],
     ["nodeName, agentInstance and sandboxID"]),
    ("given back and assigned in one step", [SCHEDULED, {**SCHEDULED, "nodeName": "node-b"}],
     ["never change once set"]),
    ("a claim without its sandbox", [{**SCHEDULED, "sandboxID": None}],
     ["set and cleared together"]),
    ("scheduled to nobody", [{"phase": "Scheduled"}], ["are set in phases Scheduled, Running"]),
    ("pending with a claim", [CLAIM], ["absent in Pending"]),
    ("failed without a reason", [{"phase": "Failed", "exitCode": -1}], ["status.reason"]),
    ("a reason while running", [{**SCHEDULED, "reason": "Error"}], ["status.reason"]),
    ("succeeded for another reason", [SCHEDULED, {**SUCCEEDED, "reason": "Error"}],
     ["Completed when and only when"]),
    ("completed and failed", [SCHEDULED, {**FAILED, "reason": "Completed"}],
     ["Completed when and only when"]),
    ("succeeded with exit code 3", [SCHEDULED, {**SUCCEEDED, "exitCode": 3}], ["status.exitCode"]),
    ("succeeded without an exit code", [SCHEDULED, {**SUCCEEDED, "exitCode": None}],
     ["status.exitCode"]),
    ("failed with exit code 0", [SCHEDULED, {**FAILED, "exitCode": 0}], ["status.exitCode"]),
    ("exit code -2", [SCHEDULED, {**FAILED, "exitCode": -2}], ["status.exitCode"]),
    ("exit code 256", [SCHEDULED, {**FAILED, "exitCode": 256}], ["status.exitCode"]),
    ("a reason of one's own", [SCHEDULED, {**FAILED, "reason": "Tired"}], ["status.reason"]),
    ("a phase of one's own", [{"phase": "Done"}], ["status.phase"]),
    ("a time that is none", [{**SCHEDULED, "scheduledTime": "yesterday"}], ["scheduledTime"]),
    ("a time with microseconds", [{**SCHEDULED, "scheduledTime": "2026-01-02T03:04:05.678901Z"}],
     None),
    ("output of 64 KiB with its marker", [SCHEDULED, {**SUCCEEDED, "stdout": "é" * 65700}], None),
    ("output of 66 KiB", [SCHEDULED, {**SUCCEEDED, "stdout": "x" * 67584}], ["status.stdout"]),
    ("a message of 1025", [SCHEDULED, {**FAILED, "message": "x" * 1025}], ["status.message"]),
    ("denied of 32", [SCHEDULED, {**FAILED, "denied": [
        {"kind": "Syscall", "target": "bpf", "count": 1}] * 32}], None),
    ("denied of 33", [SCHEDULED, {**FAILED, "denied": [
        {"kind": "Syscall", "target": "bpf", "count": 1}] * 33}], ["status.denied"]),
    ("denied of the longest name", [SCHEDULED, {**FAILED, "denied": [
        {"kind": "Network", "target": "a" * 255 + " (DNS)", "count": 1}]}], None),
    ("denied of a name that is longer", [SCHEDULED, {**FAILED, "denied": [
        {"kind": "Network", "target": "a" * 256 + " (DNS)", "count": 1}]}],
     ["status.denied[0].target"]),
    ("denied of a kind of its own", [SCHEDULED, {**FAILED, "denied": [
        {"kind": "File", "target": "/etc", "count": 1}]}], ["status.denied[0].kind"]),
    ("the same condition twice", [{"conditions": [
        {"type": "Finished", "status": "False", "reason": "A",
         "lastTransitionTime": "2026-01-01T00:00:00Z"}] * 2}], ["Duplicate"]),
    ("all of a status", [SCHEDULED, {**SUCCEEDED, "message": "done", "stderr": "", "stdoutBytes": 2,
                                     "stderrBytes": 0, "stdoutTruncated": False,
                                     "stderrTruncated": False,
                                     "scheduledTime": "2026-01-02T03:04:05.678901Z",
                                     "startTime": "2026-01-02T03:04:05.678901Z",
                                     "completionTime": "2026-01-02T03:04:05.678901Z",
                                     "usage": {"cpuMilliseconds": 10, "peakMemoryBytes": 1,
                                               "wallMilliseconds": 12},
                                     "effective": {"timeoutSeconds": 20, "memory": "512Mi",
                                                   "cpu": "1", "runtimeVersion": "3.12.1"},
                                     "denied": [{"kind": "Network", "target": "10.0.0.1:443",
                                                 "count": 3}],
                                     "conditions": [
                                         {"type": kind, "status": "True", "reason": "Completed",
                                          "message": "m", "observedGeneration": 1,
                                          "lastTransitionTime": "2026-01-02T03:04:05Z"}
                                         for kind in ("Scheduled", "Finished")],
                                     "observedGeneration": 1}], None),
]

EVERY_FIELD = {
    "profile": "ToolCall", "runtime": "python3.12", "code": "pass", "args": ["a"],
    "env": [{"name": "A", "value": "1"}], "stdin": "x", "timeoutSeconds": 10,
    "resources": {"limits": {"cpu": "1", "memory": "64Mi"}}, "egress": [{}],
    "queueTimeoutSeconds": 30, "nodeSelector": {"a": "b"}, "ttlSecondsAfterFinished": 5,
}
OTHER_VALUE = {
    "profile": "Snippet", "runtime": "python3.13", "code": "pass ", "args": ["a", "b"],
    "env": [{"name": "A", "value": "2"}], "stdin": "y", "timeoutSeconds": 11,
    "resources": {"limits": {"cpu": "1", "memory": "65Mi"}}, "egress": [],
    "queueTimeoutSeconds": 31, "nodeSelector": {"a": "c"},
}
REQUIRED = ("code", "profile", "runtime", "queueTimeoutSeconds")

NODE_STATUS = {
    "instance": "6b7f0b3e-1111", "capacity": {"runs": 8, "memory": "4Gi", "cpu": "2"},
    "allocated": {"runs": 1, "memory": "512Mi", "cpu": "1"}, "warm": 0,
    "runtimes": [{"name": "python3.12", "version": "3.12.1"}], "cgroupVersion": "v2",
    "kernel": "6.1.0-28-amd64", "profiles": ["Snippet"],
    "conditions": [{"type": "Ready", "status": "True", "reason": "AgentReady", "message": "",
                    "lastTransitionTime": "2026-01-02T03:04:05Z"}],
}
NODE_STATUSES = [
    ("all of it", {}, None),
    ("memory no quantity", {"capacity": {"memory": "much"}}, ["status.capacity.memory"]),
    ("runs negative", {"capacity": {"runs": -1}}, ["status.capacity.runs"]),
    ("a profile of its own", {"profiles": ["Root"]}, ["status.profiles[0]"]),
    ("a profile twice", {"profiles": ["Snippet", "Snippet"]}, ["Duplicate"]),
    ("a runtime twice", {"runtimes": [{"name": "a"}] * 2}, ["Duplicate"]),
    ("17 runtimes", {"runtimes": [{"name": f"r{i}"} for i in range(17)]}, ["status.runtimes"]),
    ("cgroup v3", {"cgroupVersion": "v3"}, ["status.cgroupVersion"]),
]

plane = None
api = None
directory = None


def setUpModule():
    global plane, api, directory
    directory = tempfile.mkdtemp(prefix="sandboxrun-crd-")
    unittest.addModuleCleanup(shutil.rmtree, directory)
    plane = ControlPlane(directory, controllers=False)
    plane.start()
    unittest.addModuleCleanup(plane.stop)
    install_crds(plane)
    api = RawApi(plane)
    unittest.addModuleCleanup(api.close)


class CrdCase(unittest.TestCase):
    def expect(self, answer, fragments):
        if fragments is None:
            self.assertTrue(answer.accepted, answer.message[:2000])
            return
        self.assertIn(answer.status, (400, 422), f"accepted, and should not have been: {fragments}")
        for fragment in fragments:
            self.assertIn(fragment, answer.message[:4000])

    def create(self, document, path=RUNS):
        answer = api.post(path, document)
        self.assertEqual(answer.status, 201, answer.message)
        self.addCleanup(api.delete, f"{path}/{document['metadata']['name']}")
        return answer.body

    def patch_status(self, name, status, path=RUNS):
        return api.patch(f"{path}/{name}/status", {"status": status}, fieldValidation="Strict")


class TestSpec(CrdCase):
    def test_bounds(self):
        self.assertGreater(len(SPECS), 100)
        for what, spec, fragments in SPECS:
            with self.subTest(what):
                self.expect(api.post(RUNS, run(**spec), dryRun="All", fieldValidation="Strict"),
                            fragments)

    def test_a_run_without_spec_is_refused(self):
        document = run()
        del document["spec"]
        self.expect(api.post(RUNS, document, dryRun="All"), ["spec", "Required"])
        self.expect(api.post(RUNS, {**document, "spec": None}, dryRun="All"), ["spec"])

    def test_duplicate_keys_are_refused(self):
        text = b"""{"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxRun",
                    "metadata": {"name": "twice"}, "spec": {"code": "1", "code": "2"}}"""
        self.expect(api.post(RUNS, text, dryRun="All", fieldValidation="Strict"),
                    ["duplicate field", "code"])

    def test_defaults(self):
        spec = self.create(run("defaults"))["spec"]
        self.assertEqual(spec, {"code": "print(1)", "profile": "Snippet", "runtime": "python3.12",
                                "queueTimeoutSeconds": 60})

    def test_the_largest_request_is_stored(self):
        stored = self.create(run("largest", code="#" * (MIB - 4) + "\nx=1"))
        self.assertEqual(len(stored["spec"]["code"]), MIB)

    def test_spec_is_immutable_field_by_field(self):
        self.create(run("whole", **EVERY_FIELD))
        bare = self.create(run("bare"))["spec"]
        for field, value in OTHER_VALUE.items():
            changed = {"profile": value, "egress": None} if field == "profile" else {field: value}
            with self.subTest(change=field):
                self.refuse_change("whole", changed)
            if field not in REQUIRED:
                with self.subTest(remove=field):
                    self.refuse_change("whole", {field: None})
            if field not in bare and field != "egress":
                with self.subTest(add=field):
                    self.refuse_change("bare", {field: value})

    def refuse_change(self, name, spec):
        self.expect(api.patch(f"{RUNS}/{name}", {"spec": spec}, dryRun="All"),
                    ["immutable except ttlSecondsAfterFinished"])

    def test_the_ttl_may_change(self):
        self.create(run("ttl"))
        for ttl in (30, 60, None):
            self.expect(api.patch(f"{RUNS}/ttl", {"spec": {"ttlSecondsAfterFinished": ttl}}), None)

    def test_labels_may_change_on_the_largest_run(self):
        """The rules of an update stay within the API server's budget for one object."""
        env_max = [{"name": f"N{i:02}", "value": "x" * 8000} for i in range(64)]
        self.create(run("costly", code="#" * 200000, args=["x" * 4000] * 64, env=env_max))
        self.expect(api.patch(f"{RUNS}/costly", {"metadata": {"labels": {"a": "b"}}}), None)


class TestStatus(CrdCase):
    def test_an_untouched_run_is_pending_and_not_finished(self):
        self.create(run("untouched"))
        status = api.get(f"{RUNS}/untouched").body["status"]
        self.assertEqual(status["phase"], "Pending")
        self.assertEqual([(c["type"], c["status"]) for c in status["conditions"]],
                         [("Finished", "False")])

    def test_whoever_creates_a_run_does_not_set_its_status(self):
        self.create({**run("forged"), "status": {**SCHEDULED, **SUCCEEDED}})
        self.assertEqual(api.get(f"{RUNS}/forged").body["status"]["phase"], "Pending")

    def test_whoever_updates_a_run_does_not_set_its_status(self):
        self.create(run("forged-later"))
        api.patch(f"{RUNS}/forged-later", {"status": SCHEDULED})
        self.assertEqual(api.get(f"{RUNS}/forged-later").body["status"]["phase"], "Pending")

    def test_transitions(self):
        for index, (what, patches, fragments) in enumerate(TRANSITIONS):
            with self.subTest(what):
                name = f"transition-{index}"
                self.create(run(name))
                for patch in patches[:-1]:
                    self.expect(self.patch_status(name, patch), None)
                self.expect(self.patch_status(name, patches[-1]), fragments)

    def test_a_put_without_status_does_not_reset_a_finished_run(self):
        self.create(run("put"))
        self.expect(self.patch_status("put", SCHEDULED), None)
        self.expect(self.patch_status("put", SUCCEEDED), None)
        document = api.get(f"{RUNS}/put").body
        del document["status"]
        self.expect(api.put(f"{RUNS}/put/status", document), ["a terminal phase never changes"])

    def test_status_can_be_written_on_the_largest_run(self):
        """Rules of spec and status together stay within the budget for one object."""
        self.create(run("full", code="#" * MIB))
        self.expect(self.patch_status("full", SCHEDULED), None)
        output = "x" * 65536
        self.expect(self.patch_status("full", {**SUCCEEDED, "stdout": output, "stderr": output}),
                    None)

    def test_field_selectors(self):
        for name in ("select-a", "select-b"):
            self.create(run(name))
        self.expect(self.patch_status("select-a", {**SCHEDULED, "nodeName": "node-x"}), None)
        names = self.selected(fieldSelector="status.nodeName=node-x")
        self.assertEqual(names, ["select-a"])
        self.assertIn("select-b", self.selected(fieldSelector="status.phase=Pending"))
        self.assertNotIn("select-a", self.selected(fieldSelector="status.phase=Pending"))

    def selected(self, **query):
        return [item["metadata"]["name"] for item in api.get(RUNS, **query).body["items"]]

    def test_wait_and_columns(self):
        self.create(run("columns"))
        self.assertNotEqual(
            plane.kubectl("wait", "--for=condition=Finished", "sbr/columns", "--timeout=1s",
                          check=False).returncode, 0)
        self.expect(self.patch_status("columns", SCHEDULED), None)
        self.expect(self.patch_status("columns", {
            **FAILED, "usage": {"wallMilliseconds": 17, "peakMemoryBytes": 4096},
            "conditions": [{"type": "Finished", "status": "True", "reason": "Error",
                            "lastTransitionTime": "2026-01-02T03:04:05Z"}]}), None)
        plane.kubectl("wait", "--for=condition=Finished", "sbr/columns", "--timeout=20s")
        header, row = plane.kubectl("get", "sbr", "columns").stdout.splitlines()
        self.assertEqual(header.split(), ["NAME", "PROFILE", "PHASE", "REASON", "EXIT", "NODE",
                                          "WALL-MS", "AGE"])
        self.assertEqual(row.split()[:-1], ["columns", "Snippet", "Failed", "Error", "3", "node-a",
                                            "17"])
        header, row = plane.kubectl("get", "sbr", "columns", "-o", "wide").stdout.splitlines()
        self.assertEqual(header.split()[-2:], ["SANDBOX", "PEAK-BYTES"])
        self.assertEqual(row.split()[-2:], [CLAIM["sandboxID"], "4096"])


class TestNode(CrdCase):
    def test_status(self):
        document = {"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxNode",
                    "metadata": {"name": "node-a"}}
        self.create(document, NODES)
        for what, change, fragments in NODE_STATUSES:
            with self.subTest(what):
                self.expect(self.patch_status("node-a", merged(NODE_STATUS, change), NODES),
                            fragments)
        header, row = plane.kubectl("get", "sbn").stdout.splitlines()
        self.assertEqual(header.split(), ["NAME", "READY", "REASON", "RUNS", "MAX", "WARM",
                                          "MEMORY", "AGE"])
        self.assertEqual(row.split()[:-1], ["node-a", "True", "AgentReady", "1", "8", "0", "4Gi"])


class TestDescriptions(unittest.TestCase):
    """`kubectl explain` has a sentence per field, and no string or list is without a bound."""

    def schemas(self):
        for name in ("sandboxruns", "sandboxnodes"):
            crd = plane.get("crd", f"{name}.sandboxrun.dev")
            schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
            yield from self.walk(name, schema)

    def walk(self, path, schema):
        yield path, schema
        for name, inner in schema.get("properties", {}).items():
            if name != "metadata":
                yield from self.walk(f"{path}.{name}", inner)
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                yield from self.walk(f"{path}[]", schema[key])

    def test_every_field_is_described(self):
        for path, schema in self.schemas():
            if path.endswith("[]") and schema["type"] != "object":
                continue
            with self.subTest(path):
                self.assertRegex(schema.get("description", ""), r"\A[A-Z].{8,}\.\Z")

    def test_everything_is_bounded(self):
        for path, schema in self.schemas():
            if path.count(".") == 1 and path.endswith(("apiVersion", "kind")):
                continue
            with self.subTest(path):
                kind = schema.get("type")
                if kind == "string" and "enum" not in schema:
                    self.assertIn("maxLength", schema)
                if kind == "array":
                    self.assertIn("maxItems", schema)
                if kind == "integer":
                    self.assertIn("minimum", schema)
                if "additionalProperties" in schema:
                    self.assertIn("maxProperties", schema)

    def explain(self, *args):
        """The description of a new kind is published some time after the kind itself."""
        end = time.monotonic() + 30
        while True:
            done = plane.kubectl("explain", *args, check=False)
            if done.returncode == 0 or time.monotonic() > end:
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout
            # kubectl keeps what it knows of a server unless it is asked for all of it.
            plane.kubectl("api-resources")

    def test_explain(self):
        self.assertIn("32Mi", self.explain("sandboxruns.spec.resources.limits.memory"))
        text = self.explain("sandboxruns.spec", "--recursive")
        for field in (*EVERY_FIELD, "fqdn", "endPort"):
            self.assertIn(field, text)


if __name__ == "__main__":
    unittest.main()
