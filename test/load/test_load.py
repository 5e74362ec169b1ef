"""Herds of a few hundred, with limits so low that they cross each of them. `make load` has the big ones."""
import os
import re
import sys
import time
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import herd  # noqa: E402
import tap  # noqa: E402

LIMITS = ("batch_ops=8,fire_rows=3,page_rows=2,read_chunk=1,expect_lookups=4,run_cache_size=1,known_runs=1,task_cache_size=1,"
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


class RunsInNoCache(unittest.TestCase):
    RUNS, TASKS = 200, 3

    def setUp(self):
        self.redis = herd.Redis()
        self.redis.start()
        self.addCleanup(self.redis.close)
        limited = os.path.join(os.environ["ABIDE_BUILD_DIR"], "test", "load", "abide-limited")
        caches = {"ABIDE_TEST_LIMITS": "run_cache_size=1,task_cache_size=1,row_cache_size=1"}
        with mock.patch.dict(os.environ, caches), mock.patch.object(herd.servers, "ABIDE", limited):
            self.server = herd.servers.Server("--max-resident-runs", "1", store=self.redis.url)
        self.addCleanup(self.server.close)

    def calls(self):
        """How often the server has spoken to Redis."""
        text = self.redis.command("INFO", "commandstats").decode()
        return sum(int(count) for count in re.findall(r"cmdstat_fcall(?:_ro)?:calls=(\d+)", text))

    def commits(self):
        text = self.server.get("/metrics").body
        return int(re.search(r"abide_commit_duration_seconds_count (\d+)", text).group(1))

    def test_they_are_fetched_together(self):
        self.server.deploy("chain", "for (let i = 0; i < Inputs; i++) await Task.run('log', {message: 'm'})")
        due = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3))
        for i in range(self.RUNS):
            self.server.post("/v1/runs", {"workflow": "chain", "id": f"c{i}", "input": self.TASKS, "start_at": due})
        calls, commits, asked = self.calls(), self.commits(), []

        def is_done():  # what asking costs does not count
            asked.append(-self.calls())
            completed = self.server.get("/v1/stats").json["runs"]["completed"]
            asked.append(self.calls())
            return completed == self.RUNS

        herd.servers.wait_until(is_done)
        # Looking each run up by itself takes several calls for each turn, hundreds for a commit of many.
        self.assertLess(self.calls() - calls - sum(asked), 30 * (self.commits() - commits) + 300)
        entries = self.server.get("/v1/runs/c0/log").json["items"]
        self.assertFalse([entry for entry in entries if entry["kind"] in ("released", "reloaded")])


if __name__ == "__main__":
    tap.main()
