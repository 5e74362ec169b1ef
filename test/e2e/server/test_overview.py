"""What needs a person, what a caller may do, and changes of many runs at once."""
import os
import subprocess
import sys
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "server"))
import tap  # noqa: E402
from server import ABIDE, PATIENCE, Server, ServerTest, eventually, wait_until  # noqa: E402
from test_auth import TokenServer  # noqa: E402

ORDER = """const order = Inputs
if (order.fails) throw new RangeError("no \\"room\\" <b>")
return await Signal.when("approval")"""


class AttentionTest(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)

    def groups(self, kind):
        return [group for group in self.server.get("/v1/attention").json["groups"] if group["kind"] == kind]

    def wait_for(self, kind, is_so=lambda groups: groups):
        """The groups of that kind, once the look of a second ago is over."""
        return wait_until(lambda: (found := self.groups(kind)) and is_so(found) and found,
                          what=lambda: self.server.get("/v1/attention").body)

    def act(self, action):
        answer = self.server.call(action["method"], action["path"], action["body"])
        self.assertIn(answer.status, (200, 201, 204), answer.body)
        return answer

    def test_nothing_is_told_when_all_is_well(self):
        answer = self.server.get("/v1/attention").json
        self.assertEqual((answer["groups"], answer["totals"]["failed_runs"]), ([], 0))

    def test_runs_are_grouped_and_the_actions_help(self):
        server = self.server
        server.deploy("order", ORDER)
        for number in range(7):
            server.run("order", {"fails": True}, id="bad-%d" % number)
        server.post("/v1/runs", {"workflow": "order", "input": {}, "id": "held"})
        server.wait_for("held", "suspended")
        server.post("/v1/runs/held/pause")
        failed, = self.wait_for("failed_runs", lambda groups: groups[0]["count"] == 7)
        self.assertEqual((failed["workflow"], failed["error"], failed["place"], failed["is_exact"]),
                         ("order", {"name": "RangeError", "message": 'no "room" <b>'}, "order.flow:2:24", True))
        self.assertEqual(failed["examples"], ["bad-%d" % number for number in (6, 5, 4, 3, 2)])
        found = server.get("/v1/runs?q=" + urllib.parse.quote(failed["q"])).json["items"]
        self.assertEqual(len(found), 7)
        paused, = self.wait_for("paused_runs")
        self.assertEqual((paused["count"], paused["examples"]), (1, ["held"]))
        self.assertEqual(self.act(paused["actions"][0]).json["changed"], 1)
        server.wait_for("held", "suspended")
        remove = [action for action in failed["actions"] if action["verb"] == "remove"][0]
        self.assertEqual(self.act(remove).json["changed"], 7)
        wait_until(lambda: not self.server.get("/v1/attention").json["groups"])

    def test_tasks_topics_and_dead_letters(self):
        server = self.server
        server.deploy("work", 'return await Task.run("charge", 1, { retry: { attempts: 9, delay: "1ms" } })')
        server.post("/v1/runs", {"workflow": "work", "id": "w"})
        for _ in range(2):
            task, = server.claim(names=["charge"], max=1)
            server.post("/v1/tasks/complete", {"results": [{"id": task["id"], "token": task["token"], "error": {
                "type": "Away", "message": "the bank is away"}}]})
        retried, = self.wait_for("failing_retries")
        self.assertEqual((retried["name"], retried["queue"], retried["error"]["message"]),
                         ("charge", "default", "the bank is away"))
        self.act(retried["actions"][0])
        server.call("PUT", "/v1/topics/news", {"cap": 1})
        server.post("/v1/events/news", 1)
        full, = self.wait_for("full_topics")
        self.assertEqual(full["examples"], ["news"])
        self.act(full["actions"][0])
        server.deploy("order", ORDER)
        server.post("/v1/runs", {"workflow": "order", "input": {}, "id": "o", "leftover_signals": "dead_letter"})
        server.wait_for("o", "suspended")
        server.post("/v1/runs/o/signals/other", 1)
        server.post("/v1/runs/o/cancel")
        dead, = self.wait_for("dead_letters")
        self.assertEqual((dead["name"], dead["count"]), ("other", 1))
        self.act([action for action in dead["actions"] if action["verb"] == "remove"][0])
        server.post("/v1/tasks", {"name": "nobody-does", "queue": "q"})
        unserved = self.wait_for("unserved_tasks", lambda groups: groups[-1]["queue"] == "q")
        self.assertEqual(unserved[-1]["name"], "nobody-does")
        done = subprocess.run([ABIDE, "attention"], capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "ABIDE_SERVER": "http://127.0.0.1:%d" % server.port})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nobody asks for nobody-does in queue q", done.stdout)


class AccessTest(unittest.TestCase):
    def test_an_open_server_allows_everything(self):
        server = Server()
        self.addCleanup(server.close)
        self.assertEqual(server.get("/v1/access").json, {
            "open": True, "reason": "loopback", "scopes": ["read", "client", "worker", "admin"], "token": None})

    def test_tokens_are_told_their_scopes(self):
        server = TokenServer()
        self.addCleanup(server.close)
        self.assertEqual(server.get("/v1/access").json,
                         {"open": False, "reason": "none", "scopes": [], "token": None})
        answer = server.as_("read", "GET", "/v1/access").json
        self.assertEqual((answer["reason"], answer["scopes"]), ("token", ["read"]))
        self.assertEqual(answer["token"]["name"], "the read")
        wrong = server.call("GET", "/v1/access", headers={"Authorization": "Bearer nonsense"})
        self.assertEqual((wrong.status, wrong.json["code"]), (401, "UNAUTHORIZED"))


class BulkTest(ServerTest):
    def bulk(self, verb, **fields):
        return self.server.post("/v1/runs/bulk", {"verb": verb, **fields})

    def verdicts(self, answer):
        self.assertEqual(answer.status, 200, answer.body)
        return [(item["id"], item["status"], item.get("code")) for item in answer.json["results"]]

    def test_each_run_has_its_own_verdict(self):
        self.server.deploy("order", ORDER)
        for name in ("b1", "b2"):
            self.server.post("/v1/runs", {"workflow": "order", "input": {}, "id": name})
            self.server.wait_for(name, "suspended")
        self.server.run("order", {"fails": True}, id="b3")
        ids = ["b1", "b2", "b3", "b4"]
        self.server.post("/v1/runs/b2/pause")
        expected = [("b1", "changed", None), ("b2", "unchanged", None), ("b3", "refused", "RUN_TERMINAL"),
                    ("b4", "refused", "RUN_NOT_FOUND")]
        self.assertEqual(self.verdicts(self.bulk("pause", ids=ids, dry_run=True)), expected)
        self.assertEqual(self.server.get("/v1/runs/b1").json["status"], "suspended")
        answer = self.bulk("pause", ids=ids)
        self.assertEqual(self.verdicts(answer), expected)
        self.assertEqual([answer.json[name] for name in ("changed", "unchanged", "refused", "next")], [1, 1, 2, None])
        for verb, wanted in (("resume", ["changed", "changed", "unchanged", "refused"]),
                             ("release", ["changed", "changed", "refused", "refused"]),
                             ("remove", ["refused", "refused", "changed", "refused"]),
                             ("retry", ["refused", "refused", "refused", "refused"]),
                             ("cancel", ["changed", "changed", "refused", "refused"])):
            with self.subTest(verb):
                if verb == "retry":
                    self.assertEqual([item[2] for item in self.verdicts(self.bulk("retry", ids=["b1"], dry_run=True))],
                                     ["RUN_NOT_FAILED"])
                if verb != "release":  # whether it is in memory is for the engine to know
                    self.assertEqual([item[1] for item in self.verdicts(self.bulk(verb, ids=ids, dry_run=True))], wanted)
                self.assertEqual([item[1] for item in self.verdicts(self.bulk(verb, ids=ids))], wanted)

    def test_many_runs_go_back_to_a_step(self):
        self.server.deploy("steps", 'await Signal.when("first")\nawait Signal.when("second")')
        ids = ["w1", "w2", "w3", "w4"]
        for name in ids:
            self.server.post("/v1/runs", {"workflow": "steps", "id": name})
            self.server.wait_for(name, "suspended")
        for name in ids[:3]:
            self.server.post("/v1/runs/%s/signals/first" % name, {})
        self.server.post("/v1/runs/w3/signals/second", {})
        self.server.wait_for("w3", "completed")
        at = {name: self.server.wait_for(name, "suspended", is_so=lambda run: run["waits"][0]["name"] == "second")
              for name in ids[:2]}
        expected = [("w1", "changed", None), ("w2", "changed", None), ("w3", "refused", "RUN_TERMINAL"),
                    ("w4", "refused", "STEP_NOT_FOUND")]
        self.assertEqual(self.verdicts(self.bulk("rewind", ids=ids, step="second", dry_run=True)), expected)
        self.assertEqual(self.server.get("/v1/runs/w1").json["incarnation"], at["w1"]["incarnation"])
        self.assertEqual(self.verdicts(self.bulk("rewind", ids=ids, step="second")), expected)
        self.assertEqual(self.server.get("/v1/runs/w1").json["incarnation"], at["w1"]["incarnation"] + 1)
        for name in ids[:2]:
            self.server.wait_for(name, "suspended")
        found = self.bulk("rewind", q="workflow:steps line:2 status:suspended", step="first", iteration=0)
        self.assertEqual([item[:2] for item in self.verdicts(found)], [("w2", "changed"), ("w1", "changed")])
        for name in ids[:2]:
            self.server.wait_for(name, "suspended", is_so=lambda run: run["waits"][0]["name"] == "first")
        for fields in ({"verb": "rewind"}, {"verb": "pause", "step": "x"}, {"verb": "rewind", "step": "x", "iteration": -1}):
            self.assert_problem(self.server.post("/v1/runs/bulk", {"ids": [], **fields}), 400, "BAD_FIELD")

    def test_a_filter_goes_on_with_a_cursor(self):
        self.server.deploy("many", "return await Signal.when('never')")
        for number in range(5):
            self.server.post("/v1/runs", {"workflow": "many", "id": "m%d" % number})
        changed, cursor = [], {}
        while True:
            answer = self.bulk("cancel", q="workflow:many", limit=2, reason="enough", **cursor)
            changed += self.verdicts(answer)
            if answer.json["next"] is None:
                break
            cursor = {"cursor": answer.json["next"]}
        self.assertEqual([item[0] for item in changed], ["m4", "m3", "m2", "m1", "m0"])
        self.assertEqual({item[1] for item in changed}, {"changed"})
        eventually(lambda: self.assertEqual(
            self.bulk("remove", q="workflow:many", dry_run=True).json["changed"], 5))
        self.assertEqual(self.bulk("remove", q="workflow:many status:cancelled").json["changed"], 5)

    def test_what_is_wrong_is_refused(self):
        for fields in ({"verb": "destroy", "ids": []}, {"verb": "pause"}, {"verb": "pause", "ids": [], "q": ""},
                       {"verb": "pause", "ids": [1]}, {"verb": "pause", "ids": ["x"] * 1001},
                       {"verb": "pause", "ids": [], "limit": 1}, {"verb": "pause", "q": "", "limit": 0},
                       {"verb": "pause", "q": "", "cursor": "x"}):
            self.assert_problem(self.server.post("/v1/runs/bulk", fields), 400, "BAD_FIELD")
        for field in ({"reason": "x"}, {"grace": "1s"}):  # of cancel
            self.assert_problem(self.bulk("pause", ids=["b1"], **field), 400, "BAD_FIELD")
        self.assert_problem(self.bulk("pause", q="x:y"), 400, "BAD_FILTER")
        self.assertEqual(self.bulk("pause", ids=[]).json["results"], [])


if __name__ == "__main__":
    tap.main()
