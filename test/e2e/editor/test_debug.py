"""The debugger, driven by the debug client of VS Code (test/editor/dap.mjs)."""
import datetime
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from packages import installed  # noqa: E402
from server import ABIDE, PATIENCE, Server, wait_until  # noqa: E402

FLOW = """\
const prices = [5, 7, 11]
let total = 0
function add(price) {
  const next = total + price
  return next
}

for (const price of prices) {
  total = add(price)
}
console.log("total", total)
const charge = await Task.run("charge", { total })
await Timer.delay("1h")
let caught = null
try {
  throw new Error("oops")
} catch (error) {
  caught = error.message
}
const approval = await Signal.when("approval", { timeout: "1d" })
return { total, charge, caught, approval }
"""
MOCKS = {"charge": {"id": 7}, "signal:approval": {"ok": True}}
INITIALIZE = ["initialize", {"adapterID": "abide", "linesStartAt1": True, "columnsStartAt1": True}]


class DebugTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def session(self, steps, flow=FLOW, mocks=MOCKS, lines=(), **launch):
        """The answers to the steps, after launch and configuration; self.output is what was printed."""
        path = self.file("order.flow", flow)
        mock = self.file("mocks.json", json.dumps(mocks))
        breakpoints = [line if isinstance(line, dict) else {"line": line} for line in lines]
        begin = [INITIALIZE, ["launch", {"program": path, "mock": mock, "now": "2026-01-01T00:00:00Z", **launch}],
                 ["setBreakpoints", {"source": {"path": path}, "breakpoints": breakpoints}]]
        done = subprocess.run(["node", os.path.join(SOURCE, "test", "editor", "dap.mjs"), ABIDE,
                               json.dumps(begin + steps)], capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "ABIDE_EDITOR_MODULES": installed("editor")})
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        answer = json.loads(done.stdout)
        self.output = answer["output"]
        self.begun = answer["results"][:3]
        return answer["results"][3:]

    def run_to(self, *steps, **options):
        return self.session([["configurationDone", {}], *steps], **options)[1:]

    def test_a_script_runs_to_its_end_in_virtual_time(self):
        self.assertEqual(self.run_to(["$ended"]), [0])
        self.assertIn(["stdout", "total 23\n"], self.output)
        result = json.loads(self.output[-1][1])
        self.assertEqual(result, {"total": 23, "charge": {"id": 7}, "caught": "oops", "approval": {"ok": True}})

    def test_breakpoints_move_to_the_next_line_with_code(self):
        answer = self.run_to(["$stopped"], ["$locals"], lines=[7, 99])
        self.assertEqual([(item["verified"], item.get("line")) for item in self.begun[2]["breakpoints"]],
                         [(True, 8), (False, 99)])
        self.assertEqual(answer[0], ["breakpoint", None, ["order:8"]])
        self.assertEqual(answer[1]["prices"], "[ 5, 7, 11 ]")
        self.assertEqual(list(answer[1])[-1], "add")  # functions are last

    def test_steps_go_in_over_and_out(self):
        step = {"threadId": 1}
        answer = self.run_to(["$stopped"], ["stepIn", step], ["$stopped"], ["next", step], ["$stopped"],
                             ["stepOut", step], ["$stopped"], ["next", step], ["$stopped"], lines=[9])
        self.assertEqual([item for item in answer if isinstance(item, list)],
                         [["breakpoint", None, ["order:9"]], ["step", None, ["add:4", "order:9"]],
                          ["step", None, ["add:5", "order:9"]], ["step", None, ["order:9"]],
                          ["breakpoint", None, ["order:9"]]])

    def test_a_step_over_an_await_stays_in_the_function(self):
        step = {"threadId": 1}
        answer = self.run_to(["$stopped"], ["next", step], ["$stopped"], ["$locals"], ["next", step], ["$stopped"],
                             lines=[12])
        self.assertEqual(answer[2], ["step", None, ["order:13"]])
        self.assertEqual(answer[3]["charge"], "{ id: 7 }")
        self.assertEqual(answer[5], ["step", None, ["order:14"]])

    def test_exceptions_stop_before_anything_is_unwound(self):
        stops = ["setExceptionBreakpoints", {"filters": ["all"]}]
        answer = self.session([stops, ["configurationDone", {}], ["$stopped"], ["exceptionInfo", {"threadId": 1}],
                               ["continue", {"threadId": 1}], ["$ended"]])
        self.assertEqual(answer[2][0], "exception")
        self.assertEqual(answer[2][2], ["order:16"])
        self.assertIn("oops", answer[3]["description"])
        self.assertEqual(answer[-1], 0)
        stops[1]["filters"] = ["uncaught"]
        self.assertEqual(self.session([stops, ["configurationDone", {}], ["$ended"]])[-1], 0)
        flow = "async function pay() {\n  await Timer.delay(1)\n  throw new Error('no')\n}\nawait pay()\n"
        answer = self.session([stops, ["configurationDone", {}], ["$stopped"], ["continue", {"threadId": 1}],
                               ["$ended"]], flow=flow)
        self.assertEqual(answer[2][2][0], "pay:3")
        self.assertEqual(answer[-1], 1)

    def test_expressions_are_evaluated_in_a_frame(self):
        answer = self.run_to(["$stopped"], ["evaluate", {"expression": "price * 2 + total", "frameId": 1}],
                             ["evaluate", {"expression": "prices.map(p => p + 1)", "frameId": 2}],
                             ["evaluate", {"expression": "nowhere", "frameId": 1}],
                             ["evaluate", {"expression": "total = 5", "frameId": 1}], lines=[5])
        self.assertEqual(answer[1]["result"], "10")
        self.assertEqual(answer[2]["result"], "[6,8,12]")
        self.assertIn("error", answer[3])
        self.assertIn("error", answer[4])

    def test_conditions_hit_counts_and_log_points(self):
        lines = [{"line": 4, "condition": "price === 7"}, {"line": 5, "logMessage": "next is {next}"},
                 {"line": 9, "hitCondition": "3"}, {"line": 2, "condition": "total +"}]
        answer = self.run_to(["$stopped"], ["continue", {"threadId": 1}], ["$stopped"], ["$locals"],
                             ["continue", {"threadId": 1}], ["$ended"], lines=lines)
        self.assertEqual(answer[0][2], ["add:4", "order:9"])
        self.assertEqual((answer[2][2], answer[3]["price"]), (["order:9"], "11"))
        self.assertEqual([text for category, text in self.output if category == "console"],
                         ["next is 5\n", "next is 12\n", "next is 23\n"])
        self.assertFalse(self.begun[2]["breakpoints"][3]["verified"])

    def test_variables_come_in_pages_and_can_be_set(self):
        flow = "const many = Array.from({ length: 5000 }, (_, i) => i * i)\nlet n = 1\nn = n + 1\nreturn n\n"
        answer = self.run_to(["$stopped"], ["$members", {"name": "many", "start": 4000, "count": 2}],
                             ["$set", {"name": "n", "value": "n + 40"}], ["continue", {"threadId": 1}], ["$ended"],
                             flow=flow, lines=[3])
        self.assertEqual(answer[1], {"indexed": 5000, "items": [["4000", "16000000"], ["4001", "16008001"]]})
        self.assertEqual((answer[2], answer[-1]), ("41", 0))
        self.assertEqual(self.output[-1][1], "42\n")

    def test_it_goes_back_to_earlier_waits(self):
        back = {"threadId": 1}
        answer = self.run_to(["$stopped"], ["stepBack", back], ["$stopped"], ["stepBack", back], ["$stopped"],
                             ["stepBack", back], ["$stopped"], ["stepBack", back], ["$stopped"], ["$locals"],
                             ["continue", back], ["$stopped"], ["continue", back], ["$ended"], lines=[21])
        self.assertEqual([item[2][0] for item in answer if isinstance(item, list)],
                         ["order:21", "order:20", "order:13", "order:12", "order:1", "order:21"])
        self.assertEqual(answer[-1], 0)

    def test_reverse_continue_stops_at_a_wait_with_a_breakpoint(self):
        answer = self.run_to(["$stopped"], ["continue", {"threadId": 1}], ["$stopped"],
                             ["reverseContinue", {"threadId": 1}], ["$stopped"], ["$locals"], lines=[12, 21])
        self.assertEqual(answer[4][2], ["order:12"])
        self.assertEqual(answer[5]["total"], "23")

    def test_an_endless_loop_can_be_paused_and_ended(self):
        answer = self.run_to(["pause", {"threadId": 1}], ["$stopped"], ["terminate", {}], ["$ended"],
                             flow="for (let i = 0; ; i++) {\n  Math.abs(i)\n}\n")
        self.assertEqual((answer[1][0], answer[-1]), ("pause", 1))

    def test_what_nothing_can_answer_is_said(self):
        self.assertEqual(self.run_to(["$ended"], mocks={}), [1])
        self.assertIn('waits for task "charge"', self.output[-1][1])

    def test_a_failed_task_has_the_error_of_its_mock(self):
        flow = "try { await Task.run('charge', 1, { retry: { attempts: 2 } }) }\n" \
               "catch (e) { return [e.name, e.attempts, e.cause.message, Date.now()] }\n"
        self.run_to(["$ended"], flow=flow, mocks={"charge": {"error": {"message": "away"}}})
        self.assertEqual(json.loads(self.output[-1][1]), ["TaskError", 2, "away", 1767225601000])

    def test_bad_requests_are_answered(self):
        path = self.file("bad.flow", "let =\n")
        done = subprocess.run(["node", os.path.join(SOURCE, "test", "editor", "dap.mjs"), ABIDE, json.dumps([
            ["threads", {}], ["nonsense", {}], INITIALIZE, ["launch", {}], ["launch", {"program": path}],
            ["launch", {"program": path + ".not"}]])], capture_output=True, text=True, timeout=PATIENCE,
            env={**os.environ, "ABIDE_EDITOR_MODULES": installed("editor")})
        results = json.loads(done.stdout)["results"]
        self.assertEqual(["error" in (item or {}) for item in results], [True, True, False, True, True, True])
        self.assertIn("bad.flow:1:5", results[4]["error"])
        broken = subprocess.run([ABIDE, "debug"], input=b"nonsense\r\n\r\n", capture_output=True, timeout=PATIENCE)
        self.assertEqual(broken.returncode, 2)


CART = """\
const cart = { items: [], total: 0 }
for (;;) {
  const item = await Signal.when("add", { timeout: "1d" }).catch(() => null)
  if (!item) break
  cart.items.push(item.name)
  cart.total += item.price
}
const receipt = await Task.run("charge", { total: cart.total })
return { cart, receipt, now: Date.now() }
"""


class AttachTest(unittest.TestCase):
    """A copy of a run goes on in the debugger; the run stays as it is."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.deploy("cart", CART)
        cls.server.deploy("broken", "const order = await Signal.next('order')\nconst price = order.lines[0].price\nreturn price")
        for name in ("cart", "broken"):
            cls.server.post("/v1/runs", {"workflow": name, "id": name, "input": {"by": "Ann"}})
            cls.server.wait_for(name, "suspended")
        for count, item in ((1, {"name": "tea", "price": 3}), (2, {"name": "cup", "price": 9})):
            cls.server.post("/v1/runs/cart/signals/add", item)
            wait_until(lambda: len(cls.server.get("/v1/runs/cart/turns").json["items"]) == count)
        cls.server.wait_for("cart", "suspended")
        cls.server.post("/v1/runs/broken/signals/order", {"lines": []})
        cls.server.wait_for("broken", "failed")
        cls.url = "http://127.0.0.1:%d" % cls.server.port

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def state(self):
        parts = ["/v1/runs", "/v1/runs/cart/log", "/v1/runs/broken/log", "/v1/tasks", "/v1/topics", "/v1/runs/cart/turns"]
        return [self.server.get(part).json for part in parts]

    def session(self, steps, *options, breakpoints=(), reference=1, **attach):
        before = self.state()
        set_breaks = ["setBreakpoints", {"source": {"sourceReference": reference},
                                         "breakpoints": [{"line": line} for line in breakpoints]}]
        begin = [INITIALIZE, ["attach", {"server": self.url, **attach}], set_breaks, ["configurationDone", {}]]
        done = subprocess.run(["node", os.path.join(SOURCE, "test", "editor", "dap.mjs"), ABIDE, json.dumps(begin + steps)],
                              capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "ABIDE_EDITOR_MODULES": installed("editor")})
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        answer = json.loads(done.stdout)
        self.output, self.begun = answer["output"], answer["results"][:4]
        self.assertEqual(self.state(), before)
        return answer["results"][4:]

    def result(self):
        return json.loads([text for kind, text in self.output if kind == "stdout"][-1])

    def test_it_stands_where_the_run_waits_and_goes_on_with_answers(self):
        steps = [["$stopped"], ["$locals"], ["evaluate", {"expression": "cart.total * 2", "frameId": 1}],
                 ["next", {"threadId": 1}], ["$stopped"], ["continue", {"threadId": 1}], ["$stopped"], ["$locals"],
                 ["continue", {"threadId": 1}], ["$ended"]]
        answers = self.session(steps, run="cart", breakpoints=[9], tasks={"charge": {"id": 7}},
                               signals={"add": [{"name": "pot", "price": 30}]})
        self.assertEqual(answers[0], ["entry", None, ["cart:3"]])
        self.assertEqual(answers[1]["cart"], "{ items: [ 'tea', 'cup' ], total: 12 }")
        self.assertEqual(answers[2]["result"], "24")
        self.assertEqual(answers[4][2], ["cart:4"])
        self.assertEqual(answers[6][:1] + answers[6][2:], ["breakpoint", ["cart:9"]])
        self.assertEqual(answers[7]["receipt"], "{ id: 7 }")
        self.assertEqual(answers[9], 0)
        self.assertEqual(self.result()["cart"], {"items": ["tea", "cup", "pot"], "total": 42})

    def test_time_is_virtual_and_begins_when_it_came_to_wait(self):
        run = self.server.get("/v1/runs/cart").json
        self.session([["$stopped"], ["continue", {"threadId": 1}], ["$ended"]], run="cart", tasks={"charge": 1})
        deadline = run["waits"][0]["deadline"]
        self.assertEqual(self.result()["now"], int(datetime.datetime.fromisoformat(
            deadline.replace("Z", "+00:00")).timestamp() * 1000 + 0.5))

    def test_it_goes_back_to_the_kept_turns(self):
        steps = [["$stopped"], ["stepBack", {"threadId": 1}], ["$stopped"], ["$locals"], ["stepBack", {"threadId": 1}],
                 ["$stopped"], ["$locals"], ["next", {"threadId": 1}], ["$stopped"], ["$locals"]]
        answers = self.session(steps, run="cart")
        self.assertEqual(answers[3]["cart"], "{ items: [ 'tea' ], total: 3 }")
        self.assertEqual(answers[6]["cart"], "{ items: [], total: 0 }")
        self.assertEqual(answers[9]["item"], "{ name: 'tea', price: 3 }")  # what was delivered then

    def test_it_begins_as_a_kept_turn_began(self):
        answers = self.session([["$stopped"], ["$locals"], ["continue", {"threadId": 1}], ["$ended"]], run="cart", turn=2,
                               signals={"add": [{"name": "other", "price": 100}]}, tasks={"charge": 1})
        self.assertEqual(answers[1]["cart"], "{ items: [ 'tea' ], total: 3 }")
        self.assertEqual(self.result()["cart"], {"items": ["tea", "other"], "total": 103})

    def test_a_failed_run_fails_again_under_the_eyes_of_a_person(self):
        steps = [["setExceptionBreakpoints", {"filters": ["uncaught"]}], ["$stopped"], ["continue", {"threadId": 1}],
                 ["$stopped"], ["$locals"], ["continue", {"threadId": 1}], ["$ended"]]
        answers = self.session(steps, run="broken")
        self.assertEqual((answers[3][0], answers[3][2]), ("exception", ["broken:2"]))
        self.assertEqual(answers[4]["order"], "{ lines: [] }")
        self.assertEqual(answers[6], 1)

    def test_the_text_is_the_runs_own_unless_the_file_is_the_same(self):
        stack = ["stackTrace", {"threadId": 1}]
        answers = self.session([["$stopped"], stack, ["source", {"sourceReference": 1}]], run="cart")
        self.assertEqual(answers[1]["stackFrames"][0]["source"], {"name": "cart.flow", "sourceReference": 1})
        self.assertEqual(answers[2]["content"], CART)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cart.flow")
            for text, is_same in ((CART, True), (CART + "// changed", False)):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                source = self.session([["$stopped"], stack], run="cart", program=path)[1]["stackFrames"][0]["source"]
                self.assertEqual("path" in source, is_same)

    def test_a_store_without_a_server_is_read(self):
        other = Server()
        self.addCleanup(other.close)
        other.deploy("cart", CART)
        other.post("/v1/runs", {"workflow": "cart", "id": "stored"})
        other.wait_for("stored", "suspended")
        other.stop()
        answers = self.session([["$stopped"], ["$locals"]], run="stored", store=other.store, server=None)
        self.assertEqual(answers[1]["cart"], "{ items: [], total: 0 }")

    def test_a_damaged_or_foreign_snapshot_is_refused(self):
        server = Server()
        self.addCleanup(server.close)
        server.deploy("cart", CART)
        server.deploy("other", "return await Signal.next('go')")
        for run, workflow in (("cut", "cart"), ("flipped", "cart"), ("foreign", "cart"), ("other", "other")):
            server.post("/v1/runs", {"workflow": workflow, "id": run})
            server.wait_for(run, "suspended")
        server.stop()
        with sqlite3.connect(server.store[len("sqlite:"):]) as store:
            bytes_ = dict(store.execute("SELECT id, snapshot FROM abide_runs").fetchall())
            flipped = bytearray(bytes_["flipped"])
            flipped[-9] ^= 4
            for run, damaged in (("cut", bytes_["cut"][:-7]), ("flipped", bytes(flipped)), ("foreign", bytes_["other"])):
                store.execute("UPDATE abide_runs SET snapshot = ? WHERE id = ?", (damaged, run))
        store.close()
        server.start()
        before = [server.get(part).json for part in ("/v1/runs", "/v1/runs/cut/log", "/v1/runs/foreign/log")]
        url = "http://127.0.0.1:%d" % server.port
        for run, status, code in (("cut", 500, "SNAPSHOT_CORRUPT"), ("flipped", 500, "SNAPSHOT_CORRUPT"),
                                  ("foreign", 409, "SNAPSHOT_OTHER_CODE")):
            for method, path in (("GET", "snapshot"), ("GET", "diff"), ("POST", "try"), ("POST", "move"), ("GET", "copy")):
                answer = server.call(method, "/v1/runs/%s/%s" % (run, path), {} if method == "POST" else None)
                is_given = path == "copy" and run == "foreign"  # whose reader finds out
                is_there = path == "move"  # it has the current version already
                if not is_given and not is_there:
                    self.assertEqual((answer.status, answer.json["code"]), (status, code), path)
            self.assertEqual(server.get("/v1/runs/%s/turns" % run).status, 200)
            self.session([], run=run, server=url)
            self.assertRegex(self.begun[1]["error"], "snapshot")
        self.assertEqual([server.get(part).json for part in ("/v1/runs", "/v1/runs/cut/log", "/v1/runs/foreign/log")], before)

    def test_a_refused_request_can_be_repeated(self):
        given = {"server": self.url, "run": "cart", "tasks": {"charge": 5}}
        steps = [INITIALIZE, ["attach", {**given, "turn": 9}], ["attach", given], ["configurationDone", {}], ["$stopped"],
                 ["continue", {"threadId": 1}], ["$ended"]]
        done = subprocess.run(["node", os.path.join(SOURCE, "test", "editor", "dap.mjs"), ABIDE, json.dumps(steps)],
                              capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "ABIDE_EDITOR_MODULES": installed("editor")})
        answer = json.loads(done.stdout)
        self.assertIn("not kept", answer["results"][1]["error"])
        self.assertEqual(answer["results"][-1], 0)
        self.assertIn('"receipt":5', answer["output"][-1][1])

    def test_what_cannot_be_attached_to_is_refused(self):
        for attach, part in (({"run": "nobody"}, "nobody"), ({}, "no run"), ({"run": "cart", "turn": 9}, "not kept"),
                             ({"run": "cart", "turn": 0}, "count from 1"),
                             ({"run": "cart", "store": "memory:"}, "exclude"),
                             ({"run": "cart", "server": "http://127.0.0.1:1"}, "127.0.0.1:1"),
                             ({"run": "cart", "tasks": 1}, "tasks"), ({"run": "cart", "tasks": {}, "mock": "x"}, "mock")):
            self.session([], **attach)
            self.assertIn(part, self.begun[1]["error"], attach)


if __name__ == "__main__":
    tap.main()
