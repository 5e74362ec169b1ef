"""Servers on one PostgreSQL: alone, beside each other, killed, cut off, and with the database away."""
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, Node, wait_until  # noqa: E402
from servers.postgres import Postgres  # noqa: E402
from servers.proxy import Proxy  # noqa: E402

WAITER = """
const word = await Signal.when("go")
return { word }
"""
SLEEPER = """
await Timer.delay("2s")
return "awake"
"""
QUICK = "return Inputs.n * 2"


class StillHolder:
    """A session that stands still in the middle of a pipeline with the store in its hands, as one of a node that was
    stopped there: no time-out of the server counts for it."""

    def __init__(self, database, schema, sql="SELECT version FROM {}.store FOR UPDATE"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(os.path.join(database.folder, ".s.PGSQL.5432"))
        startup = struct.pack("!i", 3 << 16) + b"user\0abide\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!i", 4 + len(startup)) + startup)
        self.read_until(b"Z")
        for statement in ("BEGIN", sql.format(schema)):
            self.send(b"P", b"\0" + statement.encode() + b"\0\0\0")
            self.send(b"B", b"\0\0" + bytes(6))
            self.send(b"E", b"\0" + bytes(4))
        self.send(b"H")  # flush, and no end of the pipeline
        for _ in range(2):
            self.read_until(b"C")

    def send(self, kind, body=b""):
        self.socket.sendall(kind + struct.pack("!i", 4 + len(body)) + body)

    def take(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("the server has ended the session")
            data += piece
        return data

    def read_until(self, wanted):
        while True:
            kind = self.take(1)
            body = self.take(struct.unpack("!i", self.take(4))[0] - 4)
            if kind == b"E":
                raise ConnectionError(body.decode(errors="replace"))
            if kind == wanted:
                return

    def is_cut_off(self):
        self.socket.settimeout(1)
        try:
            self.read_until(b"-")
        except TimeoutError:
            return False
        except ConnectionError:
            return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class PostgresTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.database = Postgres()
        cls.database.start()

    @classmethod
    def tearDownClass(cls):
        cls.database.close()

    def setUp(self):
        self.schema = "e2e_" + self.id().rsplit(".", 1)[1][:30].lower()
        self.nodes = []

    def tearDown(self):
        for node in self.nodes:
            node.close()

    def url(self):
        return self.database.url + "&schema=" + self.schema

    def node(self, url=None):
        node = Node(url or self.url())
        self.nodes.append(node)
        return node

    def test_a_server_works_and_finds_everything_after_a_restart(self):
        node = self.node()
        node.deploy("waiter", WAITER)
        started = node.post("/v1/runs", {"workflow": "waiter", "id": "w1"})
        self.assertEqual(started.status, 201, started.body)
        node.wait_for("w1", "suspended")
        self.assertEqual(node.stop(), 0)
        again = self.node()
        again.wait_for("w1", "suspended")
        again.post("/v1/runs/w1/signals/go", "here")
        self.assertEqual(again.wait_for("w1", "completed")["result"], {"word": "here"})

    def test_b_a_schema_that_is_not_ours_is_refused(self):
        self.database.query("CREATE SCHEMA strangers; CREATE TABLE strangers.things (n int)")
        with self.assertRaisesRegex(RuntimeError, "STORE_NOT_OURS|not abide's"):
            self.node(self.database.url + "&schema=strangers")
        self.assertEqual(self.database.query(
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'strangers'::regnamespace"), [["1"]])

    def test_b_verify_reads_what_is_there_and_makes_nothing(self):
        node = self.node()
        node.deploy("quick", QUICK)
        self.assertEqual(node.run("quick", {"n": 3})["result"], 6)
        done = subprocess.run([ABIDE, "verify", self.url()], capture_output=True, text=True)
        self.assertEqual((done.returncode, "all in order" in done.stdout), (0, True), done.stderr)
        done = subprocess.run([ABIDE, "verify", self.database.url + "&schema=missing"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertEqual(self.database.query("SELECT to_regnamespace('missing') IS NULL"), [["t"]])

    def test_c_two_nodes_share_runs_signals_and_results(self):
        one, two = self.node(), self.node()
        one.deploy("waiter", WAITER)
        for i in range(10):
            one.post("/v1/runs", {"workflow": "waiter", "id": f"w{i}"})
        results = {}

        def wait(i):  # at one, while two is told the signals
            results[i] = one.get(f"/v1/runs/w{i}/result?wait=30s").json

        threads = [threading.Thread(target=wait, args=(i,)) for i in range(10)]
        for thread in threads:
            thread.start()
        for i in range(10):
            two.wait_for(f"w{i}", "suspended")
            answer = two.post(f"/v1/runs/w{i}/signals/go", i)
            self.assertIn(answer.status, (200, 202), answer.body)
        for thread in threads:
            thread.join()
        self.assertEqual([results[i]["result"] for i in range(10)], [{"word": i} for i in range(10)])
        alive = [node for node in two.get("/v1/nodes").json["items"] if node["alive"]]
        self.assertEqual(len(alive), 2)
        self.assertEqual(len({node["name"] for node in alive}), 2)

    def test_d_the_runs_of_a_killed_node_go_on_elsewhere(self):
        one = self.node()
        one.deploy("sleeper", SLEEPER)
        for i in range(5):
            one.post("/v1/runs", {"workflow": "sleeper", "id": f"s{i}"})
            one.wait_for(f"s{i}", "suspended")
        two = self.node()
        one.kill()
        for i in range(5):
            self.assertEqual(two.wait_for(f"s{i}", "completed", seconds=60)["result"], "awake")

    def test_d_taking_over_from_a_killed_node_is_logged(self):
        one, two = self.node(), self.node()
        one.deploy("busy", "for (let i = 0; i < 1e12; i++);")
        one.post("/v1/runs", {"workflow": "busy", "id": "b"})
        one.kill()  # in the middle of its turn
        two.said("1 runs were taken over from a node whose lease ran out")
        two.post("/v1/runs/b/cancel", {"grace": "0s"})

    def test_d_a_node_that_starts_waits_for_one_that_stands_still_with_the_store(self):
        self.node().stop()  # the store is there
        with StillHolder(self.database, self.schema) as holder, \
                StillHolder(self.database, self.schema, "SELECT version FROM {}.store") as reader:
            node = self.node()  # once it cut the other one off and tried again
            self.assertTrue(holder.is_cut_off())
            self.assertFalse(reader.is_cut_off())  # holds up nobody
        self.assertEqual(node.get("/readyz").status, 200)
        node.said("trying again")
        self.assertEqual(node.stop(), 0)

    def test_d_a_node_at_work_outlives_one_that_stands_still_with_the_store(self):
        node = self.node()
        node.deploy("quick", QUICK)
        with StillHolder(self.database, self.schema) as holder:
            run = node.run("quick", {"n": 2})  # waits in the queue for the store, and cuts the other one off
            self.assertTrue(holder.is_cut_off())
        self.assertEqual(run["result"], 4)
        node.said("holds the store")
        self.assertEqual(node.get("/readyz").status, 200)
        self.assertEqual(node.stop(), 0)

    def test_e_the_database_goes_away_and_comes_back(self):
        node = self.node()
        node.deploy("quick", QUICK)
        self.assertEqual(node.run("quick", {"n": 1})["result"], 2)
        self.database.kill()
        self.database.start()
        deadline = time.monotonic() + 60
        while node.get("/readyz").status != 200:
            self.assertLess(time.monotonic(), deadline, "not ready again")
            time.sleep(0.1)
        self.assertEqual(node.run("quick", {"n": 4}, id="after")["result"], 8)

    def test_f_commits_whose_answers_are_lost_happen_once(self):
        """Connections are cut after COMMIT was sent: what was asked for is there, and only once."""
        proxy = Proxy(os.path.join(self.database.folder, ".s.PGSQL.5432"))
        url = f"postgres://abide@127.0.0.1:{proxy.port}/postgres?schema={self.schema}&sslmode=disable"
        node = self.node(url)
        node.deploy("quick", QUICK)
        node.run("quick", {"n": 0}, id="r0")
        total = 25
        for i in range(1, total + 1):
            proxy.cut_after = b"COMMIT"
            answer = node.post("/v1/runs?wait=60s", {"workflow": "quick", "id": f"r{i}", "input": {"n": i}})
            self.assertIn(answer.status, (200, 201), answer.body)
            self.assertEqual(node.wait_for(f"r{i}", "completed", seconds=60)["result"], 2 * i)
        self.assertGreaterEqual(proxy.cut_count, total)
        started = self.database.query(f"SELECT count(*), count(distinct id) FROM {self.schema}.runs")
        self.assertEqual(started, [[str(total + 1)] * 2])
        # Each run has begun once and ended once (log kinds 1 and 19).
        for kind in (1, 19):
            counted = self.database.query(f"SELECT count(*) FROM {self.schema}.log WHERE kind = {kind}")
            self.assertEqual(counted, [[str(total + 1)]])
        proxy.close()


class ReadinessTest(unittest.TestCase):
    """Red while the store is away, green again by itself; alive all the time."""

    def setUp(self):
        self.database = Postgres()
        self.database.start()
        self.node = Node(self.database.url)
        self.node.deploy("waiter", WAITER)
        self.node.post("/v1/runs", {"workflow": "waiter", "id": "w"})
        self.node.wait_for("w", "suspended")

    def tearDown(self):
        self.node.close()
        self.database.close()

    def wait_for_ready(self, status):
        deadline = time.monotonic() + 120
        while self.node.get("/readyz").status != status:
            self.assertLess(time.monotonic(), deadline, self.node.get("/readyz").body)
            time.sleep(0.1)

    def check_away(self):
        self.wait_for_ready(503)
        self.assertEqual(self.node.get("/livez").status, 200)
        answer = self.node.get("/v1/runs/w")
        self.assertEqual((answer.status, answer.json["code"]), (503, "STORE_UNAVAILABLE"))
        # Writes are refused as soon as it is known, not after all attempts, which take longer than this client waits.
        for number in range(3):
            answer = self.node.post("/v1/runs", {"workflow": "waiter", "id": f"late{number}"}, timeout=18)
            self.assertEqual((answer.status, answer.json["code"]), (503, "STORE_UNAVAILABLE"))
            self.assertEqual(answer.headers["Retry-After"], "1")

    def check_end(self):
        """Nothing can be handed back: it does not wait for the end of its drain time, which is 30 s, and says so."""
        self.node.process.terminate()
        self.assertEqual(self.node.process.wait(20), 0)
        self.node.reader.join()
        self.assertIn("not handed back", "\n".join(self.node.lines))

    def check_back(self):
        self.wait_for_ready(200)
        self.assertEqual(self.node.get("/v1/runs/w").json["status"], "suspended")
        self.assertEqual(self.node.post("/v1/runs", {"workflow": "waiter", "id": "late0"}).status, 201)

    def test_a_database_that_dies_and_comes_back(self):
        self.database.kill()
        self.check_away()
        self.database.start()
        self.check_back()
        self.database.kill()
        self.node.post("/v1/runs", {"workflow": "waiter", "id": "lost"})  # something to be left behind
        self.check_end()

    def test_a_database_that_stands_still(self):
        self.database.freeze()
        try:
            # More than the server has threads: they must not all wait for it.
            askers = [threading.Thread(target=self.node.get, args=("/v1/runs",)) for _ in range(16)]
            for asker in askers:
                asker.start()
            self.check_away()
        finally:
            self.database.freeze(False)
        for asker in askers:
            asker.join()
        self.check_back()
        self.database.freeze()
        try:
            self.check_end()
        finally:
            self.database.freeze(False)


class CountingTest(unittest.TestCase):
    """What nodes say to the database, by its own count (BEGIN, COMMIT and the like included)."""

    @classmethod
    def setUpClass(cls):
        cls.database = Postgres({"shared_preload_libraries": "pg_stat_statements"})
        cls.database.start()
        cls.database.query("CREATE EXTENSION pg_stat_statements")

    @classmethod
    def tearDownClass(cls):
        cls.database.close()

    def calls(self, condition="true"):
        # Of the nodes, whose user asks nothing else than the connection that counts.
        rows = self.database.query(f"SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE {condition} "
                                   "AND query NOT LIKE '%pg_stat_statements%' AND query NOT LIKE '%pg_stat_activity%'")
        return int(rows[0][0])

    def wait_until(self, is_so, what, seconds=120):
        deadline = time.monotonic() + seconds
        while not is_so():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.1)

    def settle(self):
        """Until nothing but heartbeats is said, for 18 of them: six seconds with this lease."""
        other = "query NOT LIKE '%beats%' AND query NOT LIKE 'SET %'"
        seen = [self.calls(other), self.calls("query LIKE '%beats%'")]

        def is_quiet():
            now = [self.calls(other), self.calls("query LIKE '%beats%'")]
            if now[0] != seen[0]:
                seen[:] = now
            return now[1] - seen[1] >= 18

        self.wait_until(is_quiet, "the nodes never came to rest")

    def said(self):
        """Statements beyond two for each of 18 heartbeats, all of them, the heartbeats, and the seconds it took."""
        self.database.query("SELECT pg_stat_statements_reset()")
        begun = time.monotonic()
        self.wait_until(lambda: self.calls("query LIKE '%beats%'") >= 18, "no heartbeats")
        heartbeats, calls = self.calls("query LIKE '%beats%'"), self.calls()
        return calls - 2 * heartbeats, calls, heartbeats, time.monotonic() - begun

    def test_an_idle_cluster_says_little(self):
        # Runs that leave memory are noted once; that is not what is counted here.
        nodes = [Node(self.database.url + "&schema=idle", "--node-lease", "3s", "--idle-release-timeout", "off")
                 for _ in range(3)]
        try:
            nodes[0].deploy("waiter", WAITER)
            for i in range(60):
                nodes[i % 3].post("/v1/runs", {"workflow": "waiter", "id": f"w{i}"})
            for i in range(60):
                nodes[0].wait_for(f"w{i}", "suspended")
            # What the nodes have counted is stored at the end of the minute; then there is nothing to say.
            minute = time.time() // 60
            self.wait_until(lambda: time.time() // 60 > minute, "the minute does not end")
            rates = "SELECT count(DISTINCT source) FROM idle.rates"
            self.wait_until(lambda: int(self.database.query(rates)[0][0]) == 3, "no rates were stored")
            self.settle()
            # All nodes sweep once a minute, at about the same time: not in both of these.
            besides, calls, heartbeats, seconds = min(self.said(), self.said())
            # Three heartbeats of two statements per second with this lease; with that of 10 s it is one.
            self.assertLess(3 / 10 * calls / seconds, 5, f"{calls} statements, {heartbeats} heartbeats")
            self.assertLessEqual(besides, 8)
            versions = self.database.query("SELECT version FROM idle.store")
            updates = self.database.query("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables "
                                          "WHERE relname = 'beats' AND schemaname = 'idle'")[0]
            self.assertEqual(updates[0], updates[1], "beats must not touch an index")
            self.assertEqual(self.database.query("SELECT version FROM idle.store"), versions)
            alive = [node for node in nodes[0].get("/v1/nodes").json["items"] if node["alive"]]
            self.assertEqual(len(alive), 3)
            # Nobody has slept too well: a dead one is noticed without any other event.
            nodes[1].kill()
            self.wait_until(lambda: sum(node["alive"] for node in nodes[0].get("/v1/nodes").json["items"]) == 2,
                            "the dead node still counts as alive")
            nodes[2].post("/v1/runs/w1/signals/go", 1)
            self.assertEqual(nodes[0].wait_for("w1", "completed")["result"], {"word": 1})
        finally:
            for node in nodes:
                node.close()


if __name__ == "__main__":
    tap.main()
