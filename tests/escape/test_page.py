# SPDX-License-Identifier: Apache-2.0
"""docs/escape-attempts.md is what the attempts say."""

import unittest

import corpus
import page


class TestPage(unittest.TestCase):
    def test_it_is_current(self):
        self.assertTrue(page.is_current(page.render()),
                        "docs/escape-attempts.md is stale: run tests/escape/page.py")

    def test_a_changed_attempt_is_seen(self):
        text = page.render()
        tries = corpus.load_family("mounts")[0].head["tries"]
        self.assertIn(tries, text)
        self.assertFalse(page.is_current(text.replace(tries, "something else")))

    def test_every_attempt_is_in_it_once(self):
        text = page.render()
        for attempts in corpus.load().values():
            for attempt in attempts:
                self.assertEqual(text.count(f"/{attempt.id}.py)"), 1, attempt.id)


if __name__ == "__main__":
    unittest.main()
