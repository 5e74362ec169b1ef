"""What the server tells about queues, parked scripts and their state."""
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ServerTest  # noqa: E402

ORDER = """
async function approve(order) {
  const limit = 500
  const answer = await Signal.when("approval")
  return { order, limit, answer }
}
State.set("phase", "waiting")
State.set("amount", Inputs.amount)
const note = "x".repeat(2000)
const result = await approve({ amount: Inputs.amount })
State.set("phase", "approved")
await Signal.when("ship")
return { result, note: note.length }
"""


class QueueTest(ServerTest):
    def queue(self, name):
        return self.server.get("/v1/queues/" + name).json

    def add(self, queue, **fields):
        answer = self.server.post("/v1/tasks", {"name": "work", "queue": queue, **fields})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json

    def test_depth_running_and_age(self):
        for _ in range(3):
            self.add("depths")
        shown = self.queue("depths")
        self.assertEqual((shown["queued"], shown["running"], shown["set"]), (3, 0, False))
        self.assertIsNotNone(shown["oldest_at"])
        self.assertGreaterEqual(shown["oldest_age_seconds"], 0)
        task = self.server.claim(queues=["depths"], wait="0s")[0]
        shown = self.queue("depths")
        self.assertEqual((shown["queued"], shown["running"]), (2, 1))
        self.server.complete(task, 1)
        self.assertEqual(self.queue("depths")["running"], 0)

    def test_lists_by_name_in_pages(self):
        names = ["page-%d" % i for i in range(5)]
        for name in names:
            self.add(name)
        seen, path = [], "/v1/queues?limit=2"
        while True:
            page = self.server.get(path).json
            self.assertLessEqual(len(page["items"]), 2)
            seen += [item["name"] for item in page["items"]]
            if page["next"] is None:
                break
            path = "/v1/queues?limit=2&cursor=" + page["next"]
        self.assertEqual(seen, sorted(seen))
        self.assertEqual([name for name in seen if name.startswith("page-")], names)
        self.assert_problem(self.server.get("/v1/queues?limit=0"), 400, "BAD_QUERY")

    def test_limits_hold_tasks_back(self):
        answer = self.server.call("PUT", "/v1/queues/narrow", {
            "max_running": 1, "max_per_key": 0, "rate_count": 100, "rate_period": "1h"})
        self.assertEqual(answer.status, 200)
        self.assertEqual(
            [answer.json[name] for name in ("set", "max_running", "max_per_key", "rate_count",
                                            "rate_period", "paused", "opens_at")],
            [True, 1, 0, 100, "1h", False, None])
        for _ in range(2):
            self.add("narrow")
        first = self.server.claim(queues=["narrow"], wait="0s", max=10)
        self.assertEqual(len(first), 1)
        self.assertEqual(self.server.claim(queues=["narrow"], wait="0s", max=10), [])
        self.server.complete(first[0], None)
        self.assertEqual(len(self.server.claim(queues=["narrow"], wait="0s", max=10)), 1)
        self.assertEqual(self.server.call("DELETE", "/v1/queues/narrow").json, {"changed": True})
        self.assertEqual(self.server.call("DELETE", "/v1/queues/narrow").json, {"changed": False})
        self.assertEqual(self.queue("narrow")["max_running"], 0)

    def test_a_rate_that_is_used_up_says_when_it_opens(self):
        self.server.call("PUT", "/v1/queues/rated", {"rate_count": 1, "rate_period": "1h"})
        self.add("rated")
        self.assertEqual(len(self.server.claim(queues=["rated"], wait="0s")), 1)
        self.assertIsNotNone(self.queue("rated")["opens_at"])

    def test_pause_and_resume(self):
        self.add("held")
        self.assertEqual(self.server.post("/v1/queues/held/pause").json, {"changed": True})
        self.assertEqual(self.server.post("/v1/queues/held/pause").json, {"changed": False})
        self.assertEqual(self.server.claim(queues=["held"], wait="0s"), [])
        self.assertTrue(self.queue("held")["paused"])
        self.assertEqual(self.server.post("/v1/queues/held/resume").json, {"changed": True})
        self.assertEqual(len(self.server.claim(queues=["held"], wait="0s")), 1)

    def test_what_is_refused(self):
        put = lambda body, **more: self.server.call("PUT", "/v1/queues/q", body, **more)
        self.assert_problem(put({"max_running": -1}), 400, "BAD_QUEUE_LIMIT")
        self.assert_problem(put({"rate_count": 1}), 400, "BAD_QUEUE_LIMIT")
        self.assert_problem(put({"max_running": "many"}), 400, "BAD_FIELD")
        self.assert_problem(put({"max": 1}), 400, "UNKNOWN_FIELD")
        self.assert_problem(put(None), 400, "BODY_REQUIRED")
        self.assert_problem(put(None, raw="{"), 400, "BAD_JSON")
        self.assert_problem(self.server.get("/v1/queues/a%01b"), 400, "BAD_NAME")


class SnapshotTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.deploy("order", ORDER)

    def start(self, amount):
        run = self.server.post("/v1/runs", {"workflow": "order", "input": {"amount": amount}}).json
        return self.server.wait_for(run["id"], "suspended")

    def test_a_parked_script_shows_where_it_stands(self):
        run = self.start(120)
        shown = self.server.get("/v1/runs/%s/snapshot" % run["id"]).json
        self.assertEqual((shown["run_id"], shown["kind"], shown["status"]),
                         (run["id"], "flow", "suspended"))
        self.assertGreater(shown["bytes"], 100)
        self.assertEqual(shown["waits"][0]["name"], "approval")
        frames = {frame["function"]: frame for frame in shown["frames"]}
        self.assertEqual(frames["approve"]["line"], 4)
        self.assertIn("500", str(frames["approve"]["locals"]["limit"]))
        self.assertIn("note", [variable["name"] for variable in shown["variables"]])
        self.assertEqual(shown["variables"][0]["name"], "note")  # the heaviest first
        # Looking changed nothing: it goes on as if nobody had looked.
        self.server.post("/v1/runs/%s/signals/approval" % run["id"], raw="true")
        self.server.post("/v1/runs/%s/signals/ship" % run["id"], raw="null")
        ended = self.server.wait_for(run["id"], "completed")
        self.assertEqual(ended["result"]["note"], 2000)
        gone = self.server.get("/v1/runs/%s/snapshot" % run["id"]).json
        self.assertEqual((gone["status"], gone["frames"]), ("completed", []))

    def test_a_run_that_has_not_begun_has_no_frames(self):
        run = self.server.post("/v1/runs", {"workflow": "order", "delay": "1h"}).json
        shown = self.server.get("/v1/runs/%s/snapshot" % run["id"]).json
        self.assertEqual((shown["bytes"], shown["frames"], shown["variables"], shown["taken_at"]),
                         (0, [], [], None))

    def test_an_unknown_run(self):
        self.assert_problem(self.server.get("/v1/runs/nobody/snapshot"), 404, "RUN_NOT_FOUND")

    def test_state_is_shown_and_searched(self):
        amount = time.monotonic_ns() % 10**9
        run = self.start(amount)
        self.assertEqual(run["state"], {"phase": "waiting", "amount": amount})
        find = lambda text: [item["id"] for item in
                             self.server.get("/v1/runs?state=" + text).json["items"]]
        self.assertEqual(find("amount=%d" % amount), [run["id"]])
        self.assertIn(run["id"], find("phase=waiting"))  # text that is no JSON is a string
        self.assertIn(run["id"], find("phase=%22waiting%22"))
        self.assertNotIn(run["id"], find("phase=approved"))
        self.assertEqual(find("amount=%d" % (amount + 1)), [])
        self.assert_problem(self.server.get("/v1/runs?state=phase"), 400, "BAD_QUERY")
        self.assert_problem(self.server.get("/v1/runs?state==1"), 400, "BAD_QUERY")


if __name__ == "__main__":
    tap.main()
