"""What a run would do: POST /v1/runs/{id}/try and abide wf try."""
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
const order = Inputs
let tries = 0
const charge = await Task.run("charge", { total: order.total })
console.log("charged", charge.id)
let approved = null
while (!approved && tries < 3) {
  approved = await Signal.when("approved", { timeout: "1d" }).catch(() => null)
  tries++
}
if (!approved) { await Task.run("refund", charge); return "refunded" }
Event.emit("shipped", { id: order.id })
State.set("phase", "shipping")
await Stream.write({ step: 1 })
Workflow.start("other", { a: 1 })
const stock = await Event.wait("stock", { filter: { sku: "x" } })
return { tries, stock, child: await Workflow.run("other", { b: 2 }) }
"""
CHARGE = {"name": "charge", "result": {"id": 5}}


class Try(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.deploy("order", ORDER)
        cls.server.deploy("loop", "await Signal.next('go'); for (;;) {}")
        cls.server.deploy("turns", "for (;;) await Signal.when('go', { timeout: '1h' }).catch(() => 0)")
        cls.server.deploy("boom", "await Signal.next('go'); throw new TypeError('boom')")
        for name in ("order", "loop", "turns", "boom"):
            body = {"workflow": name, "id": name, "input": {"id": 7, "total": 12}}
            assert cls.server.post("/v1/runs", body).status == 201
            cls.server.wait_for(name, "suspended")

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def state(self):
        """All that a try might have changed."""
        parts = ["/v1/runs", "/v1/runs/order", "/v1/runs/order/log", "/v1/tasks", "/v1/topics", "/v1/runs/order/snapshot"]
        return [self.server.get(part).json for part in parts]

    def attempt(self, run, **answers):
        before = self.state()
        answer = self.server.post("/v1/runs/%s/try" % run, answers)
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(self.state(), before)
        return answer.json

    def effects(self, trial):
        return [(effect["kind"], effect["name"], effect["data"]) for effect in trial["effects"]]

    def test_without_answers_it_waits_where_it_waits(self):
        trial = self.attempt("order")
        self.assertEqual((trial["status"], trial["effects"], trial["variables"]), ("suspended", [], []))
        self.assertEqual(trial["waits"], [{"on": "task", "name": "charge", "until": None}])

    def test_answers_lead_on_and_nothing_leaves(self):
        trial = self.attempt("order", tasks=[CHARGE], signals=[{"name": "approved", "payload": True}],
                             events=[{"topic": "stock", "payload": {"sku": "other"}},
                                     {"topic": "stock", "payload": {"sku": "x"}}])
        self.assertEqual(self.effects(trial), [
            ("log", "log", "charged 5"), ("event", "shipped", {"id": 7}), ("stream", None, {"step": 1}),
            ("workflow", "other", {"a": 1}), ("workflow", "other", {"b": 2})])
        self.assertEqual((trial["status"], trial["state"], trial["unused"]),
                         ("suspended", {"phase": "shipping"}, ["event stock"]))
        self.assertEqual([wait["on"] for wait in trial["waits"]], ["child"])
        changed = {variable["name"]: variable["after"] for variable in trial["variables"]}
        self.assertEqual((changed["tries"], changed["approved"]), ("1", "true"))

    def test_time_passes_only_as_far_as_it_may(self):
        some = self.attempt("order", tasks=[CHARGE], time="36h")
        self.assertEqual([wait["name"] for wait in some["waits"]], ["approved"])
        self.assertEqual({v["name"]: v["after"] for v in some["variables"]}["tries"], "1")
        all_of_it = self.attempt("order", tasks=[CHARGE, {"name": "refund", "result": 1}], time="5d")
        self.assertEqual((all_of_it["status"], all_of_it["result"]), ("completed", "refunded"))

    def test_failures_are_told(self):
        trial = self.attempt("order", tasks=[{"name": "charge", "error": {"message": "no"}}])
        self.assertEqual((trial["status"], trial["error"]["type"]), ("failed", "TaskError"))
        trial = self.attempt("boom", signals=[{"name": "go"}])
        self.assertEqual((trial["status"], trial["error"]["message"]), ("failed", "boom"))

    def test_it_is_bounded(self):
        trial = self.attempt("loop", signals=[{"name": "go"}])
        self.assertEqual(trial["status"], "stopped")
        self.assertIn("instructions", trial["reason"])
        trial = self.attempt("turns", time="365d")
        self.assertEqual(trial["status"], "stopped")
        self.assertIn("turns", trial["reason"])

    def test_bad_answers_are_refused(self):
        for body, code in (({"task": []}, "UNKNOWN_FIELD"), ({"tasks": [1]}, "BAD_FIELD"),
                           ({"tasks": [{"result": 1}]}, "BAD_NAME"), ({"signals": {}}, "BAD_FIELD"),
                           ({"tasks": [{"name": "a", "result": 1, "error": 2}]}, "BAD_FIELD"),
                           ({"events": [{"name": "x"}]}, "UNKNOWN_FIELD"),
                           ({"signals": [{"name": "a"}] * 1001}, "BAD_FIELD"), ({"time": "soon"}, "BAD_DURATION")):
            answer = self.server.post("/v1/runs/order/try", body)
            self.assertEqual((answer.status, answer.json["code"]), (400, code), body)
        self.assertEqual(self.server.post("/v1/runs/nobody/try", {}).json["code"], "RUN_NOT_FOUND")

    def test_the_command(self):
        url = "http://127.0.0.1:%d" % self.server.port
        wf_try = [ABIDE, "wf", "try", "order", "--server", url]
        done = subprocess.run(wf_try + ["--task", 'charge={"id": 5}', "--fail", "refund", "--time", "+5d"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.splitlines(),
                         ["log        charged 5", 'task       refund {"id":5}',
                          'would be   failed: TaskError: task "refund" failed'], done.stderr)
        done = subprocess.run(wf_try + ["-o", "json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(json.loads(done.stdout)["status"], "suspended")
        for bad in (["--task", "=1"], ["--signal", "a=b"]):
            done = subprocess.run(wf_try + bad, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""))


if __name__ == "__main__":
    tap.main()
