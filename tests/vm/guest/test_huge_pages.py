# SPDX-License-Identifier: Apache-2.0
"""The node's pool of huge pages counts against no cgroup of a run: a sandbox gets none of it."""

import mmap
import unittest

from helpers.local import run_json

POOL = "/proc/sys/vm/nr_hugepages"
PAGES = 4
MAP_HUGETLB = 0x40000

TAKE = f"""
import json, mmap
try:
    held = mmap.mmap(-1, {PAGES} << 21, flags={MAP_HUGETLB | mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS})
    held[::1 << 21] = b"x" * {PAGES}
    print(json.dumps("taken"))
except OSError as error:
    print(json.dumps(error.errno))
"""


def taken():
    """Pages of the pool that are in use or promised."""
    with open("/proc/meminfo", encoding="ascii") as file:
        found = dict(line.split(":", 1) for line in file)
    total, free, promised = (int(found["HugePages_" + name]) for name in ("Total", "Free", "Rsvd"))
    return total - free + promised


class TestHugePages(unittest.TestCase):
    def setUp(self):
        self.addCleanup(self.write, "0")
        self.write(str(PAGES))
        with open(POOL, encoding="ascii") as file:
            if int(file.read()) < PAGES:
                self.skipTest("no memory in one piece for huge pages")

    @staticmethod
    def write(text):
        with open(POOL, "w", encoding="ascii") as file:
            file.write(text)

    def test_others_get_them(self):
        with mmap.mmap(-1, PAGES << 21, flags=MAP_HUGETLB | mmap.MAP_PRIVATE) as held:
            held[0] = 1
            self.assertEqual(taken(), PAGES)
        self.assertEqual(taken(), 0)

    def test_a_sandbox_gets_none(self):
        self.assertIn(run_json(TAKE), (1, 22, 38))
        self.assertEqual(taken(), 0)


if __name__ == "__main__":
    unittest.main()
