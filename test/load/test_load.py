"""Herds of a few hundred, with limits so low that they cross each of them. `make load` has the big ones."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import herd  # noqa: E402
import tap  # noqa: E402

LIMITS = ("batch_ops=8,fire_rows=3,page_rows=2,read_chunk=1,expect_lookups=4,run_cache_size=1,task_cache_size=1,"
          "cached_queues=1,cached_topics=1,releases_per_batch=1,evicted_runs=1,claim_looks=2,adopt_rows=2")


class SmallHerds(unittest.TestCase):
    """No figure is checked: everything ends, and who calls beside it gets what it asks for."""

    @classmethod
    def setUpClass(cls):
        os.environ["ABIDE_TEST_LIMITS"] = LIMITS
        herd.servers.ABIDE = os.path.join(os.environ["ABIDE_BUILD_DIR"], "test", "load", "abide-limited")

    def play(self, kind, runs):
        options = herd.options_of(["--runs", str(runs), "--tasks", "3", "--load-seconds", "2", "--seconds", "300"])
        options.store, options.kind = "sqlite", kind
        herd.play(options)

    def test_due_runs_with_tasks_of_the_server(self):
        self.play("tasks", 200)

    def test_due_runs_with_tasks_of_workers(self):
        self.play("workers", 200)

    def test_runs_that_are_signalled(self):
        self.play("signals", 100)

    def test_runs_that_start_all_the_others(self):
        self.play("children", 100)

    def test_runs_that_one_event_wakes(self):
        self.play("broadcast", 200)

    def test_queued_tasks_with_slow_and_dead_workers(self):
        self.play("queued", 500)

    def test_more_than_can_be_worked_off(self):
        self.play("overload", 1)


if __name__ == "__main__":
    tap.main()
