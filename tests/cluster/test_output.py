# SPDX-License-Identifier: Apache-2.0
"""Whole outputs of runs, read from the agent over TLS with a real API server behind it.

What is read in most tests is what an earlier start of the agent has kept: a run is brought to its
end, and its output is laid where the agent keeps such. So no sandbox needs a network but those of
TestToolCall.
"""

import base64
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
from datetime import datetime, timezone

from helpers.cluster import (NAMESPACE, RESOLVER_UID, ROOT, RUNTIMES, UID, Cluster, Node, Process,
                             run_document, start_resolver)
from helpers.netns import Namespace
from helpers.wait import wait_until

AUDIENCE = "sandboxrun.dev"
STDOUT = bytes(range(256)) * (5 * 4096)
STDERR = b"oh\n"
ISSUER_KEY = "service-account.key"


def console_lines(path, containing):
    """The commands of the one console block in a document that contains a text."""
    with open(path, encoding="utf-8") as file:
        blocks = re.findall(r"```console\n(.*?)```", file.read(), re.DOTALL)
    block, = [block for block in blocks if containing in block]
    return re.sub(r"^\$ ", "", block, flags=re.MULTILINE)


class Output:
    """A node's output server, as its SandboxNode tells of it."""

    def __init__(self, node):
        told = node.status()["output"]
        self.address, self.port = told["address"], told["port"]
        self.certificate = told["certificate"]

    def request(self, run, token=None, namespace="default", method="GET", query="",
                server_name="localhost", certificate=None):
        context = ssl.create_default_context(cadata=certificate or self.certificate)
        connection = http.client.HTTPSConnection(server_name, self.port, timeout=30,
                                                 context=context)
        connection._create_connection = lambda _, *args: socket.create_connection(
            (self.address, self.port), *args)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        path = f"/apis/sandboxrun.dev/v1alpha1/namespaces/{namespace}/sandboxruns/{run}/log{query}"
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body


class OutputCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(audit=True)
        cls.addClassCleanup(lambda: cls.cluster.stop())
        cls.cluster.start(nodes=("node-a",))
        cls.node, = cls.cluster.nodes
        kubectl = cls.cluster.kubectl
        kubectl("create", "namespace", "other")
        for account in ("reader", "stranger"):
            kubectl("create", "serviceaccount", account, "-n", "default")
        kubectl("create", "rolebinding", "reader", "-n", "default", "--clusterrole=view",
                "--serviceaccount=default:reader")
        cls.restart_with_kept("fetch")
        cls.output = Output(cls.node)
        cls.token = cls.create_token("reader")

    @classmethod
    def create_token(cls, account, *args, audience=AUDIENCE):
        audiences = [f"--audience={audience}"] if audience else []
        return cls.cluster.kubectl("create", "token", account, "-n", "default", *audiences,
                                   *args).stdout.strip()

    @classmethod
    def restart_agent(cls, *args):
        before = cls.node.status().get("instance")
        cls.node.agent.stop()
        cls.node.start_agent(*args)
        wait_until("the next agent", lambda: cls.node.ready()
                   and cls.node.status()["instance"] != before)

    @classmethod
    def restart_with_kept(cls, name, *args, age_s=0):
        """A run that has ended, and its output as the agent that ran it would have left it."""
        cls.cluster.create(run_document(name, "print(1)", ttlSecondsAfterFinished=3600))
        run = cls.cluster.wait_finished(name)
        cls.node.agent.stop()
        sandbox = run["status"]["sandboxID"]
        ended = datetime.fromtimestamp(time.time() - age_s, timezone.utc)
        record = {"version": 1, "sandboxID": sandbox, "namespace": "default", "name": name,
                  "uid": run["metadata"]["uid"], "ended": ended.isoformat().replace("+00:00", "Z"),
                  "stdoutBytes": len(STDOUT), "stderrBytes": len(STDERR)}
        for suffix, content in (("run", json.dumps(record).encode()), ("stdout", STDOUT),
                                ("stderr", STDERR)):
            path = os.path.join(cls.kept_dir(), f"{sandbox}.{suffix}")
            with open(path, "wb") as file:
                file.write(content)
            os.chown(path, UID, UID)
        cls.node.start_agent(*args)
        wait_until("the next agent", lambda: cls.node.ready() and "output" in cls.node.status()
                   and "started" in cls.node.agent.log())
        wait_until("its server", lambda: cls.answers())
        return run

    @classmethod
    def answers(cls):
        try:
            return Output(cls.node).request("fetch")[0].status == 401
        except OSError:
            return False

    @classmethod
    def kept_dir(cls):
        return os.path.join(cls.node.spool, "output")

    def refused(self, code, reason, said, *args, **kwargs):
        answer, body = self.output.request(*args, **kwargs)
        status = json.loads(body)
        self.assertEqual((answer.status, status["code"], status["reason"], status["kind"]),
                         (code, code, reason, "Status"))
        self.assertIn(said, status["message"])
        return status["message"]

    def audited(self, resource):
        return [event for event in self.cluster.plane.audit_events()
                if event.get("objectRef", {}).get("resource") == resource
                and event["stage"] == "ResponseComplete"]


class TestReading(OutputCase):
    def test_it_is_read_intact(self):
        answer, body = self.output.request("fetch", self.token)
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Content-Length"], str(len(STDOUT)))
        self.assertEqual(answer.headers["Content-Type"], "application/octet-stream")
        self.assertTrue(body == STDOUT)
        self.assertEqual(self.output.request("fetch", self.token, query="?stream=stderr")[1],
                         STDERR)

    def test_head(self):
        answer, body = self.output.request("fetch", self.token, method="HEAD")
        self.assertEqual((answer.status, body), (200, b""))
        self.assertEqual(answer.headers["Content-Length"], str(len(STDOUT)))

    def test_by_the_lines_of_the_readme(self):
        lines = console_lines(os.path.join(ROOT, "README.md"), "kubectl create token")
        environment = self.cluster.plane.environment()
        kubectl = os.path.dirname(self.cluster.plane.program("kubectl"))
        environment["PATH"] = f"{kubectl}:{environment['PATH']}"
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run(["bash", "-euc", lines], cwd=directory, env=environment,
                                  text=True, capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            with open(os.path.join(directory, "fetch.stdout"), "rb") as file:
                self.assertTrue(file.read() == STDOUT)

    def test_the_certificate_is_the_published_one(self):
        for name in ("localhost", "node-a", "127.0.0.1"):
            self.assertEqual(self.output.request("fetch", self.token, server_name=name)[0].status,
                             200)
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.output.request("fetch", self.token, server_name="elsewhere.example")
        with open(self.cluster.plane.ca_file, encoding="ascii") as file:
            with self.assertRaises(ssl.SSLCertVerificationError):
                self.output.request("fetch", self.token, certificate=file.read())

    def test_no_token(self):
        self.refused(401, "Unauthorized", "kubectl create token", "fetch")

    def test_a_token_of_the_api_server(self):
        """It isn't even shown to the API server."""
        before = len(self.audited("tokenreviews"))
        for token in (self.create_token("reader", audience=None),
                      self.create_token("reader", audience="elsewhere"),
                      self.create_token("reader", "--audience=https://kubernetes.default.svc")):
            self.refused(401, "Unauthorized", "audience", "fetch", token)
        self.assertEqual(len(self.audited("tokenreviews")), before)
        with open(self.node.agent.log_path, encoding="utf-8") as log:
            self.assertNotIn(token, log.read())

    def test_a_user_without_the_right(self):
        stranger = self.create_token("stranger")
        there = self.refused(403, "Forbidden", "sandboxruns/log", "fetch", stranger)
        absent = self.refused(403, "Forbidden", "sandboxruns/log", "absent", stranger)
        self.assertEqual(there.replace("fetch", "absent"), absent)
        self.assertIn("system:serviceaccount:default:stranger", there)

    def test_another_namespace(self):
        self.refused(403, "Forbidden", 'in the namespace "other"', "fetch", self.token,
                     namespace="other")

    def test_get_of_runs_is_not_enough(self):
        self.cluster.kubectl("create", "role", "runs", "-n", "default", "--verb=get,list",
                             "--resource=sandboxruns.sandboxrun.dev")
        self.cluster.kubectl("create", "rolebinding", "runs", "-n", "default", "--role=runs",
                             "--serviceaccount=default:stranger")
        self.refused(403, "Forbidden", "sandboxruns/log", "fetch", self.create_token("stranger"))

    def test_a_run_that_is_not_kept(self):
        self.refused(404, "NotFound", "node node-a keeps no output of sandboxrun default/absent",
                     "absent", self.token)

    def forged(self, **changes):
        """The reader's token with other claims, signed by whoever has the API server's key."""
        key, = (os.path.join(top, ISSUER_KEY)
                for top, _, names in os.walk(self.cluster.plane.dir) if ISSUER_KEY in names)
        head, claims, _ = self.token.split(".")
        self.assertEqual(json.loads(decode(head))["alg"], "ES256")
        text = f"{head}.{encode(json.dumps(json.loads(decode(claims)) | changes).encode())}"
        der = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=text.encode(),
                             capture_output=True, check=True).stdout
        return f"{text}.{encode(raw_signature(der))}"

    def test_an_expired_token(self):
        now = int(time.time())
        # What is forged here is good but for its time.
        self.assertEqual(self.output.request("fetch", self.forged(exp=now + 900))[0].status, 200)
        self.refused(401, "Unauthorized", "not valid", "fetch",
                     self.forged(iat=now - 7200, nbf=now - 7200, exp=now - 3600))

    def test_a_token_whose_signature_is_wrong(self):
        head, claims, signature = self.token.split(".")
        self.refused(401, "Unauthorized", "not valid", "fetch",
                     f"{head}.{claims}.{signature[::-1]}")

    def test_a_user_who_is_gone(self):
        self.cluster.kubectl("create", "serviceaccount", "leaver", "-n", "default")
        self.cluster.kubectl("create", "rolebinding", "leaver", "-n", "default",
                             "--clusterrole=view", "--serviceaccount=default:leaver")
        token = self.create_token("leaver")
        self.assertEqual(self.output.request("fetch", token)[0].status, 200)
        self.cluster.kubectl("delete", "rolebinding", "leaver", "-n", "default")
        wait_until("the right to be gone",
                   lambda: self.output.request("fetch", token)[0].status == 403)
        self.cluster.kubectl("delete", "serviceaccount", "leaver", "-n", "default")
        wait_until("the token to be worthless",
                   lambda: self.output.request("fetch", token)[0].status == 401)

    def test_the_agent_s_own_token_reads_nothing(self):
        token = self.cluster.kubectl("create", "token", "sandboxrun-agent", "-n", NAMESPACE,
                                     f"--audience={AUDIENCE}").stdout.strip()
        self.refused(403, "Forbidden", "sandboxrun-agent", "fetch", token)


class TestKeeping(OutputCase):
    """What becomes of what is kept."""

    def status(self, run):
        return Output(self.node).request(run, self.token)[0].status

    def files(self):
        return sorted(os.listdir(self.kept_dir()))

    def test_1_an_agent_that_restarts_keeps_it(self):
        self.restart_agent()
        again = Output(self.node)
        self.assertNotEqual(again.certificate, self.output.certificate)
        self.assertTrue(again.request("fetch", self.token)[1] == STDOUT)

    def test_2_it_goes_with_the_object(self):
        self.restart_with_kept("doomed")
        self.assertEqual(self.status("doomed"), 200)
        self.cluster.delete("doomed")
        wait_until("its output to be gone", lambda: self.status("doomed") == 404)
        self.assertEqual(self.status("fetch"), 200)
        self.assertEqual(len(self.files()), 3)

    def test_3_it_goes_with_an_object_that_is_deleted_while_no_agent_looks(self):
        self.restart_with_kept("unseen")
        self.node.agent.stop()
        self.cluster.delete("unseen")
        wait_until("the object to be gone", lambda: self.cluster.get("unseen") is None)
        before = self.node.status()["instance"]
        self.node.start_agent()
        wait_until("the next agent", lambda: self.node.ready()
                   and self.node.status()["instance"] != before)
        wait_until("its output to be gone", lambda: self.status("unseen") == 404)
        self.assertEqual(self.status("fetch"), 200)

    def test_4_it_goes_when_its_time_is_over(self):
        self.restart_with_kept("brief", "--retain-output", "65s", age_s=55)
        self.assertEqual(self.status("brief"), 200)
        wait_until("its output to be gone", lambda: self.status("brief") == 404, timeout=20)

    def test_5_what_it_was_told_to_keep_no_longer_is_gone(self):
        self.restart_agent("--retain-output", "1s")
        self.assertEqual(self.status("fetch"), 404)
        self.assertEqual(self.files(), [])

    def test_6_nothing_is_kept_nor_served(self):
        self.restart_agent("--retain-output", "0")
        self.assertNotIn("output", self.node.status())
        self.restart_agent("--output-address", "")
        self.assertNotIn("output", self.node.status())

    def test_7_by_a_certificate_that_the_operator_gave(self):
        paths = [os.path.join(self.node.dir, name) for name in ("tls.crt", "tls.key")]
        make_certificate(*paths)
        for path in paths:
            os.chown(path, UID, UID)
        self.restart_agent("--output-cert", paths[0], "--output-key", paths[1])
        with open(paths[0], encoding="ascii") as file:
            first = file.read()
        self.assertEqual(self.node.status()["output"]["certificate"], first)
        self.assertEqual(self.status("absent"), 404)
        # Renewed while it runs.
        make_certificate(*[path + ".new" for path in paths])
        for path in paths:
            os.chown(path + ".new", UID, UID)
            os.replace(path + ".new", path)
        wait_until("the new certificate",
                   lambda: self.node.status()["output"]["certificate"] != first, timeout=30)
        self.assertEqual(self.status("absent"), 404)
        with self.assertRaises(ssl.SSLCertVerificationError):
            Output(self.node).request("absent", self.token, certificate=first)


class ToolCallNode(Node):
    """Its jailer and resolver have a network of their own, as in a Pod; nothing is behind it."""

    def start_jailer(self):
        self.apart = Namespace()
        resolver_socket = os.path.join(self.dir, "resolver.sock")
        self.apart.ip("link set lo up\n")
        self.jailer = Process(
            f"{self.name}-jailer",
            self.apart.enter(
                self.cluster.program("sandboxrun-jailer"), "--socket", self.socket,
                "--peer-uid", str(UID), "--runtimes-dir", RUNTIMES, "--spool-dir", self.spool,
                "--resolver-socket", resolver_socket, "--resolver-uid", str(RESOLVER_UID),
                "--slots", "2", *self.jailer_args),
            self.cluster.dir)
        wait_until(f"the jailer's socket of {self.name}", self.check_jailer)
        self.resolver = start_resolver(f"{self.name}-resolver", self.cluster.dir, resolver_socket,
                                       network=self.apart.pid)

    def stop(self):
        super().stop()
        self.resolver.stop()
        self.apart.close()


class TestToolCall(unittest.TestCase):
    """Of a run itself: what it writes is what is read."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(lambda: cls.cluster.stop())
        cls.cluster.start(nodes=())
        cls.node = ToolCallNode(cls.cluster, "node-a")
        cls.cluster.nodes.append(cls.node)
        cls.node.start()
        wait_until("ToolCall to be offered",
                   lambda: "ToolCall" in cls.node.status().get("profiles", []))
        kubectl = cls.cluster.kubectl
        kubectl("label", "namespace", "default", "sandboxrun.dev/toolcall=allowed")
        kubectl("create", "serviceaccount", "reader", "-n", "default")
        kubectl("create", "rolebinding", "reader", "-n", "default", "--clusterrole=view",
                "--serviceaccount=default:reader")
        cls.token = kubectl("create", "token", "reader", "-n", "default",
                            f"--audience={AUDIENCE}").stdout.strip()

    def finish(self, name, code, profile="ToolCall", **spec):
        self.cluster.create(run_document(name, code, profile=profile, **spec))
        status = self.cluster.wait_finished(name)["status"]
        self.assertNotIn(status["reason"], ("SandboxSetupFailed", "InternalError"), status)
        return status

    def read(self, name, stream="stdout"):
        answer, body = Output(self.node).request(name, self.token, query=f"?stream={stream}")
        self.assertEqual(answer.status, 200, body)
        return body

    def test_5_mib_of_bytes(self):
        status = self.finish("fetch", "import sys\n"
                             "sys.stdout.buffer.write(bytes(range(256)) * (5 * 4096))\n"
                             "sys.stderr.buffer.write(b'oh\\n')\n")
        self.assertEqual((status["reason"], status["stdoutBytes"]), ("Completed", len(STDOUT)))
        self.assertTrue(status["stdoutTruncated"])
        self.assertTrue(self.read("fetch") == STDOUT)
        self.assertEqual(self.read("fetch", "stderr"), b"oh\n")

    def test_beyond_8_mib_the_first_are_kept(self):
        status = self.finish("flood", "import sys\nsys.stderr.write('e' * 100)\n"
                             "sys.stderr.flush()\nimport time; time.sleep(0.2)\n"
                             "sys.stdout.write('x' * (9 << 20))\n")
        self.assertEqual(status["stdoutBytes"], 9 << 20)
        self.assertEqual(self.read("flood", "stderr"), b"e" * 100)
        self.assertTrue(self.read("flood") == b"x" * ((8 << 20) - 100))

    def test_a_run_that_was_killed(self):
        status = self.finish("killed", "print('so far', flush=True)\nwhile True:\n    pass\n",
                             timeoutSeconds=1)
        self.assertEqual(status["reason"], "DeadlineExceeded")
        self.assertEqual(self.read("killed"), b"so far\n")

    def test_of_a_snippet_nothing_is_kept(self):
        self.finish("snippet", "print(1)", profile="Snippet")
        answer, _ = Output(self.node).request("snippet", self.token)
        self.assertEqual(answer.status, 404)

    def test_a_mebibyte_of_request_and_a_byte_more(self):
        code = "#" * ((1 << 20) - 10) + "\nprint(1)\n"
        self.assertEqual(self.finish("full", code)["stdout"], "1\n")
        for more in ({"code": "#" + code}, {"code": code, "args": ["x"]},
                     {"code": code, "stdin": "x"}):
            document = run_document("over", "", profile="ToolCall")
            document["spec"].update(more)
            refused = self.cluster.kubectl("create", "-f", "-", check=False,
                                           input=json.dumps(document))
            self.assertNotEqual(refused.returncode, 0)
            self.assertRegex(refused.stderr, "1048576|1 MiB")


def make_certificate(certificate, key):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=output",
                    "-addext", "subjectAltName=DNS:localhost", "-out", certificate, "-keyout", key],
                   check=True, capture_output=True)


def encode(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def raw_signature(der):
    """Two numbers of 32 bytes each (RFC 7518), from the sequence of two numbers in DER."""
    numbers, at = [], 2
    for _ in range(2):
        end = at + 2 + der[at + 1]
        numbers.append(int.from_bytes(der[at + 2:end], "big").to_bytes(32, "big"))
        at = end
    return b"".join(numbers)
