# SPDX-License-Identifier: Apache-2.0
"""Names in a sandbox: they work out of the box, and by the node's resolver alone."""

from case import EgressTest
from helpers import internet as net

LOOKUP = """
import json, socket, sys, time
results = []
for name in sys.argv[1:]:
    begin = time.monotonic()
    try:
        found = sorted({entry[4][0] for entry in socket.getaddrinfo(name, 443)})
    except OSError as error:
        found = type(error).__name__
    results.append([found, (time.monotonic() - begin) * 1000])
print(json.dumps(results))
"""

# Questions by hand: to the name server of /etc/resolv.conf and to those of the world.
DIRECT = """
import errno, json, socket, sys, time
question = bytes.fromhex("123401000001000000000000" "03777777076578616d706c6503636f6d0000010001")
results = {}
for kind in ("udp", "tcp"):
    for server in sys.argv[1:]:
        family = socket.AF_INET6 if ":" in server else socket.AF_INET
        begin = time.monotonic()
        try:
            kinds = {"udp": socket.SOCK_DGRAM, "tcp": socket.SOCK_STREAM}
            with socket.socket(family, kinds[kind]) as sock:
                sock.settimeout(2)
                sock.connect((server, 53))
                data = question if kind == "udp" else len(question).to_bytes(2, "big") + question
                sock.send(data)
                answer = sock.recv(512)
                outcome = "answer" if answer else "closed"
        except OSError as error:
            outcome = errno.errorcode.get(error.errno, type(error).__name__)
        results[f"{kind} {server}"] = [outcome, (time.monotonic() - begin) * 1000]
print(json.dumps(results))
"""

CONFIGURED = """
import json
with open("/etc/resolv.conf") as file:
    print(json.dumps(file.read()))
"""


class TestNames(EgressTest):
    def setUp(self):
        self.internet.forget()

    def lookup(self, *names, **options):
        return self.node.run_json(LOOKUP, args=names, **options)

    def test_out_of_the_box(self):
        (found, _), = self.lookup("www.example.com")
        self.assertEqual(found, sorted([net.WEB4, net.WEB6]))
        asked = self.internet.questions()
        self.assertEqual({(name, kind) for name, kind, *_ in asked},
                         {("www.example.com", "A"), ("www.example.com", "AAAA")})
        self.assertEqual({server for *_, server in asked}, {net.DNS4})
        self.assertLessEqual({client for *_, client, _ in asked}, {net.NODE4, net.NODE_PUBLIC4})

    def test_no_search_domains(self):
        (found, _), = self.lookup("kubernetes")
        self.assertEqual(found, "gaierror")
        self.assertLessEqual({name for name, *_ in self.internet.questions()}, {"kubernetes"})

    def test_configuration(self):
        lines = self.node.run_json(CONFIGURED).splitlines()
        servers = [line.split()[1] for line in lines if line.startswith("nameserver")]
        self.assertEqual(len(servers), 1)
        self.assertTrue(servers[0].startswith("198.19."), servers)
        self.assertFalse([line for line in lines
                          if line.startswith("search") and line.split()[1:] != ["."]])

    def test_direct_questions_are_refused(self):
        servers = ["8.8.8.8", "1.1.1.1", net.DNS4, "2001:4860:4860::8888", net.NODE4,
                   net.NODE_PUBLIC4, "127.0.0.53"]
        for _ in range(3):
            results = self.node.run_json(DIRECT, args=servers)
            if all(took <= 50 for _, took in results.values()):
                break
        for what, (outcome, took) in results.items():
            with self.subTest(what):
                self.assertEqual(outcome, "ECONNREFUSED")
                self.assertLessEqual(took, 50)
        self.assertEqual(self.internet.questions(), [])

    def test_over_both_protocols(self):
        code = CONFIGURED.replace("print(json.dumps(file.read()))",
                                  "server = file.read().split()[1]") + DIRECT.replace(
                                      "sys.argv[1:]", "[server]")
        results = self.node.run_json(code)
        self.assertEqual({what.split()[0]: outcome for what, (outcome, _) in results.items()},
                         {"udp": "answer", "tcp": "answer"})

    def test_long_answers_come_over_tcp(self):
        many = [f"198.41.{number}.4" for number in range(1, 13)]
        self.internet.script("many.example.net", "A", [
            {"records": [["many.example.net", "A", 60, address] for address in many],
             "truncated": "udp"}])
        self.internet.script("many.example.net", "AAAA", [{}])
        (found, _), = self.lookup("many.example.net")
        self.assertEqual(set(found), set(many))
        self.assertIn("tcp", {transport for _, _, transport, *_ in self.internet.questions()})

    def test_servers_that_lie(self):
        """The true answer comes behind the lie: only that one counts."""
        for lie in ("id", "question", "query", "port"):
            name = f"{lie}.lies.example.net"
            truth = {"records": [[name, "A", 60, net.WEB4]]}
            self.internet.script(name, "A", [
                {"records": [[name, "A", 60, "6.6.6.6"]], "lie": lie,
                 "twice": truth | {"delay": 0.05}}])
            self.internet.script(name, "AAAA", [{}])
            with self.subTest(lie=lie):
                (found, _), = self.lookup(name)
                self.assertEqual(found, [net.WEB4])

    def test_answers_that_are_broken(self):
        for lie in ("garbage", "loop", "short", "count"):
            name = f"{lie}.broken.example.net"
            self.internet.script(name, "A", [{"records": [[name, "A", 60, "6.6.6.6"]], "lie": lie}])
            self.internet.script(name, "AAAA", [{"lie": lie}])
            with self.subTest(lie=lie):
                (found, took), = self.lookup(name)
                self.assertEqual(found, "gaierror")
                self.assertLess(took, 20_000)
        (found, _), = self.lookup("www.example.com")
        self.assertIn(net.WEB4, found)

    def test_a_server_that_is_silent_or_slow(self):
        self.internet.script("silent.example.net", "A", [{"delay": "never"}])
        self.internet.script("silent.example.net", "AAAA", [{"delay": "never"}])
        self.internet.script("slow.example.net", "A", [
            {"delay": 0.3, "records": [["slow.example.net", "A", 60, net.WEB4]]}])
        self.internet.script("slow.example.net", "AAAA", [{}])
        (slow, _), = self.lookup("slow.example.net")
        self.assertEqual(slow, [net.WEB4])
        (silent, took), = self.lookup("silent.example.net")
        self.assertEqual(silent, "gaierror")
        self.assertLess(took, 20_000)

    def test_a_long_chain_of_names(self):
        chain = [[f"c{n}.example.net", "CNAME", 60, f"c{n + 1}.example.net"] for n in range(30)]
        self.internet.script("c0.example.net", "A", [
            {"records": chain + [["c30.example.net", "A", 60, net.WEB4]]}])
        self.internet.script("c0.example.net", "AAAA", [{}])
        short = [["s0.example.net", "CNAME", 60, "s1.example.net"],
                 ["s1.example.net", "CNAME", 60, "s2.example.net"],
                 ["s2.example.net", "A", 60, net.WEB4]]
        self.internet.script("s0.example.net", "A", [{"records": short}])
        self.internet.script("s0.example.net", "AAAA", [{"records": short[:2]}])
        found = self.lookup("s0.example.net", "c0.example.net")
        self.assertEqual(found[0][0], [net.WEB4])
        self.assertEqual(found[1][0], "gaierror")
