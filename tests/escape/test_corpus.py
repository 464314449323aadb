# SPDX-License-Identifier: Apache-2.0
"""The files of the corpus themselves."""

import os
import re
import unittest

import corpus


class TestCorpus(unittest.TestCase):
    def test_there_are_enough(self):
        by_hand = sum(map(len, corpus.load().values()))
        self.assertGreaterEqual(by_hand, 300)

    def test_every_family_has_its_directory_and_no_other_is_there(self):
        found = {name for name in os.listdir(corpus.HERE)
                 if os.path.isdir(os.path.join(corpus.HERE, name)) and name not in
                 ("__pycache__", "numbers")}
        self.assertEqual(found, {family for family, _, _ in corpus.FAMILIES})

    def test_every_attempt_is_told_apart(self):
        """Two attempts with the same text, or that say that they try the same, are one."""
        def code(attempt):
            return [line for line in attempt.text.split("\n") if line and line[0] != "#"]
        for part in (lambda a: a.head["tries"], lambda a: "\n".join(code(a))):
            seen = {}
            for attempts in corpus.load().values():
                for attempt in attempts:
                    other = seen.setdefault(part(attempt), attempt)
                    self.assertIs(other, attempt, f"{other.id} and {attempt.id}")

    def test_every_attempt_can_fail(self):
        """It has a way to say that it got through or found things other than they must be, or
        the platform must bring its end, or the host looks at it from another side."""
        can = re.compile(r"\b(through|trying|each|reading|writing|dies|signalled|SystemExit)\(")
        for attempts in corpus.load().values():
            for attempt in attempts:
                elsewhere = set(attempt.expect) & set(corpus.REASONS) or attempt.host
                self.assertTrue(elsewhere or can.search(attempt.text), attempt.id)

    def test_what_is_expected_otherwise_as_toolcall_is_something_else(self):
        for attempts in corpus.load(corpus.TOOL_CALL).values():
            for attempt in attempts:
                if "toolcall" in attempt.head:
                    self.assertNotEqual(attempt.expect, attempt.expected_as(corpus.SNIPPET))

    def test_every_word_of_an_expectation_is_used(self):
        used = {word for attempts in corpus.load().values() for attempt in attempts
                for word in attempt.expect}
        self.assertLessEqual({*corpus.WORDS, *corpus.REASONS}, used)

    def test_published_holes_are_all_there(self):
        sources = set()
        for attempt in corpus.load_family("known-holes"):
            sources |= set(attempt.head.get("source", "").replace(",", " ").split())
        # E9 and E10 are about what is installed and about the speed of arm64.
        wanted = {f"S{number}" for number in range(1, 13)} | {f"E{n}" for n in range(1, 9)}
        self.assertLessEqual(wanted, sources)


if __name__ == "__main__":
    unittest.main()
