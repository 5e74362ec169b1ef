"""Events go to the server that has their run in memory, and nothing depends on that."""
import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import Node, wait_until  # noqa: E402
from servers.postgres import Postgres  # noqa: E402
from servers.redis import Redis  # noqa: E402

COUNTER = """
const words = []
while (words.length < 6) {
    words.push(await Signal.when("word", { timeout: "1h" }))
    State.set("count", words.length)
}
return words
"""
RUNS = 8
WORDS = list(range(6))


class Affinity:
    """For either database; the class beside it says which."""

    def setUp(self):
        self.nodes = [Node(self.database.url) for _ in range(2)]

    def tearDown(self):
        for node in self.nodes:
            node.close()

    def tell(self, node, run, word):
        """Sends one word and waits until the run waits for the next one, or has ended."""
        self.assertIn(node.post(f"/v1/runs/{run}/signals/word", word).status, (200, 202))
        path = f"/v1/runs/{run}"
        wait_until(lambda: node.get(path).json.get("state", {}).get("count") == word + 1, 60,
                   lambda: node.get(path).body)

    def begin(self, prefix):
        first = self.nodes[0]
        first.deploy("counter", COUNTER)
        ids = [f"{prefix}{i}" for i in range(RUNS)]
        for run in ids:
            self.assertEqual(first.post("/v1/runs", {"workflow": "counter", "id": run}).status, 201)
        for run in ids:
            first.wait_for(run, "suspended")
        return ids

    def test_events_taken_in_by_one_are_executed_by_the_other(self):
        ids = self.begin("far")
        first, other = self.nodes
        turns = "abide_turn_duration_seconds_count"
        wait_until(lambda: first.figure(turns) >= RUNS)  # the first of each run
        before = first.figure(turns)
        for word in WORDS:
            for run in ids:
                self.tell(other, run, word)
        for run in ids:
            self.assertEqual(other.wait_for(run, "completed")["result"], WORDS)
        # On a machine that is slow enough the other one may lose its patience now and then.
        most = RUNS * len(WORDS) * 3 // 4
        wait_until(lambda: first.figure(turns) - before + other.figure(turns) >= RUNS * len(WORDS))
        self.assertGreaterEqual(first.figure(turns) - before, most)
        self.assertLessEqual(other.figure(turns), RUNS * len(WORDS) - most)
        self.assertLessEqual(first.figure("abide_run_reloads_total"), RUNS * len(WORDS) - most)

    def test_a_node_that_does_not_answer_is_not_waited_for(self):
        ids = self.begin("gone")
        first, other = self.nodes
        first.process.send_signal(signal.SIGSTOP)  # its lease goes on for a while
        try:
            for word in WORDS:
                self.tell(other, ids[0], word)
            self.assertEqual(other.wait_for(ids[0], "completed")["result"], WORDS)
        finally:
            first.process.send_signal(signal.SIGCONT)
        for word in WORDS:
            self.tell(first, ids[1], word)
        self.assertEqual(other.wait_for(ids[1], "completed")["result"], WORDS)


class PostgresAffinity(Affinity, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.database = Postgres()
        cls.database.start()

    @classmethod
    def tearDownClass(cls):
        cls.database.close()


class RedisAffinity(Affinity, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.database = Redis()
        cls.database.start()

    @classmethod
    def tearDownClass(cls):
        cls.database.close()


if __name__ == "__main__":
    tap.main()
