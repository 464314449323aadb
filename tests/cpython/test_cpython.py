# SPDX-License-Identifier: Apache-2.0
"""CPython's own tests in a sandbox, the fast ones of those that ask most of the kernel: run.sh."""

import json
import os
import pathlib
import subprocess
import sys
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compare  # noqa: E402
import plan  # noqa: E402
import program  # noqa: E402

TIMEOUT_SECONDS = 1200


def outcome(*passed, planned=(), running=None, fixture=None, status=0):
    tests = {name: ("passed", 0.1, "") for name in passed}
    return types.SimpleNamespace(tests=tests, planned=[*passed, *planned], running=running,
                                 fixture=fixture, status=status)


class CompareTest(unittest.TestCase):
    TABLE = "# about the table\n[no pipes\n in here]\ntest.test_a.C.one\n\n[other]\ntest_b\n"

    def test_table(self):
        self.assertEqual(compare.parse_table(self.TABLE),
                         {"test.test_a.C.one": "no pipes in here", "test_b": "other"})

    def test_wrong_tables(self):
        for text in ("test_a\n", "[]\ntest_a\n", "[x]\ntest_a\ntest_a\n", "[x\ntest_a\n"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                compare.parse_table(text)

    def test_names(self):
        self.assertEqual(compare.key("test_a", "test.test_a.C.m"), "test.test_a.C.m")
        self.assertEqual(compare.key("test_a", "test.test_b.C.m"), "test_a:test.test_b.C.m")
        self.assertTrue(compare.covers("test_a", "test.test_a.C.m"))
        self.assertTrue(compare.covers("test_a", "test_a:test.test_b.C.m"))
        self.assertTrue(compare.covers("test.test_a.C", "test.test_a.C.m"))
        self.assertFalse(compare.covers("test.test_a.C", "test.test_a.CC.m"))
        self.assertFalse(compare.covers("test_a", "test.test_ab.C.m"))

    def test_differences(self):
        inside = {"a": ("passed",), "b": ("failed",), "c": ("skipped",), "d": ("expected",)}
        outside = {"a": ("expected",), "b": ("passed",), "e": ("passed",), "c": ("failed",)}
        self.assertEqual(compare.differences(inside, outside),
                         {"b": "outside", "d": "inside", "e": "outside"})

    def test_verdict(self):
        table = {"test_a": "why", "test.test_a.C.m": "that is why", "test_b": "never",
                 "test_elsewhere": "not run"}
        found = {"test.test_a.C.m": "inside", "test.test_a.C.n": "inside", "test.test_c.C.m": "x"}
        explained, unexplained, stale = compare.judge(found, table, ["test_a", "test_b", "test_c"])
        self.assertEqual(explained, {"test.test_a.C.m": "that is why", "test.test_a.C.n": "why"})
        self.assertEqual(unexplained, ["test.test_c.C.m"])
        self.assertEqual(stale, ["test_b"])


class PlanTest(unittest.TestCase):
    def test_short_file_stays_whole(self):
        self.assertEqual(plan.items_of_file("f", [("a", 1), ("b", 1)], 3),
                         [(plan.make_item("f"), 3)])

    def test_long_file_is_cut_and_nothing_is_lost(self):
        tests = [(f"t{i}", 7) for i in range(10)]
        items = plan.items_of_file("f", [*tests, ("setUpClass (f.C)", 0)], 90)
        names = [name for name, _ in tests]
        self.assertEqual([name for item, _ in items for name in item["match"]], names)
        self.assertTrue(all(seconds <= plan.CHUNK_SECONDS for _, seconds in items))

    def test_chunks_hold_every_item_once(self):
        items = [({"file": f"f{i}"}, i) for i in range(30)]
        packed = plan.chunks(items)
        self.assertEqual(sorted(item["file"] for chunk in packed for item in chunk),
                         sorted(item["file"] for item, _ in items))
        self.assertTrue(all(sum(int(item["file"][1:]) for item in chunk) <= plan.CHUNK_SECONDS
                            for chunk in packed if len(chunk) > 1))

    def test_out_of_memory_in_the_middle(self):
        chunk = [plan.make_item(file) for file in "abc"]
        told = [outcome("C.x"), outcome("C.y", planned=["C.z", "C.zz"], running="C.z", status=None)]
        again, lost = plan.follow_up(chunk, told, "OOMKilled")
        self.assertEqual([[(item["file"], item.get("match")) for item in chunk] for chunk in again],
                         [[("c", None)], [("b", ["C.zz"])], [("b", ["C.z"])]])
        self.assertEqual(lost, [])

    def test_out_of_memory_alone(self):
        item = plan.make_item("b", match=["C.z"])
        told = [outcome(planned=["C.z"], running="C.z", status=None)]
        self.assertEqual(plan.follow_up([item], told, "OOMKilled"), ([], [(item, "C.z")]))

    def test_kill_before_the_first_test(self):
        chunk = [plan.make_item("a"), plan.make_item("b")]
        told = [outcome("C.x"), outcome(planned=["C.y"], status=None)]
        self.assertEqual(plan.follow_up(chunk, told, "DeadlineExceeded"), ([chunk[1:]], []))
        self.assertEqual(plan.follow_up(chunk[1:], told[1:], "DeadlineExceeded"),
                         ([], [(chunk[1], None)]))

    def test_death_of_one_process(self):
        chunk = [plan.make_item("a"), plan.make_item("b")]
        told = [outcome("C.x", planned=["C.y", "C.z"], running="C.y", status=-11), outcome("C.z")]
        again, lost = plan.follow_up(chunk, told, "Completed")
        self.assertEqual(lost, [(chunk[0], "C.y")])
        self.assertEqual([item["match"] for item, in again], [["C.z"]])

    def test_patience_ends(self):
        item = plan.make_item("f")
        names = ["C.a", "C.b", "D.a", "D.b", "E.a"]
        told = outcome(planned=names, running="C.a", status=plan.KILLED)
        again, lost = plan.follow_up([item], [told], "Completed")
        self.assertEqual(lost, [(item, "C.a")])
        self.assertEqual([(item["match"], item["silenceSeconds"]) for item, in again],
                         [(["D.a", "D.b", "E.a"], plan.SILENCE_SECONDS),
                          (["C.b"], plan.SHORT_SILENCE_SECONDS)])
        told = outcome(planned=names[2:], running="D.a", status=plan.KILLED)
        again, _ = plan.follow_up(again[0], [told], "Completed")
        self.assertEqual([(item["match"], item["silenceSeconds"]) for item, in again],
                         [(["E.a"], plan.SHORT_SILENCE_SECONDS),
                          (["D.b"], plan.SHORT_SILENCE_SECONDS)])

    def test_rest_of_a_file_that_hangs_is_cut(self):
        item = plan.make_item("f", hangs=plan.HANGS - 1)
        names = [f"{letter}.{i}" for letter in "ABCDEFGHIJ" for i in range(3)]
        told = outcome(planned=names, running="A.0", status=plan.KILLED)
        again, _ = plan.follow_up([item], [told], "Completed")
        self.assertEqual(len(again), plan.PARTS + 1)
        self.assertEqual(sorted(name for item, in again for name in item["match"]), names[1:])
        classes = [{plan.class_of(name) for name in item["match"]} for item, in again]
        self.assertEqual(sum(map(len, classes)), 10)
        self.assertEqual({item["silenceSeconds"] for item, in again},
                         {plan.SHORT_SILENCE_SECONDS})

    def test_class_whose_set_up_hangs(self):
        item = plan.make_item("f")
        told = outcome("C.a", planned=["D.a", "D.b", "E.a"], fixture="D", status=plan.KILLED)
        again, lost = plan.follow_up([item], [told], "Completed")
        self.assertEqual(lost, [(item, "D.a"), (item, "D.b")])
        self.assertEqual([item["match"] for item, in again], [["E.a"]])

    def test_nothing_to_do(self):
        told = [outcome("x")]
        self.assertEqual(plan.follow_up([plan.make_item("a")], told, "Completed"), ([], []))


class RecorderTest(unittest.TestCase):
    def test_every_result(self):
        class Sample(unittest.TestCase):
            def test_error(self):
                raise OSError

            @unittest.expectedFailure
            def test_expected(self):
                self.fail()

            def test_failed(self):
                self.fail("so")

            def test_passed(self):
                pass

            def test_skipped(self):
                self.skipTest("why")

            def test_subtests(self):
                for i in range(2):
                    with self.subTest(i=i):
                        self.assertEqual(i, 0)

            @unittest.expectedFailure
            def test_unexpected(self):
                pass

        events = []
        record, program.record = program.record, events.append
        try:
            result = program.recording(unittest.TestResult)()
            unittest.defaultTestLoader.loadTestsFromTestCase(Sample).run(result)
        finally:
            program.record = record
        told = {event["test"].rpartition("_")[2]: event["result"] for event in events
                if "test" in event}
        self.assertEqual(told, {"error": "error", "expected": "expected", "failed": "failed",
                                "passed": "passed", "skipped": "skipped", "subtests": "failed",
                                "unexpected": "unexpected"})
        self.assertEqual(sum("begin" in event for event in events), 7)


@unittest.skipIf(os.geteuid() != 0, "needs root to make sandboxes and to enter the runtime")
class SubsetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([HERE / "run.sh", "--fast", "--json"], capture_output=True, text=True,
                              timeout=TIMEOUT_SECONDS)
        if done.returncode == 3:
            raise unittest.SkipTest(done.stderr.strip().rpartition("\n")[2])
        if not done.stdout:
            raise AssertionError(f"run.sh ended with {done.returncode}: {done.stderr}")
        cls.status = done.returncode
        cls.result = json.loads(done.stdout)
        print(f"passed inside {cls.result['passedInside']}, outside {cls.result['passedOutside']}, "
              f"differences {len(cls.result['differences'])}")

    def test_every_difference_has_a_reason(self):
        without = [difference for difference in self.result["differences"]
                   if difference["reason"] is None]
        self.assertEqual(without, [])

    def test_every_reason_has_a_difference(self):
        self.assertEqual(self.result["reasonsWithoutDifference"], [])

    def test_enough_was_run(self):
        self.assertGreater(self.result["passedInside"], 2000)
        self.assertGreater(self.result["passedOutside"], 2000)

    def test_exit_status_says_the_same(self):
        self.assertEqual(self.status, 0)


if __name__ == "__main__":
    unittest.main()
