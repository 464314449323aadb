# SPDX-License-Identifier: Apache-2.0
"""hack/make-runtime.sh as other scripts and people call it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TIMEOUT_SECONDS = 240


class MakeRuntimeTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="sandboxrun-make-")
        self.addCleanup(scratch.cleanup)
        self.output = scratch.name
        self.runtime = pathlib.Path(self.output, "python3.12")

    def make(self, *options):
        return subprocess.run(
            [ROOT / "hack/make-runtime.sh", "--output", self.output, *options],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)

    def made(self, *options):
        done = self.make(*options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def refused(self, status, words, *options):
        done = self.make(*options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertFalse(self.runtime.exists())

    def test_choices_outlive_a_call_without_any(self):
        self.made("--python", sys.executable, "--with-tests")
        marker = self.runtime / "usr/lib/sandboxrun/version"
        inode = marker.stat().st_ino
        said = self.made()
        self.assertIn(f"note: made with --python {sys.executable} --with-tests", said)
        self.assertIn("is up to date", said)
        self.assertEqual(marker.stat().st_ino, inode)

    def test_bad_options(self):
        self.refused(2, "unknown argument '--pyton'", "--pyton", "x")
        self.refused(2, "--python needs a value", "--python")
        self.refused(2, "--with needs a package", "--with")
        self.refused(2, "can't be a runtime's name", "--name", "../x")
        self.refused(1, "no interpreter at /nonexistent", "--python", "/nonexistent")


if __name__ == "__main__":
    unittest.main()
