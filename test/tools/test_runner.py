"""tools/test counts what happened: a runner that cannot fail would make every other test useless."""

import importlib.machinery
import importlib.util
import os
import sys
import threading
import types
import unittest

import tap

SOURCE = os.environ["ABIDE_SOURCE_DIR"]


def load_runner():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("runner", os.path.join(SOURCE, "tools/test"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("runner", loader))
    loader.exec_module(module)
    return module


runner = load_runner()
STAGE = {"env": {"ABIDE_TEST_SCALE": "40"}, "patience": 1}


class RunnerTest(unittest.TestCase):
    def run_shell(self, script, protocol="tap", timeout=30):
        test = {"cmd": ["bash", "-c", script], "env": {"FROM_MESON": "yes"}, "workdir": None,
                "timeout": timeout, "protocol": protocol}
        return runner.run_program(test, STAGE)

    def assert_counts(self, result, passed, failed, skipped=0):
        self.assertEqual((result.passed, len(result.failures), result.skipped),
                         (passed, failed, skipped), result.failures)

    def test_every_tap_line_counts(self):
        self.assert_counts(self.run_shell("echo 1..2; echo ok 1 - a; echo ok 2 - b"), 2, 0)

    def test_a_failed_line_counts_once_and_keeps_its_name(self):
        result = self.run_shell("echo 1..2; echo 'ok 1 - a'; echo 'not ok 2 - b'; exit 1")
        self.assert_counts(result, 1, 1)
        self.assertEqual(result.failures, ["b"])

    def test_plans_of_several_groups_add_up(self):
        self.assert_counts(self.run_shell("echo 1..1; echo ok 1 - a; echo 1..1; echo ok 1 - b"), 2, 0)

    def test_skips_are_neither_passed_nor_failed(self):
        self.assert_counts(self.run_shell("echo 1..2; echo 'not ok 1 # SKIP a'; echo ok 2 - b"),
                           1, 0, 1)

    def test_tests_that_were_announced_and_did_not_report_failed(self):
        result = self.run_shell("echo 1..3; echo ok 1 - a; kill -ABRT $$")
        self.assert_counts(result, 1, 2)
        self.assertIn("SIGABRT", result.failures[0])

    def test_reports_beyond_the_plan_fail(self):
        self.assert_counts(self.run_shell("echo 1..1; echo ok 1 - a; echo ok 2 - b"), 2, 1)

    def test_bad_exit_after_good_tests_fails(self):
        result = self.run_shell("echo 1..1; echo ok 1 - a; echo leak >&2; exit 23")
        self.assert_counts(result, 1, 1)
        self.assertIn("23", result.failures[0])
        self.assertIn("leak", result.output)

    def test_a_tap_program_that_reports_nothing_fails(self):
        self.assert_counts(self.run_shell("exit 0"), 0, 1)

    def test_a_plain_program_counts_as_one(self):
        self.assert_counts(self.run_shell("echo hello", "exitcode"), 1, 0)
        self.assert_counts(self.run_shell("exit 3", "exitcode"), 0, 1)
        self.assert_counts(self.run_shell("exit 77", "exitcode"), 0, 0, 1)

    def test_a_script_that_prints_tap_counts_every_line(self):
        self.assert_counts(self.run_shell("echo 1..2; echo ok; echo not ok", "exitcode"), 1, 1)

    def test_a_program_that_hangs_is_killed_with_its_children(self):
        result = self.run_shell("echo 1..1; sleep 1000 & wait", timeout=1)
        self.assert_counts(result, 0, 1)
        self.assertIn("still running after 1 s", result.failures[0])

    def test_a_missing_program_fails(self):
        test = {"cmd": ["/no/such/program"], "env": {}, "workdir": None, "timeout": 1,
                "protocol": "tap"}
        self.assert_counts(runner.run_program(test, STAGE), 0, 1)

    def test_programs_see_the_environment_of_meson_and_of_the_stage(self):
        result = self.run_shell("test \"$FROM_MESON $ABIDE_TEST_SCALE\" = 'yes 40'", "exitcode")
        self.assert_counts(result, 1, 0)

    def test_programs_find_the_python_that_runs_them(self):
        result = self.run_shell("test \"$(command -v python3)\" -ef '%s' && test -z \"$PYTHONDONTWRITEBYTECODE\""
                                % sys.executable, "exitcode")
        self.assert_counts(result, 1, 0)

    def test_no_test_at_all_is_a_failure(self):
        self.assertEqual(self.summary(), (1, ["no test ran", "0 passed, 0 failed"]))

    def test_last_line_has_the_counts(self):
        good, bad, skipped = runner.Result(), runner.Result(), runner.Result()
        good.passed = 7
        self.assertEqual(self.summary(good)[1][-1], "7 passed, 0 failed")
        self.assertEqual(self.summary(good)[0], 0)
        skipped.skipped = 1
        self.assertEqual(self.summary(good, skipped)[1][-1], "7 passed, 0 failed, 1 skipped")
        bad.failures.append("this")
        self.assertEqual(self.summary(good, bad)[1][-1], "7 passed, 1 failed")
        self.assertEqual(self.summary(good, bad)[0], 1)

    def summary(self, *results):
        tally = runner.Tally()
        lines = []
        runner.print = lambda text="", flush=False: lines.append(text)
        try:
            for result in results:
                tally.add("title", result)
            return tally.summarize(), lines
        finally:
            del runner.print


class StagesTest(unittest.TestCase):
    """Stages with builds and tests of our own making."""

    def run_stages(self, names, build, run, busy=0, times=1):
        kept = runner.build_stage, runner.run_tests
        runner.build_stage = lambda name, options, tally, is_polite: build(name, is_polite)
        runner.run_tests = lambda name, tests, options, tally: run(name, tests)
        try:
            runner.run_stages(names, types.SimpleNamespace(busy=busy, times=times), None)
        finally:
            runner.build_stage, runner.run_tests = kept

    def test_the_next_stage_is_built_while_one_is_tested(self):
        built = {name: threading.Event() for name in ("normal", "asan", "tsan")}
        manners, seen = {}, []

        def build(name, is_polite):
            manners[name] = is_polite
            built[name].set()
            return [name + "'s"]

        def run(name, tests):
            if name == "normal":
                self.assertTrue(built["asan"].wait(30))
            seen.append((name, tests))

        self.run_stages(["normal", "asan", "tsan"], build, run)
        self.assertEqual(seen, [(name, [name + "'s"]) for name in built])
        # Nobody waits for the first but us; the others give way to the tests.
        self.assertEqual(manners, {"normal": False, "asan": True, "tsan": True})

    def test_tests_run_again_beside_busy_loops_that_end_with_them(self):
        seen = []

        class Loops(runner.BusyLoops):
            def __enter__(self):
                seen.append(super().__enter__().processes)

        kept, runner.BusyLoops = runner.BusyLoops, Loops
        try:
            self.run_stages(["normal"], lambda name, is_polite: [], lambda name, tests: self.assertEqual(
                [process.poll() for process in seen[-1]], [None, None]), busy=2, times=3)
        finally:
            runner.BusyLoops = kept
        self.assertEqual([len(processes) for processes in seen], [2, 2, 2])
        self.assertTrue(all(process.poll() is not None for processes in seen for process in processes))

    def test_an_accident_in_one_build_is_told(self):
        def build(name, is_polite):
            raise OSError("no compiler")

        with self.assertRaises(OSError):
            self.run_stages(["normal"], build, lambda name, tests: None)


class OrderTest(unittest.TestCase):
    """Which tests run beside each other."""

    def run_tests(self, waits, run, jobs):
        kept, runner.run_program = runner.run_program, lambda test, stage: run(test["title"])
        tests = [{"title": number, "waits": does_wait, "is_parallel": True}
                 for number, does_wait in enumerate(waits)]
        try:
            runner.run_tests("normal", tests, types.SimpleNamespace(jobs=jobs, scale=None),
                             types.SimpleNamespace(add=lambda title, result: None))
        finally:
            runner.run_program = kept

    def test_every_test_runs_once(self):
        seen = []
        self.run_tests([number % 3 == 0 for number in range(50)], seen.append, jobs=2)
        self.assertEqual(sorted(seen), list(range(50)))

    def test_no_core_is_idle_when_one_kind_is_done(self):
        for does_wait in (False, True):
            beside = threading.Barrier(3)  # nobody ends before three are there
            self.run_tests([does_wait] * 3, lambda title: beside.wait(60), jobs=1)

    def test_an_accident_in_one_test_is_told(self):
        def run(title):
            raise OSError("no memory")

        with self.assertRaises(OSError):
            self.run_tests([False], run, jobs=1)


if __name__ == "__main__":
    tap.main()
