"""Other values for variables of waiting runs: POST /v1/runs/{id}/set and abide wf set."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, Server  # noqa: E402

ORDER = """
let tries = 0
const order = { total: 40, items: [{ name: "tea" }], seen: new Map() }
const bump = () => { tries++ }
for (;;) {
  const paid = await Signal.when("paid", { timeout: "30d" })
  bump()
  if (paid) return { tries, order, seen: [...order.seen] }
}
"""


class SetVariables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.deploy("order", ORDER)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def start(self, run):
        self.assertEqual(self.server.post("/v1/runs", {"workflow": "order", "id": run}).status, 201)
        self.server.wait_for(run, "suspended")

    def set(self, run, values, **more):
        body = {"values": [{"path": path, "value": value} for path, value in values.items()], **more}
        return self.server.post("/v1/runs/%s/set" % run, body)

    def state(self, run):
        return [self.server.get("/v1/runs/%s%s" % (run, part)).json for part in ("", "/log", "/snapshot?depth=4")]

    def refused(self, run, values, status, code):
        before = self.state(run)
        answer = self.set(run, values)
        self.assertEqual((answer.status, answer.json["code"]), (status, code), answer.body)
        self.assertEqual(self.state(run), before)
        return answer.json["detail"]

    def value(self, run, path):
        return self.server.get("/v1/runs/%s/snapshot?path=%s" % (run, path)).json["value"]["text"]

    def finish(self, run):
        self.assertLess(self.server.post("/v1/runs/%s/signals/paid" % run, True).status, 300)
        return self.server.wait_for(run, "completed")["result"]

    def test_the_run_goes_on_with_the_values(self):
        self.start("goes")
        answer = self.set("goes", {"tries": 7, "order.items[1]": {"name": "cup"}, "order.total": 49, "order.seen.a": 1})
        self.assertEqual(answer.status, 200, answer.body)
        self.assertTrue(answer.json["changed"])
        self.assertEqual([value["old"] for value in answer.json["values"]], ["0", None, "40", None])
        self.server.wait_for("goes", "suspended")
        self.assertEqual(self.value("goes", "tries"), "7")
        self.assertEqual(self.finish("goes"), {
            "tries": 8, "seen": [["a", 1]],
            "order": {"total": 49, "items": [{"name": "tea"}, {"name": "cup"}], "seen": {}}})
        entry, = [entry for entry in self.server.get("/v1/runs/goes/log?limit=100").json["items"] if entry["kind"] == "set"]
        self.assertIsNone(entry["data"]["by"])
        self.assertEqual(entry["data"]["values"], answer.json["values"])

    def test_a_dry_run_says_it_and_changes_nothing(self):
        self.start("dry")
        before = self.state("dry")
        answer = self.set("dry", {"tries": 3}, dry_run=True)
        self.assertEqual(answer.json, {"changed": False, "values": [{"path": "tries", "old": "0", "new": "3"}]})
        self.assertEqual(self.state("dry"), before)

    def test_what_cannot_be_set_is_refused_and_nothing_changes(self):
        self.start("refused")
        self.assertIn("constant", self.refused("refused", {"tries": 1, "order": {}}, 409, "SET_REFUSED"))
        self.assertIn("Map", self.refused("refused", {"order.seen": {}}, 409, "SET_REFUSED"))
        self.refused("refused", {"bump": 1}, 409, "SET_REFUSED")
        self.refused("refused", {"order.items[4]": 1}, 404, "VARIABLE_NOT_FOUND")
        self.refused("refused", {"order[": 1}, 400, "BAD_PATH")
        for body in ({"values": []}, {"values": [1]}, {"values": [{"path": "tries"}]}, {"values": [{"value": 1}]}):
            self.assertEqual(self.server.post("/v1/runs/refused/set", body).json["code"], "BAD_FIELD", body)
        body = {"values": [{"path": "tries", "value": 1, "if": 0}]}
        self.assertEqual(self.server.post("/v1/runs/refused/set", body).json["code"], "UNKNOWN_FIELD")
        self.assertEqual(self.set("none", {"a": 1}).json["code"], "RUN_NOT_FOUND")
        self.assertEqual(self.finish("refused")["tries"], 1)
        self.assertEqual(self.set("refused", {"tries": 1}).json["code"], "RUN_NOT_PARKED")

    def test_a_paused_run_stays_paused_and_goes_on_with_the_value(self):
        self.start("paused")
        self.server.post("/v1/runs/paused/pause", {})
        self.assertTrue(self.set("paused", {"tries": 9}).json["changed"])
        self.assertEqual(self.server.get("/v1/runs/paused").json["status"], "paused")
        self.assertEqual(self.value("paused", "tries"), "9")
        self.server.post("/v1/runs/paused/resume", {})
        self.server.wait_for("paused", "suspended")
        self.assertEqual(self.finish("paused")["tries"], 10)

    def test_it_is_undone_by_rewinding(self):
        self.start("undone")
        self.server.post("/v1/runs/undone/signals/paid", False)
        self.server.wait_for("undone", "suspended", is_so=lambda run: self.value("undone", "tries") == "1")
        self.assertTrue(self.set("undone", {"tries": 50}).json["changed"])
        self.server.wait_for("undone", "suspended")
        answer = self.server.post("/v1/runs/undone/rewind", {"step": "paid"})
        self.assertEqual(answer.status, 200, answer.body)
        self.server.wait_for("undone", "suspended", is_so=lambda run: self.value("undone", "tries") == "1")

    def test_it_survives_a_restart_of_the_server(self):
        self.start("kept")
        self.assertTrue(self.set("kept", {"tries": 20}).json["changed"])
        self.server.wait_for("kept", "suspended")
        self.server.kill()
        self.server.restart_on_its_port()
        self.assertEqual(self.finish("kept")["tries"], 21)

    def command(self, *arguments):
        return subprocess.run([ABIDE, "wf", "set", *arguments, "--server", "http://127.0.0.1:%d" % self.server.port], capture_output=True, text=True)

    def test_the_command_sets_and_says_so(self):
        self.start("typed")
        done = self.command("typed", "tries=4", 'order.items[0].name="a = b"', 'order["x=y"]=[1]', "--dry-run")
        self.assertEqual((done.returncode, done.stdout.splitlines()), (0, [
            "tries: 0 -> 4 (not done)", 'order.items[0].name: "tea" -> "a = b" (not done)',
            'order["x=y"]: (nothing) -> [1] (not done)']), done.stderr)
        done = self.command("typed", "tries=4")
        self.assertEqual((done.returncode, done.stdout), (0, "tries: 0 -> 4\n"), done.stderr)
        self.server.wait_for("typed", "suspended")
        done = self.command("typed", "order=4")
        self.assertEqual(done.returncode, 1)
        self.assertIn("constant", done.stderr)
        self.assertIn("strings have quotes", self.command("typed", "tries=text").stderr)
        self.assertIn("PATH=JSON", self.command("typed", "tries").stderr)
        done = self.command("typed", "tries=5", "-o", "json")
        self.assertEqual(json.loads(done.stdout)["values"], [{"path": "tries", "old": "4", "new": "5"}])


if __name__ == "__main__":
    tap.main()
