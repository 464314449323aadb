# SPDX-License-Identifier: Apache-2.0
"""Sandboxes that wait have nothing in common that a program could see: what is drawn by chance
differs from each to each."""

import collections
import json
import unittest

from helpers.cgroup_tree import parent_is_gone, sandboxes_below
from helpers.local import EMULATED, FULL, need_root
from warm import PARENT, gated_jailer

CHILDREN = 1000 if FULL else 10 if EMULATED else 60

# Every source of chance that programs use. A library that the runtime lacks draws nothing.
DRAW = """
import json, os, random, secrets, tempfile, uuid
drawn = {
    "os.urandom": os.urandom(16).hex(), "os.getrandom": os.getrandom(16).hex(),
    "random": [random.random(), random.getrandbits(64), random.sample(range(1 << 40), 2)],
    "random.Random": random.Random().random(), "random.SystemRandom": random.SystemRandom().random(),
    "secrets": secrets.token_hex(16), "uuid4": str(uuid.uuid4()), "uuid1": str(uuid.uuid1()),
    "tempfile": tempfile.mkdtemp(),
}
with open("/dev/urandom", "rb") as file:
    drawn["/dev/urandom"] = file.read(16).hex()
try:
    import ssl
    drawn["ssl"] = ssl.RAND_bytes(16).hex()
except ImportError:
    pass
try:
    import numpy
    drawn["numpy.random"] = numpy.random.random()
    drawn["numpy.default_rng"] = numpy.random.default_rng().random()
except ImportError:
    pass
print(json.dumps(drawn))
"""

# What each program has afresh, and what is forked has as its template has it (SECURITY.md).
OF_THE_IMAGE = "print(hash('a string'), id(object()))"


def setUpModule():
    need_root()


def tearDownModule():
    assert parent_is_gone(PARENT), sandboxes_below(PARENT)


class TestChance(unittest.TestCase):
    def test_all_draw_different_values(self):
        seen = collections.defaultdict(collections.Counter)
        with gated_jailer() as jailer:
            for _ in range(CHILDREN):
                result = jailer.run(DRAW)
                self.assertEqual(result.stderr, b"")
                for source, value in json.loads(result.stdout).items():
                    seen[source][json.dumps(value)] += 1
        self.assertGreaterEqual(len(seen), 10)
        for source, values in seen.items():
            with self.subTest(source):
                self.assertEqual(sum(values.values()), CHILDREN)
                self.assertEqual([value for value, count in values.items() if count > 1], [])

    def test_children_of_a_run_draw_apart_as_well(self):
        """As outside: a program that forks has children that draw on their own."""
        with gated_jailer() as jailer:
            result = jailer.run(
                "import os, random, secrets, ssl, uuid\n"
                "for _ in range(8):\n"
                "    if os.fork() == 0:\n"
                "        os.write(1, f'{random.random()} {secrets.token_hex(8)} {uuid.uuid4()} '\n"
                "                 f'{ssl.RAND_bytes(8).hex()} {hash(\"x\")}\\n'.encode())\n"
                "        os._exit(0)\n"
                "    os.wait()\n")
            drawn = [line.split() for line in result.stdout.decode().splitlines()]
            self.assertEqual(len(drawn), 8, result)
            for column in list(zip(*drawn, strict=True))[:-1]:
                self.assertEqual(len(set(column)), 8, column)


class TestImage(unittest.TestCase):
    def test_a_new_interpreter_has_secrets_of_its_own(self):
        with gated_jailer() as jailer:
            lines = [jailer.run(OF_THE_IMAGE).stdout.split() for _ in range(8)]
        for column in zip(*lines, strict=True):
            self.assertEqual(len(set(column)), len(lines), column)


if __name__ == "__main__":
    unittest.main()
