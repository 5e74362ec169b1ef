"""Idle runs over HTTP: shown, filtered, released, read, woken; races between all of these."""
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from handlers import Client  # noqa: E402
from server import ABIDE, Server, wait_until  # noqa: E402

WAIT_THREE = """
const seen = []
for (let i = 0; i < 3; i++) seen.push(await Signal.next('go'))
return seen
"""


class Case(unittest.TestCase):
    arguments = ()

    def setUp(self):
        self.server = Server(*self.arguments)
        self.server.deploy("three", WAIT_THREE)

    def tearDown(self):
        self.server.close()

    def start(self, run_id, workflow="three"):
        answer = self.server.post("/v1/runs", {"workflow": workflow, "id": run_id})
        self.assertEqual(answer.status, 201, answer.body)
        return self.until(run_id, lambda run: run["status"] == "suspended")

    def show(self, run_id):
        return self.server.get("/v1/runs/" + run_id).json

    def until(self, run_id, is_so):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            run = self.show(run_id)
            if is_so(run):
                return run
            time.sleep(0.01)
        self.fail("it did not become so: %r" % run)

    def kinds(self, run_id):
        items = self.server.get("/v1/runs/%s/log?limit=1000" % run_id).json["items"]
        return [item["kind"] for item in items]

    def release(self, run_id):
        return self.server.post("/v1/runs/%s/release" % run_id)

    def signal(self, run_id, payload):
        answer = self.server.post("/v1/runs/%s/signals/go" % run_id, payload)
        self.assertEqual(answer.status, 202, answer.body)

    def result(self, run_id):
        return self.server.get("/v1/runs/%s/result?wait=60s" % run_id).json

    def assert_problem(self, answer, status, code):
        self.assertEqual((answer.status, answer.json["code"]), (status, code), answer.body)


class Idle(Case):
    def test_an_idle_run_is_shown_and_found_by_its_idleness(self):
        run = self.start("r")
        self.assertIsNotNone(run["idle_since"])
        self.assertFalse(run["released"])
        found = self.server.get("/v1/runs?idle_before=2099-01-01T00:00:00Z").json["items"]
        self.assertEqual([item["id"] for item in found], ["r"])
        self.assertEqual(found[0]["idle_since"], run["idle_since"])
        none = self.server.get("/v1/runs?idle_before=2000-01-01T00:00:00Z").json["items"]
        self.assertEqual(none, [])

    def test_release_by_hand_and_wake_by_a_signal(self):
        self.start("r")
        self.assertEqual(self.release("r").json, {"changed": True})
        run = self.show("r")
        self.assertTrue(run["released"])
        self.assertIsNotNone(run["idle_since"])
        self.assertEqual(run["status"], "suspended")
        listed = self.server.get("/v1/runs").json["items"]
        self.assertTrue(listed[0]["released"])
        self.assertEqual(self.release("r").json, {"changed": False})
        for number in (1, 2, 3):
            self.signal("r", number)
        self.assertEqual(self.result("r"), {"status": "completed", "result": [1, 2, 3]})
        kinds = self.kinds("r")
        self.assertEqual(kinds.count("released"), 1)
        self.assertEqual(kinds.count("reloaded"), 1)
        self.assertLess(kinds.index("released"), kinds.index("reloaded"))
        self.assertFalse(self.show("r")["released"])

    def test_the_command_line_releases_and_finds_idle_runs(self):
        self.start("r")
        cli = lambda *words: subprocess.run(
            [ABIDE, "wf", *words, "--server", "http://127.0.0.1:%d" % self.server.port],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(cli("release", "r").stdout, "r: released\n")
        self.assertEqual(cli("release", "r").stdout, "r: unchanged\n")
        self.assertEqual(cli("release", "nobody").returncode, 4)
        found = cli("ls", "--idle-before", "2099-01-01T00:00:00Z", "-o", "ids")
        self.assertEqual(found.stdout, "r\n", found.stderr)
        shown = cli("show", "r", "-o", "json")
        self.assertTrue(json.loads(shown.stdout)["released"], shown.stderr)

    def test_what_cannot_be_released(self):
        self.assert_problem(self.release("nobody"), 404, "RUN_NOT_FOUND")
        self.server.deploy("busy", "Task.run('nobody', 1); return await Signal.next('go')")
        self.start("busy", "busy")
        self.assert_problem(self.release("busy"), 409, "RUN_NOT_IDLE")
        self.start("r")
        self.server.post("/v1/runs/r/cancel", {"grace": "0s"})
        self.until("r", lambda run: run["status"] == "cancelled")
        self.assert_problem(self.release("r"), 409, "RUN_TERMINAL")
        self.assert_problem(self.server.post("/v1/runs/r/release", {"x": 1}), 400, "UNKNOWN_FIELD")

    def test_a_terminal_run_takes_no_event_though_it_was_released(self):
        self.start("r")
        self.release("r")
        self.server.post("/v1/runs/r/cancel", {"grace": "0s"})
        self.assertEqual(self.result("r")["status"], "cancelled")
        answer = self.server.post("/v1/runs/r/signals/go", 1)
        self.assert_problem(answer, 409, "RUN_TERMINAL")

    def test_events_from_many_clients_at_once_each_count(self):
        self.server.deploy("sum", "let n = 0; for (let i = 0; i < 40; i++) n += await "
                                  "Signal.next('go'); return n")
        self.start("r", "sum")
        stop = threading.Event()

        def keep_releasing():
            while not stop.is_set():
                self.release("r")

        def send():
            for _ in range(10):
                self.signal("r", 1)
        releaser = threading.Thread(target=keep_releasing)
        releaser.start()
        senders = [threading.Thread(target=send) for _ in range(4)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        result = self.result("r")
        stop.set()
        releaser.join()
        self.assertEqual(result, {"status": "completed", "result": 40})

    def test_released_runs_survive_a_killed_server(self):
        since = self.start("r")["idle_since"]
        self.signal("r", 1)
        self.until("r", lambda run: self.kinds("r").count("idle") == 2)
        since = self.show("r")["idle_since"]
        self.release("r")
        self.server.kill()
        self.server.restart_on_its_port()
        run = self.show("r")
        self.assertEqual((run["released"], run["idle_since"]), (True, since))
        self.signal("r", 2)
        self.signal("r", 3)
        self.assertEqual(self.result("r")["result"], [1, 2, 3])

    def test_releases_and_reloads_are_counted(self):
        self.start("r")
        self.release("r")
        self.signal("r", 1)
        self.until("r", lambda run: self.kinds("r").count("idle") == 2)
        for name in ("releases", "reloads"):
            wait_until(lambda: self.server.figure("abide_run_%s_total" % name) == 1)

    def test_entries_say_what_became_of_steps(self):
        self.start("r")
        for number in (1, 2, 3):
            self.signal("r", number)
        self.result("r")
        items = self.server.get("/v1/runs/r/log").json["items"]
        states = [(item["kind"], item.get("step_state")) for item in items]
        self.assertEqual(states[0], ("started", "running"))
        self.assertIn(("idle", "not_running"), states)
        self.assertIn(("wait", "running"), states)
        self.assertEqual(states[-1], ("finished", "not_running"))


class Readers(Case):
    def open_stream(self, run_id):
        connection = self.server.connect()
        connection.request("GET", "/v1/runs/%s/events" % run_id)
        response = connection.getresponse()
        self.assertEqual(response.status, 200)
        response.readline()  # something came: the reader is known
        return connection

    def test_a_stream_consumer_prevents_release(self):
        self.start("r")
        connection = self.open_stream("r")
        self.assert_problem(self.release("r"), 409, "RUN_HAS_READER")
        self.assertFalse(self.show("r")["released"])
        connection.close()
        # The server notices at the next write; a signal makes one.
        self.signal("r", 1)
        self.until("r", lambda run: self.kinds("r").count("idle") == 2)
        end = time.monotonic() + 60
        while self.release("r").status == 409 and time.monotonic() < end:
            self.server.post("/v1/runs/r/pause")
            self.server.post("/v1/runs/r/resume")
            time.sleep(0.05)
        self.assertTrue(self.show("r")["released"])

    def test_a_stream_request_brings_a_released_run_back(self):
        self.start("r")
        self.release("r")
        connection = self.open_stream("r")
        self.assertFalse(self.show("r")["released"])
        self.assertEqual(self.kinds("r").count("reloaded"), 1)
        second = self.open_stream("r")  # it is there already
        self.assertEqual(self.kinds("r").count("reloaded"), 1)
        for number in (1, 2, 3):
            self.signal("r", number)
        self.assertEqual(self.result("r")["result"], [1, 2, 3])
        self.assertEqual(self.kinds("r").count("reloaded"), 1)
        connection.close()
        second.close()


class Damage(Case):
    def change(self, sql):
        self.server.kill()
        with sqlite3.connect(os.path.join(self.server.folder, "test.db")) as database:
            self.assertGreater(database.execute(sql).rowcount, 0)
        database.close()
        self.server.restart_on_its_port()

    def test_a_reload_that_fails_leaves_the_run_intact(self):
        self.start("r")
        self.change("UPDATE abide_runs SET snapshot = CAST(x'00' || snapshot AS BLOB) "
                    "WHERE snapshot NOT NULL")
        run = self.show("r")  # known before anything happens to it
        self.assertEqual((run["status"], run["error"]["type"]), ("suspended", "SNAPSHOT_CORRUPT"))
        self.assert_problem(self.server.post("/v1/runs/r/load"), 500, "SNAPSHOT_CORRUPT")
        self.signal("r", 1)  # accepted: it is durable
        run = self.until("r", lambda run: run["status"] == "paused")
        reason = run["pause_reason"]
        self.assertEqual(reason["type"], "SNAPSHOT_CORRUPT")
        self.assert_reason_is_everywhere(reason)
        self.change("UPDATE abide_runs SET snapshot = substr(snapshot, 2)")
        self.server.post("/v1/runs/r/resume")
        self.signal("r", 2)
        self.signal("r", 3)
        self.assertEqual(self.result("r")["result"], [1, 2, 3])


    def assert_reason_is_everywhere(self, reason):
        entries = self.server.get("/v1/runs/r/log").json["items"]
        self.assertEqual([entry["data"] for entry in entries if entry["kind"] == "paused"], [reason])
        self.assertNotIn("reloaded", [entry["kind"] for entry in entries])
        listed = self.server.get("/v1/runs").json["items"]
        self.assertEqual([item["pause_reason"] for item in listed], [reason])
        text = "%(type)s: %(message)s" % reason
        cli = lambda *words: subprocess.run(
            [ABIDE, "wf", *words, "--server", "http://127.0.0.1:%d" % self.server.port],
            capture_output=True, text=True, timeout=60).stdout
        self.assertIn(text, cli("show", "r"))
        self.assertIn(text, cli("ls"))
        client = Client(self.server.port)
        _, handler = client.handler("GET", "/handlers/r")
        self.assertEqual((handler["status"], handler["error"]), ("running", reason["message"]))
        _, handlers = client.call("GET", "/handlers")
        self.assertEqual(handlers["handlers"][0]["error"], reason["message"])
        line = "run r (three) could not be brought back into memory and is paused"
        wait_until(lambda: [each for each in self.server.lines if line in each])


class Lines(Case):
    arguments = ("--idle-release-timeout", "100ms")

    def test_what_leaves_memory_and_comes_back_is_logged(self):
        self.start("r")
        said = lambda text: wait_until(lambda: [each for each in self.server.lines if text in each])
        said("run r (three) was released from memory")
        self.assertEqual(self.server.post("/v1/runs/r/load").json, {"changed": True})
        said("run r (three) was brought back into memory")

    def test_a_herd_does_not_fill_the_log(self):
        for number in range(60):
            self.start("r%d" % number)
        lines = lambda: [each for each in self.server.lines if "released from memory" in each]

        def total():
            more = [int(each.split(" more runs")[0].split()[-1]) for each in lines()
                    if " more runs were " in each]
            return len(lines()) - len(more) + sum(more)
        wait_until(lambda: total() == 60)


class Loading(Case):
    def test_a_released_run_is_brought_into_memory_by_hand(self):
        self.start("r")
        cli = lambda *words: subprocess.run(
            [ABIDE, "wf", *words, "--server", "http://127.0.0.1:%d" % self.server.port],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(self.server.post("/v1/runs/r/load").json, {"changed": False})
        self.release("r")
        self.assertEqual(self.server.post("/v1/runs/r/load").json, {"changed": True})
        self.assertFalse(self.show("r")["released"])
        self.release("r")
        self.assertEqual(cli("load", "r").stdout, "r: in memory\n")
        self.assertEqual(cli("load", "r").stdout, "r: unchanged\n")
        self.assertEqual(cli("load", "nobody").returncode, 4)
        self.server.post("/v1/runs/r/pause")
        self.assert_problem(self.server.post("/v1/runs/r/load"), 409, "RUN_NOT_IDLE")
        self.server.post("/v1/runs/r/cancel", {"grace": "0s"})
        self.assert_problem(self.server.post("/v1/runs/r/load"), 409, "RUN_TERMINAL")


class Timeouts(Case):
    arguments = ("--idle-release-timeout", "200ms", "--idle-timeouts", "stays=off")

    def test_idle_runs_are_released_in_the_background(self):
        self.start("r")
        self.server.deploy("stays", WAIT_THREE)
        self.start("other", "stays")
        self.until("r", lambda run: run["released"])
        self.assertFalse(self.show("other")["released"])
        self.signal("r", 1)
        self.until("r", lambda run: self.kinds("r").count("released") == 2)
        self.signal("r", 2)
        self.signal("r", 3)
        self.assertEqual(self.result("r")["result"], [1, 2, 3])


if __name__ == "__main__":
    tap.main()
