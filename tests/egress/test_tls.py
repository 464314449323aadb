# SPDX-License-Identifier: Apache-2.0
"""Real clients in a sandbox: HTTP and HTTPS over both families, and much of it."""

import hashlib
import sys

from case import EgressTest
from helpers import internet as net

sys.path.insert(0, net.HERE)
from internet_world import PATTERN, pattern_digest  # noqa: E402

MIB = 1 << 20

GET = """
import json, os, ssl, sys, urllib.request
with open("/tmp/ca.pem", "w") as file:
    file.write(sys.stdin.read())
os.environ["SSL_CERT_FILE"] = "/tmp/ca.pem"
print(json.dumps([json.loads(urllib.request.urlopen(url, timeout=10).read())
                  for url in sys.argv[1:]]))
"""

WRONG = """
import json, sys, urllib.error, urllib.request
try:
    urllib.request.urlopen(sys.argv[1], timeout=10)
    print(json.dumps("it was believed"))
except urllib.error.URLError as error:
    print(json.dumps(type(error.reason).__name__))
"""

DOWNLOAD = """
import hashlib, json, ssl, sys, urllib.request
context = ssl.create_default_context(cadata=sys.stdin.read())
results = []
for url in sys.argv[1:]:
    digest, count = hashlib.sha256(), 0
    with urllib.request.urlopen(url, timeout=30, context=context) as answer:
        while data := answer.read(1 << 20):
            digest.update(data)
            count += len(data)
    results.append([count, digest.hexdigest()])
print(json.dumps(results))
"""

UPLOAD = """
import json, ssl, sys, urllib.request
context = ssl.create_default_context(cadata=sys.stdin.read())
pattern = bytes((i * 7 + (i >> 8) * 13 + (i >> 16)) & 0xFF for i in range(1 << 20))
request = urllib.request.Request(sys.argv[1], data=pattern * 20, method="POST")
print(json.dumps(json.loads(urllib.request.urlopen(request, timeout=30, context=context).read())))
"""

REQUESTS = """
import json, sys
with open("/tmp/ca.pem", "w") as file:
    file.write(sys.stdin.read())
try:
    import requests
except ImportError:
    print(json.dumps("absent"))
else:
    print(json.dumps(requests.get(sys.argv[1], verify="/tmp/ca.pem", timeout=10).json()))
"""


class TestClients(EgressTest):
    def test_urllib(self):
        answers = self.node.run_json(GET, stdin=self.internet.ca, args=[
            "https://www.example.com/", f"https://[{net.WEB6}]/", f"https://{net.WEB4}/",
            "http://www.example.com/", "https://api.example.org/x", f"http://[{net.OTHER6}]/"])
        self.assertEqual([answer["port"] for answer in answers], [443, 443, 443, 80, 443, 80])
        self.assertIn(answers[0]["address"], (net.WEB4, net.WEB6))
        self.assertEqual(answers[1]["address"], net.WEB6)
        self.assertEqual(answers[2]["address"], net.WEB4)
        self.assertEqual(answers[4]["host"], "api.example.org")
        # They come from the node's addresses, none from a slot's.
        self.assertLessEqual({answer["client"] for answer in answers},
                             {net.NODE4, net.NODE6, net.NODE_PUBLIC4, net.NODE_PUBLIC6})

    def test_requests_if_the_runtime_has_it(self):
        answer = self.node.run_json(REQUESTS, stdin=self.internet.ca,
                                    args=["https://www.example.com/"])
        if answer != "absent":
            self.assertEqual(answer["host"], "www.example.com")

    def test_a_certificate_nobody_knows(self):
        self.assertEqual(self.node.run_json(WRONG, args=["https://www.example.com/"]),
                         "SSLCertVerificationError")

    def test_a_large_download_is_intact(self):
        count = 100 * MIB
        answers = self.node.run_json(DOWNLOAD, stdin=self.internet.ca, args=[
            f"https://www.example.com/bytes?count={count}",
            f"https://[{net.WEB6}]/bytes?count={20 * MIB}",
            f"http://{net.WEB4}/bytes?count={20 * MIB}"])
        self.assertEqual(answers, [[count, pattern_digest(count)]] +
                         [[20 * MIB, pattern_digest(20 * MIB)]] * 2)

    def test_a_large_upload_is_intact(self):
        answer = self.node.run_json(UPLOAD, stdin=self.internet.ca,
                                    args=["https://www.example.com/digest"])
        self.assertEqual(answer["sha256"], hashlib.sha256(PATTERN * 20).hexdigest())
