"""Runs abide-sim: fixed seeds, regression seeds, random seeds in a time box, all crash points."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402

SIM = os.path.join(os.environ["ABIDE_BUILD_DIR"], "abide-sim")
SCALE = int(os.environ.get("ABIDE_TEST_SCALE", "100"))
HERE = os.path.dirname(os.path.abspath(__file__))


def run(*arguments):
    done = subprocess.run([SIM, *map(str, arguments)], capture_output=True, text=True, timeout=590 * max(SCALE, 100) / 100)
    return done.returncode, done.stdout + done.stderr


class Simulator(unittest.TestCase):
    def expect_clean(self, *arguments):
        code, output = run(*arguments)
        self.assertEqual(code, 0, output)
        print("# " + output.strip().replace("\n", "\n# "))

    def test_fixed_seeds_are_clean(self):
        self.expect_clean("--seed", 1, "--count", max(400 * SCALE // 100, 40),
                          "--runs", 20)

    def test_long_histories_are_clean(self):
        self.expect_clean("--seed", 500000, "--count", max(20 * SCALE // 100, 3), "--runs", 200)

    def test_random_seeds_are_clean(self):
        self.expect_clean("--count", 1000000, "--seconds", max(6 * SCALE // 100, 2), "--runs", 30)

    def test_every_tick_of_a_schedule_is_accounted_for(self):
        self.expect_clean("--seed", 1, "--count", max(150 * SCALE // 100, 20), "--runs", 20,
                          "--schedules", 4)

    def test_generated_scripts_answer_what_they_must(self):
        self.expect_clean("--seed", 1, "--count", max(150 * SCALE // 100, 20), "--runs", 20,
                          "--flows", 8)

    def test_seeds_under_the_smallest_limits_are_clean(self):
        count = max(100 * SCALE // 100, 10)
        self.expect_clean("--seed", 1, "--count", count, "--runs", 20, "--limits", "smallest")
        self.expect_clean("--seed", 1, "--count", count // 2, "--runs", 20, "--flows", 8, "--schedules", 4,
                          "--limits", "smallest")

    def test_batches_of_few_operations_are_clean(self):
        for limits in ("batch_ops=2,page_rows=2", "batch_ops=3,fire_rows=1", "batch_ops=8,page_rows=1"):
            self.expect_clean("--seed", 7000, "--count", max(20 * SCALE // 100, 3), "--runs", 20, "--limits", limits)

    if SCALE >= 100:  # half a minute; under sanitizers longer than all others together
        def test_every_crash_point_of_every_scenario_is_survived(self):
            self.expect_clean("--exhaustive")

    def test_every_order_of_events_around_a_release_is_survived(self):
        self.expect_clean("--idle", 4 if SCALE >= 100 else 3)

    def test_seeds_that_failed_once_stay_clean(self):
        with open(os.path.join(HERE, "regression-seeds.txt"), encoding="utf-8") as file:
            for line in file:
                words = line.split("#")[0].split()
                if words:
                    self.expect_clean("--seed", words[0], *words[1:])

    def test_the_same_seed_gives_the_same_history(self):
        first = run("--seed", 77, "--trace")
        self.assertEqual(first, run("--seed", 77, "--trace"))
        self.assertEqual(first[0], 0)

    def test_bad_arguments_are_refused(self):
        for arguments in (["--seed"], ["--seed", "x"], ["--bogus", "1"], ["--nodes", "99"],
                          ["--flows", "33"], ["--limits", "batch_ops=0"], ["--limits", "bogus=1"]):
            self.assertEqual(run(*arguments)[0], 2, arguments)


if __name__ == "__main__":
    tap.main()
