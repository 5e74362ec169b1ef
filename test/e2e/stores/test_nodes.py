"""Several servers on one PostgreSQL: who does what, how often, and by which plans the database answers."""
import os
import re
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import Node, wait_until  # noqa: E402
from servers.postgres import Postgres  # noqa: E402
from test_postgres import QUICK, WAITER  # noqa: E402

NAPPER = """
for (let i = 0; i < 5; i++) await Timer.delay(0.05)
return "rested"
"""
WORKER = """
await Task.run("log", { message: "hello" })
State.set("stage", "waiting")
const [word, event] = await Promise.all([Signal.when("go", { timeout: "1h" }), Event.wait("news")])
return { word, event }
"""


def check_what_nodes_tell(case, one, two):
    """Version and runs in memory of each node, seen from the other one; then one of them is killed."""
    version = one.get("/version").json["version"]

    def told(node):
        return {item["id"]: item for item in node.get("/v1/nodes").json["items"]}

    def resident(node):
        return sorted(item["resident"] for item in told(node).values() if item["alive"])

    one.deploy("waiter", WAITER)
    for i in range(8):
        (one, two)[i < 3].post("/v1/runs", {"workflow": "waiter", "id": f"w{i}"})
    for i in range(8):
        one.wait_for(f"w{i}", "suspended")
    for node in (one, two):  # of itself a node knows it at once, of others after their next renewal
        wait_until(lambda: resident(node) == [3, 5], 60, lambda: f"resident: {told(node)}")
    before = told(two)
    case.assertEqual({item["version"] for item in before.values()}, {version})
    case.assertEqual({item["alive"] for item in before.values()}, {True})
    case.assertEqual([item["executing"] for item in before.values()], [0, 0])
    case.assertEqual(len({item["name"] for item in before.values()}), 2)
    one.kill()
    wait_until(lambda: resident(two) == [3], 60, lambda: f"the dead one is not shown as dead: {told(two)}")
    [dead] = [item for item in told(two).values() if not item["alive"]]
    case.assertEqual(dead["resident"], 5)  # what it said last
    case.assertEqual(dead["started_at"], before[dead["id"]]["started_at"])
    case.assertGreaterEqual(dead["lease_until"], before[dead["id"]]["lease_until"])
    for i in range(8):
        two.post(f"/v1/runs/w{i}/signals/go", i)
        two.wait_for(f"w{i}", "completed")
    wait_until(lambda: resident(two) == [0], 60, lambda: f"resident: {told(two)}")


class NodesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Every plan goes into the server's log.
        cls.database = Postgres({"session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0",
                                 "auto_explain.log_nested_statements": "on", "log_min_messages": "log"})
        cls.database.start()

    @classmethod
    def tearDownClass(cls):
        cls.database.close()

    def setUp(self):
        self.schema = "nodes_" + self.id().rsplit(".", 1)[1][5:30].lower()
        self.nodes = []

    def tearDown(self):
        for node in self.nodes:
            node.close()

    def cluster(self, *arguments):
        url = self.database.url + "&schema=" + self.schema
        for _ in range(3):
            self.nodes.append(Node(url, *arguments))
        return self.nodes

    def count(self, sql):
        return int(self.database.query(sql.format(self.schema))[0][0])

    def test_runs_that_one_node_cannot_take_are_done_by_the_others(self):
        nodes = self.cluster("--max-active-runs", "4")
        nodes[0].deploy("napper", NAPPER)
        for i in range(120):
            nodes[0].post("/v1/runs", {"workflow": "napper", "id": f"n{i}"})
        for i in range(120):
            self.assertEqual(nodes[i % 3].wait_for(f"n{i}", "completed", seconds=120)["result"], "rested")
        turns = lambda: [node.figure("abide_turn_duration_seconds_count") for node in nodes]
        # Each turn was done once, whoever did it: one to begin with, and one per timer. The last ones
        # are counted a moment after the end of their runs is seen.
        wait_until(lambda: sum(turns()) >= 120 * 6, what=lambda: f"turns per node: {turns()}")
        done = turns()
        self.assertGreater(min(done), 0, f"turns per node: {done}")
        self.assertEqual(sum(done), 120 * 6)

    def test_each_node_tells_what_it_is_and_what_it_has_in_memory(self):
        url = self.database.url + "&schema=" + self.schema
        self.nodes = [Node(url, "--node-lease", "3s") for _ in range(2)]
        check_what_nodes_tell(self, *self.nodes)

    def test_a_worker_of_another_node_is_known(self):
        one, two = self.cluster()[:2]
        seen = lambda: {(each["id"], each["node"]) for each in one.get("/v1/workers").json["items"]}
        name = two.get("/v1/workers").json["functions"][0]["node"]
        done = threading.Event()

        def ask():
            while not done.is_set():
                two.post("/v1/tasks/claim", {"worker": "far", "names": ["dig"], "queues": ["far"], "wait": "1s"})
        thread = threading.Thread(target=ask)
        thread.start()
        try:
            wait_until(lambda: ("far", name) in seen(), what=lambda: f"one knows {seen()}")
            # What it asks for is served; what looks like it is not, and the name is known here.
            one.post("/v1/tasks", {"name": "digg", "queue": "far", "id": "t-1"})
            found = wait_until(lambda: one.get("/v1/workers").json["unserved"])
            self.assertEqual([(each["name"], each["did_you_mean"]) for each in found], [("digg", "dig")])
            self.assertEqual(one.get("/v1/tasks/t-1").json["unserved"]["asked"], ["dig"])
        finally:
            done.set()
            thread.join()
        gone = lambda: not any(each["id"] == "far" and each["present"]
                               for each in one.get("/v1/workers").json["items"])
        wait_until(gone)

    def test_schedules_tick_once_per_cluster(self):
        nodes = self.cluster()
        nodes[0].deploy("waiter", WAITER)
        # Two runs of one tick would be one run, because its moment is in their id. So the first run does not
        # end, and all later ticks are counted as skipped: two of one moment would count twice.
        answer = nodes[1].call("PUT", "/v1/schedules/often", {"workflow": "waiter", "every": "1s", "overlap": "skip"})
        self.assertIn(answer.status, (200, 201), answer.body)

        def ticks():
            """The last tick, how many there were, and how many of them started a run."""
            [[last, count, started]] = self.database.query(
                "SELECT last_at_ms, tick_count + skipped_count + missed_count + failed_count, tick_count "
                f"FROM {self.schema}.schedules")
            return int(last), int(count), int(started)

        first = wait_until(lambda: ticks()[1] >= 1 and ticks(), 120, lambda: "the schedule does not tick")
        last = wait_until(lambda: ticks()[1] >= 6 and ticks(), 120, lambda: f"the schedule stands still: {ticks()}")
        self.assertEqual(last[1] - first[1], (last[0] - first[0]) / 1000, (first, last))
        self.assertEqual(last[2], 1)
        self.assertEqual(self.count("SELECT count(*) FROM {}.runs"), 1)

    def test_every_statement_goes_through_an_index(self):
        nodes = self.cluster("--node-lease", "2s")
        nodes[0].deploy("worker", WORKER)
        nodes[0].deploy("quick", QUICK)
        self.database.query(
            f"INSERT INTO {self.schema}.log SELECT 1000000000 + n, 1, 1, 9, -1, 0, 0, 0, 0 "
            f"FROM generate_series(1, 50000) n; ANALYZE {self.schema}.log")
        for i in range(30):
            nodes[i % 3].post("/v1/runs", {"workflow": "worker", "id": f"w{i}", "tags": ["blue"]})
        for i in range(30):
            nodes[i % 3].wait_for(f"w{i}", "suspended")
        for path in ("/v1/runs?status=suspended", "/v1/runs?tag=blue", "/v1/runs?workflow=worker",
                     "/v1/runs?waiting_on=news", "/v1/tasks", "/v1/topics", "/v1/nodes", "/v1/runs/w1/steps"):
            self.assertEqual(nodes[0].get(path).status, 200, path)
        for i in range(30):
            nodes[(i + 1) % 3].post(f"/v1/runs/w{i}/signals/go", i)
            self.assertEqual(nodes[i % 3].post("/v1/events/news", {"n": i}).status, 202)
        for i in range(30):
            nodes[2].wait_for(f"w{i}", "completed")
        with open(os.path.join(self.database.folder, "log"), errors="replace") as log:
            text = log.read()
        plans = re.findall(r"Query Text: (.*?)\n(.*?)(?=\n\d{4}-|\Z)", text, re.S)
        ours = [(query, plan) for query, plan in plans if self.schema in query]
        self.assertGreater(len(ours), 200)
        # `store` has one row, `beats` and `changes` some: all of them are meant to be read whole.
        small = rf"Seq Scan on (?:{self.schema}\.)?(store|beats|changes)\b"
        bad = [(query, plan) for query, plan in ours if "Seq Scan" in re.sub(small, "", plan)]
        self.assertEqual(bad[:3], [])
        self.assertTrue(any("Index Scan" in plan for _, plan in ours))


if __name__ == "__main__":
    tap.main()
