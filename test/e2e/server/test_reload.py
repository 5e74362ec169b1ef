"""Bringing a released run back fails: the store is away (503), its row is damaged (500), it is
unknown (404) or has ended (409). The run is left as it was, and goes on once it can."""
import os
import sqlite3
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, PATIENCE, Node, Server, wait_until  # noqa: E402
from servers.postgres import Postgres  # noqa: E402
from servers.proxy import Proxy  # noqa: E402
from handlers import Client  # noqa: E402

THREE = """
const seen = []
for (let i = 0; i < 3; i++) seen.push(await Signal.next('Go'))
return seen
"""


class Case(unittest.TestCase):
    def begin(self, server):
        self.server = server
        self.client = Client(server.port)
        server.deploy("three", THREE)
        self.release_new("h")

    def release_new(self, name):
        status, _ = self.client.handler("POST", "/workflows/three/run-nowait", {"handler_id": name})
        self.assertEqual(status, 200)
        self.server.wait_for(name, "suspended")
        self.assertEqual(self.client.call("POST", "/handlers/%s/release" % name),
                         (200, {"status": "released"}))

    def post(self, name, value):
        return self.client.call("POST", "/events/" + name,
                                {"event": {"type": "Go", "value": value}})

    def assert_refused(self, answer, status, detail):
        self.assertEqual(answer[0], status, answer)
        self.assertRegex(answer[1]["detail"], detail)

    def assert_goes_on(self, name):
        status, handler = self.client.handler("GET", "/handlers/" + name)
        self.assertEqual((status, handler["status"], handler["error"], handler["released"]),
                         (202, "running", None, True))
        for number in (1, 2, 3):
            self.assertEqual(self.post(name, number), (200, {"status": "sent"}))
        self.assertEqual(self.server.wait_for(name, "completed")["result"], [1, 2, 3])


class StoreAway(Case):
    """Behind a proxy that cuts every connection and lets none through."""

    def setUp(self):
        self.database = Postgres()
        self.database.start()
        self.proxy = Proxy(os.path.join(self.database.folder, ".s.PGSQL.5432"))
        url = "postgres://abide@127.0.0.1:%d/postgres?schema=away&sslmode=disable" % self.proxy.port
        self.begin(Node(url))

    def tearDown(self):
        self.server.close()
        self.proxy.close()
        self.database.close()

    def test_store_unavailable_answers_503_and_leaves_the_run_intact(self):
        self.proxy.is_down = True
        self.proxy.cut_all()
        self.assert_refused(self.post("h", "away"), 503, ".")
        self.assert_refused(self.client.call("GET", "/events/h"), 503, ".")
        self.assert_refused(self.client.call("POST", "/handlers/h/cancel"), 503, ".")
        self.assert_refused(self.client.call("GET", "/handlers/h"), 503, ".")
        answer = self.server.post("/v1/runs/h/signals/Go", "away")
        self.assertEqual((answer.status, answer.json["code"]), (503, "STORE_UNAVAILABLE"))
        self.assertEqual(self.client.call("GET", "/health"), (503, {"status": "unhealthy"}))
        self.proxy.is_down = False
        wait_until(lambda: self.client.call("GET", "/health")[0] == 200)
        wait_until(lambda: self.server.get("/readyz").status == 200)
        self.assert_goes_on("h")


class Refused(Case):
    def setUp(self):
        self.begin(Server())

    def tearDown(self):
        self.server.close()

    def change(self, sql):
        self.server.kill()
        with sqlite3.connect(os.path.join(self.server.folder, "test.db")) as database:
            self.assertGreater(database.execute(sql).rowcount, 0)
        database.close()
        self.server.restart_on_its_port()

    def test_reload_failure_answers_500_and_leaves_the_run_untouched(self):
        self.release_new("sound")
        self.change("UPDATE abide_runs SET waits = CAST(x'ff' || waits AS BLOB) WHERE id = 'h'")
        self.assert_refused(self.post("h", "lost"), 500, ".")
        # Whoever comes at the same time is not harmed.
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.post("h", "lost")))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        self.assert_goes_on("sound")
        for thread in threads:
            thread.join()
        self.assertEqual({answer[0] for answer in answers}, {500})
        status, handler = self.client.handler("GET", "/handlers/h")
        self.assertEqual((status, handler["status"], handler["error"]), (202, "running", None))
        self.change("UPDATE abide_runs SET waits = substr(waits, 2) WHERE id = 'h'")
        self.assert_goes_on("h")

    def test_damaged_snapshot_answers_500_and_leaves_the_run_untouched(self):
        self.change("UPDATE abide_runs SET snapshot = CAST(x'00' || snapshot AS BLOB)")
        self.assert_refused(self.post("h", "lost"), 500, "SNAPSHOT_CORRUPT")
        self.server.said("run h (three) cannot be brought back into memory")
        status, handler = self.client.handler("GET", "/handlers/h")
        self.assertEqual((status, handler["status"], handler["released"]), (202, "running", True))
        self.assertRegex(handler["error"], "snapshot cannot be read")
        for part in ("snapshot?depth=16", "snapshot?path=x", "diff"):
            answer = self.server.get("/v1/runs/h/" + part)
            self.assertEqual((answer.status, answer.json["code"]), (500, "SNAPSHOT_CORRUPT"), part)
        self.change("UPDATE abide_runs SET snapshot = substr(snapshot, 2)")
        self.assert_goes_on("h")

    def test_damaged_kept_turns_are_listed_and_not_opened(self):
        self.server.deploy("twice", "const n = 1; await Signal.next('a'); await Signal.next('b'); return n")
        self.server.run("twice", wait="0s", id="kept")
        self.server.post("/v1/runs/kept/signals/a", raw="1")
        self.server.wait_for("kept", "suspended", is_so=lambda run: run["waits"][0]["name"] == "b")
        self.change("UPDATE abide_snapshots SET snapshot = CAST(x'00' || snapshot AS BLOB)")
        turn, = self.server.get("/v1/runs/kept/turns").json["items"]
        self.assertEqual((turn["turn"], turn["line"]), (1, None))
        for part in ("snapshot?turn=1", "diff?from=1"):
            answer = self.server.get("/v1/runs/kept/" + part)
            self.assertEqual((answer.status, answer.json["code"]), (500, "SNAPSHOT_CORRUPT"), part)
        self.server.post("/v1/runs/kept/signals/b", raw="1")
        self.server.wait_for("kept", "completed")

    def test_turns_from_before_a_move_are_looked_at_in_their_version(self):
        source = "const n = 1; await Signal.next('a'); const m = 2; await Signal.next('b'); return n + m"
        self.server.deploy("moved", source)
        self.server.run("moved", wait="0s", id="goes")
        self.server.post("/v1/runs/goes/signals/a", raw="1")
        self.server.wait_for("goes", "suspended", is_so=lambda run: run["waits"][0]["name"] == "b")
        self.server.deploy("moved", "\n" + source + " + 0")
        self.assertTrue(self.server.post("/v1/runs/goes/move", {}).json["changed"])
        self.server.wait_for("goes", "suspended", is_so=lambda run: run["waits"][0]["name"] == "b")
        turn = self.server.get("/v1/runs/goes/turns").json["items"][0]
        self.assertEqual((turn["turn"], turn["line"]), (1, 1))
        frame, = self.server.get("/v1/runs/goes/snapshot?turn=1").json["frames"]
        self.assertEqual(frame["line"], 1)
        sides = self.server.get("/v1/runs/goes/diff?from=1").json
        self.assertEqual((sides["from"]["line"], sides["to"]["line"]), (1, 2))

    def test_a_retry_of_a_damaged_run_is_held_and_the_failed_one_stays(self):
        self.server.deploy("fails", "await Signal.next('a'); throw new Error('no')")
        self.server.run("fails", wait="0s", id="bad")
        self.server.post("/v1/runs/bad/signals/a", raw="1")
        self.server.wait_for("bad", "failed")
        self.change("UPDATE abide_runs SET snapshot = CAST(x'00' || snapshot AS BLOB) WHERE id = 'bad'")
        self.server.post("/v1/runs/bad/retry", {})
        held = self.server.wait_for("bad~2", "paused")
        self.assertEqual(held["pause_reason"]["type"], "SNAPSHOT_CORRUPT")
        self.assertEqual(self.server.get("/v1/runs/bad").json["status"], "failed")

    def test_damaged_run_with_a_due_timer_is_paused_and_the_others_go_on(self):
        self.server.deploy("nap", "return await Signal.when('up', {timeout: Inputs.time})")
        self.server.run("nap", wait="0s", id="hurt", input={"time": "1h"})
        self.server.wait_for("hurt", "suspended")
        self.change("UPDATE abide_runs SET waits = CAST(x'ff' || waits AS BLOB), due_at_ms = 1 "
                    "WHERE id = 'hurt'")
        self.server.wait_for("hurt", "paused")
        self.server.said('the run "hurt" is damaged and was paused')
        entry = self.server.get("/v1/runs/hurt/log").json["items"][-1]
        self.assertEqual((entry["kind"], entry["data"]["code"]), ("paused", "STORE_CORRUPT"))
        late = self.server.run("nap", input={"time": "100ms"})
        self.assertEqual((late["status"], late["error"]["type"]), ("failed", "TimeoutError"))
        self.assert_goes_on("h")
        verified = subprocess.run([ABIDE, "verify", self.server.store], capture_output=True,
                                  text=True, timeout=PATIENCE)
        self.assertNotEqual(verified.returncode, 0)
        self.assertIn('a wait set cannot be read: "hurt"', verified.stdout + verified.stderr)
        self.change("UPDATE abide_runs SET waits = substr(waits, 2) WHERE id = 'hurt'")
        self.assertEqual(self.server.post("/v1/runs/hurt/resume").status, 200)
        self.assertEqual(self.server.post("/v1/runs/hurt/signals/up", "awake").status, 202)
        self.assertEqual(self.server.wait_for("hurt", "completed")["result"], "awake")

    def test_unknown_and_completed_while_released_answer_404_and_409(self):
        self.assert_refused(self.post("nobody", 1), 404, "^Handler not found$")
        self.assertEqual(self.client.call("POST", "/handlers/h/cancel"),
                         (200, {"status": "cancelled"}))
        self.assert_refused(self.post("h", 1), 409, "^Workflow already completed$")
        self.release_new("timed")
        for number in (1, 2, 3):
            self.post("timed", number)
        self.server.wait_for("timed", "completed")
        self.assert_refused(self.post("timed", 4), 409, "^Workflow already completed$")
        self.assert_refused(self.client.call("POST", "/handlers/timed/release"), 409, "completed")

    def test_shutdown_with_released_handlers_loses_nothing(self):
        self.assertEqual(self.server.stop(), 0)
        self.server.restart_on_its_port()
        self.assert_goes_on("h")


if __name__ == "__main__":
    tap.main()
