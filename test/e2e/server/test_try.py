"""What a run would do: POST /v1/runs/{id}/try and abide wf try."""
import json
import os
import select
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, Server, wait_until  # noqa: E402

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
CART = """
const cart = { total: 0 }
for (;;) {
  const price = await Signal.next("add")
  if (!price) return cart
  cart.total += price
}
"""
CART_DOUBLED = CART.replace("+= price", "+= 2 * price")
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

    def test_children_are_answered_like_tasks(self):
        answers = {"tasks": [CHARGE], "signals": [{"name": "approved", "payload": True}],
                   "events": [{"topic": "stock", "payload": {"sku": "x"}}]}
        trial = self.attempt("order", children=[{"name": "other", "result": 9}], **answers)
        self.assertEqual((trial["status"], trial["result"]["child"], trial["unused"]), ("completed", 9, []))
        trial = self.attempt("order", children=[{"name": "other", "error": {"message": "no"}}], **answers)
        self.assertEqual((trial["status"], trial["error"]["type"]), ("failed", "ChildWorkflowError"))

    def cart(self, run, version=CART):
        """A run of two turns, with the versions of its time."""
        self.server.deploy("cart", version)
        assert self.server.post("/v1/runs", {"workflow": "cart", "id": run}).status == 201
        self.server.wait_for(run, "suspended")
        for count, price in ((1, 3), (2, 9)):
            self.server.post("/v1/runs/%s/signals/add" % run, price)
            wait_until(lambda: len(self.server.get("/v1/runs/%s/turns" % run).json["items"]) == count)

    def test_it_begins_as_a_kept_turn_began(self):
        self.cart("cart-1")
        for turn, total in ((1, 100), (2, 103)):
            trial = self.attempt("cart-1", turn=turn, signals=[{"name": "add", "payload": 100}, {"name": "add"}])
            self.assertEqual((trial["turn"], trial["result"]), (turn, {"total": total}))
        now = self.attempt("cart-1", signals=[{"name": "add"}])
        self.assertEqual((now["turn"], now["result"]), (None, {"total": 12}))
        self.server.post("/v1/runs/cart-1/signals/add", None)  # an ended run can be tried from its turns
        self.server.wait_for("cart-1", "completed")
        self.assertEqual(self.attempt("cart-1", turn=2, signals=[{"name": "add"}])["result"], {"total": 3})
        for turn, code in ((None, "RUN_TERMINAL"), (9, "TURN_NOT_KEPT")):
            body = {} if turn is None else {"turn": turn}
            self.assertEqual(self.server.post("/v1/runs/cart-1/try", body).json["code"], code)

    def test_a_turn_begins_at_its_own_time(self):
        self.server.deploy("late", "const at = Date.now(); await Signal.when('go', { timeout: '1h' }).catch(() => 0)\n"
                                   "await Task.run('x'); return Date.now() - at")
        self.server.post("/v1/runs", {"workflow": "late", "id": "late"})
        self.server.wait_for("late", "suspended")
        self.server.post("/v1/runs/late/signals/go", 1)
        wait_until(lambda: len(self.server.get("/v1/runs/late/turns").json["items"]) == 1)
        trial = self.attempt("late", turn=1, time="1h", tasks=[{"name": "x"}])
        # The turn began when the signal came, some milliseconds after the script did.
        self.assertEqual((trial["status"], trial["result"] // 1000 // 600), ("completed", 6))
        self.assertGreaterEqual(trial["result"], 3600000)

    def test_it_goes_on_in_another_version(self):
        self.cart("cart-2")
        old = self.server.get("/v1/runs/cart-2").json["version"]
        self.server.deploy("cart", CART_DOUBLED)
        answers = {"signals": [{"name": "add", "payload": 1}, {"name": "add"}]}
        self.assertEqual(self.attempt("cart-2", **answers)["result"], {"total": 13})
        for version in ("current", self.server.get("/v1/workflows/cart").json["version"][:8]):
            self.assertEqual(self.attempt("cart-2", version=version, **answers)["result"], {"total": 14})
        trial = self.attempt("cart-2", version="current", turn=2, **answers)
        self.assertEqual((trial["turn"], trial["result"]), (2, {"total": 5}))
        self.assertEqual(self.server.post("/v1/runs/cart-2/move", {}).json["changed"], True)
        self.server.wait_for("cart-2", "suspended")
        self.assertEqual(self.attempt("cart-2", turn=2, **answers)["version"], old)  # the version that executed it
        self.assertEqual(self.attempt("cart-2", turn=2, version="current", **answers)["result"], {"total": 5})

    def test_it_goes_on_in_a_source_that_is_not_deployed(self):
        self.cart("cart-3")
        answers = {"signals": [{"name": "add", "payload": 1}, {"name": "add"}]}
        self.assertEqual(self.attempt("cart-3", source=CART_DOUBLED, **answers)["result"], {"total": 14})
        for body, status, code in (
                ({"source": "await Signal.next('other'); return 1"}, 409, "MOVE_REFUSED"),
                ({"source": "export default async function nothing() { return 1 }"}, 409, "MOVE_REFUSED"),
                ({"source": "return 1 +"}, 422, "FLOW_SYNTAX"), ({"source": "return nobody"}, 422, "FLOW_CHECK"),
                ({"source": "return 1", "version": "current"}, 400, "BAD_FIELD"), ({"turn": 0}, 400, "BAD_FIELD"),
                ({"turn": "x"}, 400, "BAD_FIELD"), ({"version": "f" * 64}, 404, "WORKFLOW_NOT_FOUND")):
            before = self.state()
            answer = self.server.post("/v1/runs/cart-3/try", body)
            self.assertEqual((answer.status, answer.json["code"]), (status, code), body)
            self.assertEqual(self.state(), before)

    def test_a_run_that_has_not_begun_begins_in_the_other_version(self):
        self.server.deploy("later", "return 'old'")
        self.server.post("/v1/runs", {"workflow": "later", "id": "later", "delay": "1h"})
        self.assertEqual(self.attempt("later")["result"], "old")
        self.assertEqual(self.attempt("later", source="return 'new'")["result"], "new")

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
        self.cart("cart-4")
        with tempfile.NamedTemporaryFile("w", suffix=".flow") as file:
            file.write(CART_DOUBLED)
            file.flush()
            wf_try[3] = "cart-4"
            for more, result in ((["--turn", "2"], '{"total":4}'), (["--file", file.name], '{"total":14}'),
                                 (["--version", "current", "--child", "x=1", "--fail-child", "y"], '{"total":13}')):
                done = subprocess.run(wf_try + ["--signal", "add=1", "--signal", "add"] + more,
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.stdout.splitlines()[0], "would be   completed: " + result, done.stderr)
        done = subprocess.run(wf_try + ["--file", file.name], capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(file.name, done.stderr)
        for bad in (["--task", "=1"], ["--signal", "a=b"], ["--turn", "x"]):
            done = subprocess.run(wf_try + bad, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""))


class Beside(unittest.TestCase):
    """What takes long to answer does not keep other connections of the same thread waiting."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--threads", "1")
        cls.server.deploy("loop", "const all = Array.from({ length: 300 }, (_, i) => i)\nawait Signal.next('go'); for (;;) {}")
        for i in range(40):
            cls.server.post("/v1/runs", {"workflow": "loop", "id": "loop-%d" % i})
            cls.server.wait_for("loop-%d" % i, "suspended")

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def is_served_beside(self, method, path, body):
        """Whether three requests, one after the other, are answered before one that was sent earlier."""
        slow, quick = self.server.connect(), self.server.connect()
        for connection in (slow, quick):  # both are known to the server's one thread
            connection.request("GET", "/v1/runs/loop-0")
            connection.getresponse().read()
        slow.request(method, path, body=body, headers={"Content-Type": "application/json"} if body else {})
        for _ in range(3):
            quick.request("GET", "/v1/runs/loop-0")
            quick.getresponse().read()
        is_beside = not select.select([slow.sock], [], [], 0)[0]
        self.assertEqual(slow.getresponse().status, 200)
        slow.close()
        quick.close()
        return is_beside

    def test_a_try(self):
        body = json.dumps({"signals": [{"name": "go"}]})
        wait_until(lambda: self.is_served_beside("POST", "/v1/runs/loop-0/try", body))

    def test_where(self):
        where = urllib.parse.quote("all.some(a => all.some(b => a * b === -1))")
        wait_until(lambda: self.is_served_beside("GET", "/v1/runs?where=" + where, None))


if __name__ == "__main__":
    tap.main()
