"""Servers on one Redis: alone, beside each other, killed, cut off, and with the server away."""
import json
import os
import re
import signal
import subprocess
import sys
import time
import threading
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, Node, in_time, wait_until  # noqa: E402
from servers.proxy import Proxy  # noqa: E402
from servers.redis import Pretender, Redis, free_port  # noqa: E402
from test_nodes import check_what_nodes_tell  # noqa: E402

APPROVAL = """
const answer = await Signal.when("approve")
await Timer.delay("300ms")
return { id: Inputs.id, answer }
"""
DOUBLE = "return Inputs.n * 2"


def quietly(call):
    """The answer, or None when the server at the other end went away."""
    try:
        return call()
    except OSError:
        return None


class RedisTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.redis = Redis()
        cls.redis.start()

    @classmethod
    def tearDownClass(cls):
        cls.redis.close()

    def setUp(self):
        self.prefix = self.id().rsplit(".", 1)[1][:40]
        self.nodes = []

    def tearDown(self):
        for node in self.nodes:
            node.close()

    def url(self):
        return self.redis.url + "&prefix=" + self.prefix

    def node(self, url=None, *arguments):
        node = Node(url or self.url(), *arguments)
        self.nodes.append(node)
        return node

    def refusal(self, url):
        """What a server says that does not start."""
        with self.assertRaises(RuntimeError) as caught:
            self.node(url)
        return str(caught.exception)

    def answer_of_verify(self, url):
        done = subprocess.run([ABIDE, "verify", url, "-o", "json"], capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return json.loads(done.stdout)["error"]

    def verify(self):
        done = subprocess.run([ABIDE, "verify", self.url(), "-o", "json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)["rows"]

    def rows(self, table):
        return self.redis.command("HLEN", "{%s}:%s:rows" % (self.prefix, table))

    def test_everything_is_found_again_after_a_restart_of_both(self):
        node = self.node()
        node.said("survives a crash and a power cut")
        node.deploy("approval", APPROVAL)
        for i in range(20):
            answer = node.post("/v1/runs", {"workflow": "approval", "id": f"a{i}", "input": {"id": i}})
            self.assertEqual(answer.status, 201, answer.body)
        node.wait_for("a19", "suspended")
        self.assertEqual(node.stop(), 0)
        self.redis.kill()
        self.redis.start()
        again = self.node()
        for i in range(20):
            again.wait_for(f"a{i}", "suspended")
            again.post(f"/v1/runs/a{i}/signals/approve", f"yes {i}")
        for i in range(20):
            self.assertEqual(again.wait_for(f"a{i}", "completed")["result"], {"id": i, "answer": f"yes {i}"})
        listed = again.get("/v1/runs?workflow=approval&limit=7").json
        self.assertEqual([run["id"] for run in listed["items"]], [f"a{i}" for i in range(19, 12, -1)])
        self.assertGreater(self.verify(), 60)

    def test_two_nodes_share_the_work_and_one_takes_over(self):
        one, two = self.node(), self.node()
        one.deploy("approval", APPROVAL)
        for i in range(12):
            node = (one, two)[i % 2]
            self.assertEqual(node.post("/v1/runs", {"workflow": "approval", "id": f"a{i}",
                                                    "input": {"id": i}}).status, 201)
        results = {}

        def wait(i):  # at the one that was not told
            results[i] = one.get(f"/v1/runs/a{i}/result?wait=60s").json

        waiting = [threading.Thread(target=wait, args=(i,)) for i in range(6)]
        for thread in waiting:
            thread.start()
        for i in range(6):
            two.wait_for(f"a{i}", "suspended")
            self.assertIn(two.post(f"/v1/runs/a{i}/signals/approve", i).status, (200, 202))
        for thread in waiting:
            thread.join()
        self.assertEqual([results[i]["result"]["answer"] for i in range(6)], list(range(6)))
        self.assertEqual(len([node for node in two.get("/v1/nodes").json["items"] if node["alive"]]), 2)
        for i in range(6, 12):  # the timers of half of them belong to the one that dies
            (one, two)[i % 2].wait_for(f"a{i}", "suspended")
            (one, two)[i % 2].post(f"/v1/runs/a{i}/signals/approve", i)
        one.kill()
        for i in range(6, 12):
            self.assertEqual(two.wait_for(f"a{i}", "completed")["result"], {"id": i, "answer": i})
        self.verify()

    def said(self):
        """How often the nodes have spoken to the server, and how often that was a heartbeat: nothing else in the
        functions calls HGETALL."""
        text = self.redis.command("INFO", "commandstats").decode()
        calls = {name: int(count) for name, count in re.findall(r"cmdstat_(\w+):calls=(\d+)", text)}
        return sum(calls.get(name, 0) for name in ("fcall", "fcall_ro", "blpop")), calls.get("hgetall", 0)

    def test_an_idle_cluster_says_little(self):
        # Runs that leave memory are noted once; that is not what is counted here.
        nodes = [self.node(None, "--node-lease", "3s", "--idle-release-timeout", "off") for _ in range(3)]
        nodes[0].deploy("approval", APPROVAL)
        for i in range(60):
            nodes[i % 3].post("/v1/runs", {"workflow": "approval", "id": f"w{i}", "input": {"id": i}})
        for i in range(60):
            nodes[0].wait_for(f"w{i}", "suspended")
        # What the nodes have counted is stored when the minute is over; then there is nothing to say.
        minute = time.time() // 60
        wait_until(lambda: time.time() // 60 > minute, 120, lambda: "the minute never ends")
        rest = [self.said()]

        def is_at_rest():  # for 18 heartbeats in a row: six seconds with this lease
            now = self.said()
            if now[0] - now[1] != rest[0][0] - rest[0][1]:
                rest[0] = now
            return now[1] - rest[0][1] >= 18

        wait_until(is_at_rest, 120, lambda: "the nodes never came to rest")
        version = self.redis.command("HGET", "{%s}:store" % self.prefix, "version")

        def said_besides():  # in the time of 18 heartbeats, however long it takes until they were counted
            begun = self.said()
            wait_until(lambda: self.said()[1] - begun[1] >= 18, 120, lambda: "no heartbeats")
            now = self.said()
            return now[0] - begun[0] - (now[1] - begun[1])

        # All nodes sweep once a minute, at about the same time: not in both of these.
        self.assertLessEqual(min(said_besides(), said_besides()), 8)
        self.assertEqual(self.redis.command("HGET", "{%s}:store" % self.prefix, "version"), version)
        self.assertEqual(sum(node["alive"] for node in nodes[0].get("/v1/nodes").json["items"]), 3)
        # Nobody has slept too well: a dead one is noticed without any other event.
        nodes[1].kill()
        wait_until(lambda: sum(node["alive"] for node in nodes[0].get("/v1/nodes").json["items"]) == 2, 60,
                   lambda: "the dead node still counts as alive")
        nodes[2].post("/v1/runs/w1/signals/approve", 1)
        self.assertEqual(nodes[0].wait_for("w1", "completed")["result"], {"id": 1, "answer": 1})

    def test_each_node_tells_what_it_is_and_what_it_has_in_memory(self):
        check_what_nodes_tell(self, *(self.node(None, "--node-lease", "3s") for _ in range(2)))

    def test_a_node_that_stood_still_is_fenced_and_joins_anew(self):
        one, two = self.node(), self.node()
        one.deploy("double", DOUBLE)
        names = {node["name"] for node in two.get("/v1/nodes").json["items"]}
        one.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: len([node for node in two.get("/v1/nodes").json["items"] if node["alive"]]) == 1)
        self.assertEqual(two.run("double", {"n": 5}, id="meanwhile")["result"], 10)
        one.process.send_signal(signal.SIGCONT)
        wait_until(lambda: len([node for node in two.get("/v1/nodes").json["items"] if node["alive"]]) == 2)
        self.assertEqual(len(names), 2)
        self.assertEqual(one.run("double", {"n": 6}, id="after")["result"], 12)
        self.verify()

    def test_what_was_acknowledged_survives_kills_of_redis(self):
        """Clients start runs while Redis is killed -9 again and again: each that was acknowledged has run,
        once."""
        node = self.node()
        node.deploy("double", DOUBLE)
        acknowledged, is_over = [], threading.Event()

        def start_runs(client):
            for i in range(100000):
                if is_over.is_set():
                    return
                run_id = f"c{client}-{i}"
                answer = quietly(lambda: node.post("/v1/runs", {"workflow": "double", "id": run_id,
                                                                "input": {"n": i}}))
                if answer is not None and answer.status in (200, 201):
                    acknowledged.append((run_id, i))

        clients = [threading.Thread(target=start_runs, args=(i,)) for i in range(4)]
        for client in clients:
            client.start()
        for _ in range(4):
            before = len(acknowledged)
            wait_until(lambda: len(acknowledged) > before + 20)
            self.redis.kill()
            self.redis.start()
        is_over.set()
        for client in clients:
            client.join()
        self.assertGreater(len(acknowledged), 80)
        for run_id, n in acknowledged:
            self.assertEqual(node.wait_for(run_id, "completed")["result"], 2 * n)
        wait_until(lambda: node.get("/readyz").status == 200)
        stats = node.get("/v1/stats").json
        self.assertEqual(self.rows("runs"), stats["runs"]["completed"], "a run is stuck")
        self.verify()

    def test_commits_whose_answers_are_lost_happen_once(self):
        """Connections are cut after a commit was sent: what was asked for is there, and only once."""
        proxy = Proxy(self.redis.socket)
        node = self.node(f"redis://127.0.0.1:{proxy.port}/0?prefix={self.prefix}")
        node.deploy("double", DOUBLE)
        node.run("double", {"n": 0}, id="r0")
        total = 25
        for i in range(1, total + 1):
            proxy.cut_after = b"_commit\r\n"
            answer = node.post("/v1/runs?wait=60s", {"workflow": "double", "id": f"r{i}", "input": {"n": i}})
            self.assertIn(answer.status, (200, 201), answer.body)
            self.assertEqual(node.wait_for(f"r{i}", "completed")["result"], 2 * i)
        self.assertGreaterEqual(proxy.cut_count, total)
        self.assertEqual(self.rows("runs"), total + 1)
        for i in range(total + 1):
            kinds = [entry["kind"] for entry in node.get(f"/v1/runs/r{i}/log").json["items"]]
            self.assertEqual((kinds.count("started"), kinds.count("finished")), (1, 1), kinds)
        self.verify()
        proxy.close()

    def test_readiness_goes_red_while_redis_is_away(self):
        server = Redis()
        with server:
            node = self.node(server.url)
            self.assertEqual(node.get("/readyz").status, 200)
            server.kill()
            wait_until(lambda: node.get("/readyz").status == 503)
            self.assertEqual(node.get("/v1/runs").status, 503)
            server.start()
            wait_until(lambda: node.get("/readyz").status == 200)
            node.deploy("double", DOUBLE)
            self.assertEqual(node.run("double", {"n": 21})["result"], 42)
            self.nodes.remove(node)
            node.close()

    def test_a_node_whose_redis_stands_still_refuses_and_ends(self):
        node = self.node()
        node.deploy("double", DOUBLE)
        os.kill(self.redis.process.pid, signal.SIGSTOP)
        try:
            answer = node.post("/v1/runs", {"workflow": "double", "id": "late"}, timeout=25)
            self.assertEqual((answer.status, answer.json["code"]), (503, "STORE_UNAVAILABLE"))
            node.process.terminate()
            self.assertEqual(node.process.wait(20), 0)
            node.reader.join()
            self.assertIn("not handed back", "\n".join(node.lines))
        finally:
            os.kill(self.redis.process.pid, signal.SIGCONT)

    def test_what_is_not_promised_is_said(self):
        for settings, words in (
                ({"appendfsync": "everysec"}, "the last two seconds"),
                ({"appendfsync": "no"}, "half minute"),
                ({"no-appendfsync-on-rewrite": "yes"}, "half minute"),
                ({"appendonly": "no"}, "no append-only file")):
            with Redis(settings) as server:
                node = self.node(server.url)
                node.said(words)
                node.said("P1 is not promised")
                asked = subprocess.run([ABIDE, "doctor", "--store", server.url], capture_output=True, text=True)
                self.assertRegex(asked.stdout, "warning +promise: .*P1 is not promised")
                self.nodes.remove(node)
                node.close()

    def test_servers_that_cannot_carry_a_store_are_refused(self):
        with Redis({"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}) as server:
            said = self.refusal(server.url)
            self.assertIn("STORE_SERVER", said)
            self.assertIn("noeviction", said)
        with Redis({"requirepass": "open sesame"}) as server:
            self.assertIn("STORE_DENIED", self.refusal(server.url))
            self.assertIn("STORE_DENIED", self.refusal(server.url.replace("redis://", "redis://:wrong@")))
            node = self.node(server.url.replace("redis://", "redis://default:open%20sesame@"))
            self.assertEqual(node.get("/readyz").status, 200)
            self.assertNotIn("sesame", "\n".join(node.lines))
            self.nodes.remove(node)
            node.close()
        master = {"port": str(free_port())}
        with Redis(master) as server, Redis({"replicaof": f"127.0.0.1 {server.port}", "appendonly": "no"}) as replica:
            wait_until(lambda: b"master_link_status:up" in replica.command("INFO"))
            self.assertIn("STORE_READ_ONLY", self.refusal(replica.url))
        self.assertIn("STORE_URL", self.refusal("rediss://127.0.0.1"))

    def test_what_a_server_answers_instead_is_explained(self):
        """Which code, and which words for people; the server's own are among them."""
        for answer, code, words in (
                ("MOVED 3999 127.0.0.1:6381", "STORE_SERVER", "belong to the node named here"),
                ("ASK 3999 127.0.0.1:6381", "STORE_SERVER", "moving the store's keys"),
                ("CLUSTERDOWN Hash slot not served", "STORE_SERVER", "not complete"),
                ("LOADING Redis is loading the dataset in memory", "STORE_BUSY", "still reading its data"),
                ("NOREPLICAS Not enough good replicas", "STORE_READ_ONLY", "min-replicas-to-write"),
                ("MASTERDOWN Link with MASTER is down", "STORE_READ_ONLY", "has lost its master"),
                ("NOPERM No permissions to run the 'info' command", "STORE_DENIED", "commands in docs/redis.md"),
                ("ERR something new", "STORE_IO", "something new")):
            with self.subTest(answer), Pretender({None: f"-{answer}\r\n".encode()}) as server:
                said = self.answer_of_verify(server.url)
                self.assertEqual(said["code"], code, said)
                self.assertIn(words, said["detail"])
                self.assertIn(answer, said["detail"])

    def test_servers_of_the_wrong_kind_are_refused(self):
        for info, words in (("redis_version:6.2.14", "needs 7.0 or newer"), ("redis_version:", "needs 7.0 or newer"),
                            ("redis_version:7.0.15\r\nredis_mode:sentinel", "name the server that it watches")):
            text = f"# Server\r\n{info}\r\n".encode()
            with self.subTest(info), Pretender({"INFO": b"$%d\r\n%s\r\n" % (len(text), text)}) as server:
                said = self.answer_of_verify(server.url)
                self.assertEqual(said["code"], "STORE_SERVER", said)
                self.assertIn(words, said["detail"])

    def test_a_server_that_cannot_save_takes_no_writes_and_loses_nothing(self):
        with Redis() as server:
            node = self.node(server.url)
            node.deploy("double", DOUBLE)
            self.assertEqual(node.run("double", {"n": 1})["result"], 2)
            os.chmod(server.folder, 0o555)  # no new files
            server.command("CONFIG", "SET", "save", "3600 1")
            server.command("BGSAVE")
            wait_until(lambda: b"rdb_last_bgsave_status:err" in server.command("INFO"))
            answer = node.post("/v1/runs", {"workflow": "double", "id": "r", "input": {"n": 2}})
            self.assertEqual((answer.status, answer.json["code"]), (503, "STORE_UNAVAILABLE"), answer.body)
            self.assertIn("cannot save its data", answer.json["detail"])
            os.chmod(server.folder, 0o755)
            server.command("BGSAVE")
            wait_until(lambda: b"rdb_last_bgsave_status:ok" in server.command("INFO"))
            wait_until(lambda: node.get("/readyz").status == 200)
            self.assertEqual(node.run("double", {"n": 3})["result"], 6)
            again = node.post("/v1/runs?wait=50s", {"workflow": "double", "id": "r", "input": {"n": 2}})
            self.assertEqual(again.json["result"], 4, again.body)  # whether or not the first one was kept
            self.nodes.remove(node)
            node.close()

    def test_keys_of_others_are_left_alone(self):
        self.redis.command("SET", "{%s}:runs:rows" % self.prefix, "mine")
        self.assertIn("STORE_NOT_OURS", self.refusal(self.url()))
        self.assertEqual(self.redis.command("GET", "{%s}:runs:rows" % self.prefix), b"mine")
        self.assertEqual(self.redis.command("EXISTS", "{%s}:store" % self.prefix), 0)
        missing = subprocess.run([ABIDE, "verify", self.redis.url + "&prefix=missing"], capture_output=True,
                                 text=True)
        self.assertEqual(missing.returncode, 4, missing.stderr)
        self.assertEqual(self.redis.command("EXISTS", "{missing}:store"), 0)

    def test_a_full_server_loses_nothing(self):
        with Redis({"maxmemory": "8mb", "maxmemory-policy": "noeviction"}) as server:
            node = self.node(server.url)
            node.deploy("double", DOUBLE)
            padding = "x" * 100000
            answers = [node.post("/v1/runs", {"workflow": "double", "id": f"r{i}",
                                              "input": {"n": i, "padding": padding}}) for i in range(100)]
            taken = [i for i, answer in enumerate(answers) if answer.status == 201]
            self.assertGreater(len(taken), 5)
            self.assertLess(len(taken), 100)
            refused = [answer for answer in answers if answer.status != 201]
            self.assertEqual({(answer.status, answer.json["code"]) for answer in refused}, {(507, "STORE_FULL")})
            self.assertIn("maxmemory", refused[0].body)
            # At the limit itself a small write may still find room; below what is used, none does.
            server.command("CONFIG", "SET", "maxmemory", "1mb")
            more = {"workflow": "double", "input": {"n": 1, "padding": padding}}
            wait_until(lambda: node.post("/v1/runs", more).status == 507)
            ready = node.get("/readyz")
            self.assertEqual((ready.status, ready.json["code"]), (507, "STORE_FULL"))
            pending = [i for i in taken if node.get(f"/v1/runs/r{i}/result").status == 202]
            for i in pending[:1]:  # answered in its time, whatever the store takes
                answer = in_time(lambda: node.get(f"/v1/runs/r{i}/result?wait=1s"))
                self.assertEqual(answer.status, 202)
            server.command("CONFIG", "SET", "maxmemory", "200mb")
            wait_until(lambda: node.get("/readyz").status == 200)
            for i in taken:
                self.assertEqual(node.wait_for(f"r{i}", "completed")["result"], 2 * i)
            self.nodes.remove(node)
            node.close()


if __name__ == "__main__":
    tap.main()
