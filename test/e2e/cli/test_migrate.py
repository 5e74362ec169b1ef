"""`abide migrate`: a store with everything in it goes from one kind of store to another, whole, and goes on there."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import guide  # noqa: E402
import tap  # noqa: E402
from cli import Output  # noqa: E402
from server import ABIDE, PATIENCE, Node, Server  # noqa: E402
from servers.postgres import Postgres  # noqa: E402
from servers.redis import Redis  # noqa: E402

FLOWS = {
    "signalled": 'State.set("stage", "waiting")\nawait Signal.next("begin")\n'
                 'return { word: await Signal.when("go", { timeout: "24h" }) }',
    "subscribed": 'return await Event.wait("news", { filter: "n > 5" })',
    "sleeping": 'await Timer.delay("4s")\nreturn "awake"',
    "working": 'return await Task.run("charge", Inputs, { queue: "money", concurrencyKey: "k" })',
    "parent": 'const [child, word] = await Promise.all([Workflow.run("signalled"), Signal.next("own")])\n'
              'return { child, word }',
    "racing": 'return await Promise.race([Signal.next("late"), Event.wait("nothing"), Timer.delay("24h")])',
    "streaming": 'Stream.write({ at: 1 }, "Progress")\nconsole.log("a line")\nreturn (await Signal.next("go")).n * 2',
    "talking": 'for (let i = 0; i < 3; i++) Event.emit("full", i)\nreturn 3',
    "quick": "return Inputs",
    "broken": 'throw new Error("as it should")',
}


def migrate(*arguments):
    done = subprocess.run([ABIDE, "migrate", *arguments], capture_output=True, text=True, timeout=240)
    for sign in ("Sanitizer", "runtime error:"):
        assert sign not in done.stderr, done.stderr
    return Output(done)


def verify(store):
    done = subprocess.run([ABIDE, "verify", store], capture_output=True, text=True, timeout=240)
    return done.returncode, done.stdout + done.stderr


def rows_of(path):
    """Everything in an SQLite store except the mark, table by table."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.text_factory = bytes
    names = [name.decode() for (name,) in connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'abide_%' ORDER BY name")]
    content = {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in names}
    content["abide_counters"] = [row for row in content["abide_counters"] if row[0] != 63]
    connection.close()
    return content


def fill(server):
    """Runs in every kind of wait and state, and everything else that a store can hold."""
    for name, source in FLOWS.items():
        server.deploy(name, source)
    server.deploy("quick", "return { first: Inputs }")
    server.deploy("quick", FLOWS["quick"])  # two versions, the older one current again
    assert server.call("PUT", "/v1/topics/news", {"consume": "all", "visible": "all"}).status == 200
    assert server.call("PUT", "/v1/topics/full", {"cap": 1}).status == 200
    assert server.post("/v1/queues/stopped/pause").status == 200
    start_runs(server)
    for n in range(3):
        server.post("/v1/events/news", {"n": n})
    server.run("talking", None)
    server.post("/v1/runs/signalled-1/signals/unasked", {"kept": [12345678901234567, [], None]})
    server.post("/v1/events/kept?id=evt-once", "é")
    server.call("PUT", "/v1/schedules/nightly", {"workflow": "quick", "cron": "30 2 * * *",
                                                 "timezone": "Europe/Berlin"})
    server.call("PUT", "/v1/schedules/held", {"workflow": "quick", "every": "15m"})
    server.post("/v1/schedules/held/pause")
    assert server.post("/v1/runs/racing-1/release").status == 200
    server.post("/v1/tasks", {"name": "alone", "input": {"n": 1}, "id": "alone-1", "priority": 7})
    leased = server.claim(queues=["money"], max=1, lease="1h")
    assert len(leased) == 1
    return leased[0]


def start_runs(server):
    for name in ("signalled", "subscribed", "sleeping", "working", "parent", "racing", "streaming"):
        for n in (1, 2):
            body = {"workflow": name, "id": f"{name}-{n}", "input": {"n": n}, "tags": ["all", name]}
            assert server.post("/v1/runs", body).status == 201
            server.wait_for(f"{name}-{n}", "suspended")
    for run in ("signalled-1", "signalled-2", *(
            server.get(f"/v1/runs?parent=parent-{n}").json["items"][0]["id"] for n in (1, 2))):
        server.post(f"/v1/runs/{run}/signals/begin", 0)
        wait_until(lambda: '"go"' in server.get(f"/v1/runs/{run}").body)
    server.run("quick", {"text": "\u00e9\u0001\u2028", "n": [1e-7, -0.5]}, id="done")
    server.run("broken", None, id="failed")
    server.post("/v1/runs", {"workflow": "signalled", "id": "gone"})
    server.wait_for("gone", "suspended")
    server.post("/v1/runs/gone/cancel", {"reason": "for the test"})
    server.wait_for("gone", "cancelled")
    server.post("/v1/runs", {"workflow": "signalled", "id": "held"})
    server.wait_for("held", "suspended")
    server.post("/v1/runs/held/pause")
    server.post("/v1/runs", {"workflow": "quick", "id": "later", "delay": "24h", "priority": 5})
    server.post("/v1/runs", {"workflow": "quick", "id": "keyed"}, headers={"Idempotency-Key": "once"})
    server.wait_for("keyed", "completed")


def wait_until(is_so):
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def seen(server):
    """What the API shows, without what changes by the clock or the process."""
    shown = {}
    for path in ("/v1/runs?limit=200", "/v1/workflows", "/v1/topics", "/v1/tasks", "/v1/schedules",
                 "/v1/dead-letters", "/v1/queues", "/v1/tokens"):
        shown[path] = server.get(path).json
    runs = shown["/v1/runs?limit=200"]
    runs["items"] = [item for item in runs["items"] if item["workflow"] != "sleeping"]  # they wake up
    for item in runs["items"]:
        item.pop("released", None)
        for part in ("steps", "log", "snapshot"):
            answer = server.get(f"/v1/runs/{item['id']}/{part}")
            shown[item["id"], part] = answer.json if answer.status == 200 else answer.status
    for queue in shown["/v1/queues"]["items"]:
        for field in [name for name in queue if "age" in name]:
            queue.pop(field)
    return shown


class MigrateTest(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.database = Postgres()
        cls.addClassCleanup(cls.database.close)
        cls.database.start()
        cls.path = os.path.join(cls.folder, "test.db")
        server = Server(folder=cls.folder)
        try:
            done = subprocess.run([ABIDE, "token", "create", "--name", "t", "--scope", "read", "--server",
                                   f"http://127.0.0.1:{server.port}"], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            cls.leased = fill(server)
            cls.shown = seen(server)
            assert server.stop() == 0
        finally:
            server.close()

    def setUp(self):
        self.number = 0
        self.nodes = []

    def tearDown(self):
        for node in self.nodes:
            node.close()

    def schema(self, name=None):
        self.number += 1
        return self.database.url + "&schema=" + (name or f"{self.id().rsplit('.', 1)[1][:34].lower()}_{self.number}")

    def copy(self):
        """The full store, as a file of its own."""
        self.number += 1
        path = os.path.join(self.folder, f"{self.id().rsplit('.', 1)[1]}-{self.number}.db")
        shutil.copy(self.path, path)
        return path

    def large_copy(self):
        """So much that moving it row by row cannot be over before it is ended."""
        path = self.copy()
        connection = sqlite3.connect(path)
        connection.executemany("INSERT INTO abide_dedupe VALUES ('more', ?, 0, NULL, 0)",
                               [(f"id-{n}",) for n in range(4000)])
        connection.commit()
        connection.close()
        return path

    def node(self, store):
        self.nodes.append(Node(store))
        return self.nodes[-1]

    def moved(self, *arguments):
        done = migrate(*arguments, "-o", "json")
        self.assertEqual(done.code, 0, done.out + done.err)
        return done.json

    def refused(self, name, *arguments, code=1):
        done = migrate(*arguments)
        self.assertEqual((done.code, done.out), (code, ""), done.err)
        self.assertRegex(done.err, r"(?m)^abide: .*\(%s\)$" % name)
        return done.err

    def test_there_and_back_everything_is_the_same(self):
        there, back = self.schema(), os.path.join(self.folder, "back.db")
        source = self.copy()
        before = rows_of(source)
        for table in ("runs", "log", "waiters", "events", "topics", "dead_letters", "tasks", "definitions",
                      "dedupe", "tags", "counters", "schedules", "queues", "task_keys", "snapshots",
                      "states", "tokens"):
            self.assertTrue(before["abide_" + table], "the test has no rows of " + table)
        one = self.moved("--from", "sqlite:" + source, "--to", there)
        self.assertEqual(rows_of(source), before)  # besides the mark it is as it was
        self.assertEqual(verify(there)[0], 0)
        two = self.moved("--from", there, "--to", back)
        self.assertEqual(rows_of(back), before)
        self.assertEqual((one["digest"], one["tables"], one["rows"]), (two["digest"], two["tables"], two["rows"]))
        self.assertEqual(one["tables"], {name[6:]: len(rows) for name, rows in before.items()})
        self.assertEqual(verify(back)[0], 0)

    def finish(self, server):
        """What waited there goes on here, as if nothing had been."""
        self.assertEqual(self.shown, seen(server))
        post = server.post
        answer = post("/v1/tasks/complete", {"results": [{
            "id": self.leased["id"], "token": self.leased["token"], "result": "paid"}]}).json
        self.assertEqual(answer["results"][0]["status"], "accepted")  # of a lease given there
        self.assertEqual(server.complete(server.claim(queues=["money"], max=1)[0], "paid")["status"], "accepted")
        self.assertEqual(server.claim(names=["alone"], max=1)[0]["id"], "alone-1")
        post("/v1/events/news", {"n": 6})
        for n in (1, 2):
            post(f"/v1/runs/signalled-{n}/signals/go", n)
            post(f"/v1/runs/streaming-{n}/signals/go", {"n": n})
            post(f"/v1/runs/racing-{n}/signals/late", n)
            post(f"/v1/runs/parent-{n}/signals/own", n)
            children = server.get(f"/v1/runs?parent=parent-{n}").json["items"]
            self.assertEqual(len(children), 1)
            post(f"/v1/runs/{children[0]['id']}/signals/go", "child")
            expected = {"signalled": {"word": n}, "streaming": 2 * n, "racing": n, "working": "paid",
                        "parent": {"child": {"word": "child"}, "word": n}, "sleeping": "awake",
                        "subscribed": {"n": 6}}
            for name, result in expected.items():
                run = server.wait_for(f"{name}-{n}", "completed")
                self.assertEqual(run["result"], result, name)
        again = post("/v1/runs", {"workflow": "quick", "id": "keyed"}, headers={"Idempotency-Key": "once"})
        self.assertEqual((again.status, again.json["id"]), (200, "keyed"))
        self.assertEqual(post("/v1/events/kept?id=evt-once", "é").json["resumed"], 0)
        post("/v1/runs/held/resume")
        post("/v1/runs/held/signals/begin", 0)
        post("/v1/runs/held/signals/go", "freed")
        self.assertEqual(server.wait_for("held", "completed")["result"], {"word": "freed"})
        letter = server.get("/v1/dead-letters").json["items"][0]
        self.assertEqual(post(f"/v1/dead-letters/{letter['id']}/replay").status, 429)  # still full
        self.assertEqual(post("/v1/schedules/nightly/trigger").status, 201)
        fork = post("/v1/runs/signalled-1/fork", {"step": "go"})  # from a snapshot made there
        self.assertEqual(fork.status, 201, fork.body)
        post(f"/v1/runs/{fork.json['id']}/signals/go", "forked")
        self.assertEqual(server.wait_for(fork.json["id"], "completed")["result"], {"word": "forked"})
        self.assertEqual(server.stop(), 0)

    def test_runs_go_on_on_postgresql(self):
        target = self.schema()
        self.moved("--from", self.copy(), "--to", target)
        self.finish(self.node(target))
        self.assertEqual(verify(target)[0], 0)

    def test_runs_go_on_on_sqlite_after_both_ways(self):
        between, target = self.schema(), os.path.join(self.folder, "again.db")
        self.moved("--from", self.copy(), "--to", between)
        self.moved("--from", between, "--to", target)
        self.finish(self.node("sqlite:" + target))
        self.assertEqual(verify(target)[0], 0)

    def test_there_and_back_by_way_of_redis(self):
        with Redis() as redis:
            source, back = self.copy(), os.path.join(self.folder, "from-redis.db")
            before = rows_of(source)
            one = self.moved("--from", source, "--to", redis.url + "&prefix=there")
            self.assertEqual(verify(redis.url + "&prefix=there")[0], 0)
            two = self.moved("--from", redis.url + "&prefix=there", "--to", back)
            self.assertEqual((one["digest"], rows_of(back)), (two["digest"], before))
            self.moved("--from", back, "--to", redis.url + "&prefix=again")
            self.finish(self.node(redis.url + "&prefix=again"))
            self.assertEqual(verify(redis.url + "&prefix=again")[0], 0)

    def test_what_a_killed_server_had_goes_on_too(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        server = Server(folder=folder)
        self.nodes.append(server)
        server.deploy("long", 'let n = 0\nfor (let i = 0; i < 2e6; i++) n += i % 7\nreturn "there"')
        for n in range(5):
            server.post("/v1/runs", {"workflow": "long", "id": f"long-{n}"})
        server.kill()
        target = self.schema()
        self.moved("--from", server.store, "--to", target)
        node = self.node(target)
        for n in range(5):
            self.assertEqual(node.wait_for(f"long-{n}", "completed", seconds=90)["result"], "there")

    def test_killed_in_the_middle_it_is_resumed(self):
        path, target, back = self.large_copy(), self.schema("killed"), os.path.join(self.folder, "killed.db")
        before = rows_of(path)
        for source, sink, is_begun in ((path, target, lambda: self.arrived("killed")),
                                       (target, back, lambda: has_rows(back, "abide_log"))):
            self.kill_in_the_middle(source, sink, is_begun)
            for store, name in ((source, "STORE_MOVED"), (sink, "STORE_FILLING")):
                with self.assertRaisesRegex(RuntimeError, name):
                    self.node(store)
            self.refused("STORE_MOVED", "--from", source, "--to", sink)
            self.assertIn("STORE_FILLING", verify(sink)[1])
            report = self.moved("--from", source, "--to", sink, "--resume")
            self.assertTrue(0 < report["copied"] < report["rows"], report)
        self.assertEqual(rows_of(back), before)

    def arrived(self, schema):
        """Whether there are rows of the log in that schema of PostgreSQL."""
        is_there = self.database.query(f"SELECT to_regclass('{schema}.log') IS NOT NULL") == [["t"]]
        return is_there and self.database.query(f"SELECT count(*) FROM {schema}.log") != [["0"]]

    def stop_when(self, process, is_begun):
        """It stands still while one looks, so that it cannot be over meanwhile, however slow that is."""
        deadline = time.monotonic() + PATIENCE
        while True:
            process.send_signal(signal.SIGSTOP)
            self.assertIsNone(process.poll(), "it was too fast to be stopped")
            if is_begun():
                return
            self.assertLess(time.monotonic(), deadline)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.02)

    def kill_in_the_middle(self, source, sink, is_begun):
        process = subprocess.Popen([ABIDE, "migrate", "--from", source, "--to", sink, "--batch", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.stop_when(process, is_begun)
        process.kill()
        out, err = process.communicate()
        self.assertEqual((process.returncode, out), (-9, ""), err)

    def test_interrupted_it_says_how_to_go_on(self):
        path, target = self.large_copy(), self.schema("stopped")
        process = subprocess.Popen([ABIDE, "migrate", "--from", path, "--to", target, "--batch", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.stop_when(process, lambda: self.arrived("stopped"))
        process.terminate()
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate()
        self.assertEqual((process.returncode, out), (130, ""), err)
        self.assertIn("--resume", err)
        done = migrate("--reopen", path)
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(self.node("sqlite:" + path).stop(), 0)  # it went on after all
        self.refused("TRANSFER_DIFFERS", "--from", path, "--to", target, "--resume")

    def test_every_refusal_leaves_both_as_they_were(self):
        path, empty = self.copy(), self.schema()
        full = self.schema()
        self.moved("--from", self.copy(), "--to", full)
        before = rows_of(path)
        node = self.node(full)
        err = self.refused("STORE_IN_USE", "--from", full, "--to", path + "-new")
        self.assertIn(node.get("/v1/nodes").json["items"][0]["name"], err)
        self.assertEqual(node.get("/readyz").status, 200)
        self.refused("STORE_NOT_EMPTY", "--from", path, "--to", full)
        self.assertEqual(node.stop(), 0)
        owner = self.node("sqlite:" + path)
        err = self.refused("STORE_LOCKED", "--from", path, "--to", empty)
        self.assertRegex(err, r"process \d+; stop that server first")
        self.refused("STORE_LOCKED", "--from", full, "--to", path)
        owner.kill()
        self.refused("STORE_NOT_EMPTY", "--from", full, "--to", path)
        self.refused("TRANSFER_SAME", "--from", path, "--to", "sqlite:" + path, code=2)
        self.refused("STORE_NOT_FOUND", "--from", path + "-none", "--to", empty, code=4)
        self.refused("STORE_NOT_FOUND", "--from", empty, "--to", path + "-new", code=4)
        self.refused("STORE_URL", "--from", "memory:", "--to", path + "-new", code=2)
        self.refused("STORE_NOT_MOVED", "--reopen", path)
        self.refused("BAD_ARGUMENT", "--from", path, code=2)
        self.refused("BAD_ARGUMENT", "--reopen", path, "--resume", code=2)
        self.assertFalse(os.path.exists(path + "-new") or os.path.exists(path + "-none"))
        self.assertEqual(set(rows_of(path)), set(before))
        for store in (path, full):
            self.assertEqual(self.node(store).stop(), 0)

    def test_damage_does_not_travel(self):
        path, target = self.copy(), self.schema()
        connection = sqlite3.connect(path)
        connection.execute("DELETE FROM abide_waiters WHERE rowid = (SELECT min(rowid) FROM abide_waiters)")
        connection.commit()
        connection.close()
        self.refused("STORE_CORRUPT", "--from", path, "--to", target)

    def test_a_file_of_a_newer_version_is_refused(self):
        path = self.copy()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 999")
        connection.close()
        self.refused("STORE_NEWER", "--from", path, "--to", self.schema())

    def test_a_dry_run_counts_and_changes_nothing(self):
        path, target = self.copy(), self.schema("dry")
        report = self.moved("--from", path, "--to", target, "--dry-run")
        self.assertEqual((report["dry_run"], report["copied"]), (True, 0))
        self.assertEqual(report["rows"], sum(len(rows) for rows in rows_of(path).values()))
        self.assertEqual(self.database.query("SELECT to_regnamespace('dry') IS NULL"), [["t"]])
        text = migrate("--from", path, "--to", target, "--dry-run")
        self.assertRegex(text.out, r"(?m)^log +\d+$")
        self.assertIn("nothing was changed", text.out)
        self.assertEqual(self.node("sqlite:" + path).stop(), 0)

    def follow(self, name, **variables):
        """The session of that name in docs/operations.md, in a folder with the full store as orders.db."""
        title, items = next(found for found in guide.sessions("docs/operations.md")
                            if found[0].split()[0] == name)
        self.assertGreater(guide.run_session(title, items, variables, {"orders.db": self.path}), 0)

    def test_the_commands_of_the_guide(self):
        self.follow("sqlite")
        self.follow("move", TARGET=self.schema())
        database, other = self.database.url, self.database.url.replace("///postgres", "///other")
        self.database.query("CREATE DATABASE other")
        self.moved("--from", self.copy(), "--to", database)
        self.follow("postgres", DATABASE=database, OTHER=other)
        self.finish(self.node(other))  # what was restored goes on

    def test_failures_are_json_too(self):
        done = migrate("--from", "memory:", "--to", "memory:", "-o", "json")
        self.assertEqual((done.code, json.loads(done.out)["error"]["code"]), (2, "STORE_URL"))

    def test_passwords_are_not_shown(self):
        secret = self.schema().replace("user=abide", "user=abide&password=hidden")
        done = migrate("--from", self.copy(), "--to", secret)
        self.assertEqual(done.code, 0, done.err)
        self.assertNotIn("hidden", done.out + done.err)


def has_rows(path, table):
    if not os.path.exists(path):
        return False
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] > 0
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()


class BackupTest(unittest.TestCase):
    def test_a_backup_beside_a_server_at_work_goes_on(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        server = Server(folder=folder)
        self.addCleanup(server.close)
        server.deploy("waiter", "return await Signal.next('go')")
        started, is_over = [], threading.Event()

        def start_some():
            while not is_over.is_set():
                started.append(server.post("/v1/runs", {"workflow": "waiter"}).json["id"])

        starter = threading.Thread(target=start_some)
        starter.start()
        try:
            wait_until(lambda: len(started) >= 50)
            known = list(started)
            copy = os.path.join(folder, "backup.db")
            subprocess.run(["sqlite3", "-cmd", ".timeout 20000", server.store.removeprefix("sqlite:"),
                            f".backup {copy}"], check=True)
            wait_until(lambda: len(started) >= len(known) + 20)
        finally:
            is_over.set()
            starter.join()
        self.assertEqual(verify(copy)[0], 0)
        node = Node("sqlite:" + copy)
        self.addCleanup(node.close)
        for run in known:  # everything that was acknowledged before is in it, and goes on there
            node.wait_for(run, "suspended")
        node.post(f"/v1/runs/{known[0]}/signals/go", "there")
        self.assertEqual(node.wait_for(known[0], "completed")["result"], "there")
        self.assertEqual(server.get(f"/v1/runs/{known[0]}").json["status"], "suspended")


if __name__ == "__main__":
    tap.main()
