"""Runs by what is in their variables: GET /v1/runs?where=, abide wf ls --where."""
import os
import subprocess
import sys
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, Server, eventually  # noqa: E402

ORDER = """
const order = Inputs
let attempts = order.n % 5
if (order.n % 2) { const odd = { name: "o" + order.n }; await Signal.next("go"); return odd }
await Signal.next("go")
return attempts
"""
RUNS = 40


class Where(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.deploy("order", ORDER)
        for n in range(RUNS):
            body = {"workflow": "order", "id": "r%02d" % n, "input": {"n": n, "total": n * 10}}
            assert cls.server.post("/v1/runs", body).status == 201
        eventually(lambda: cls.all_wait())

    @classmethod
    def all_wait(cls):
        items = cls.server.get("/v1/runs?status=suspended&limit=1000").json["items"]
        assert len(items) == RUNS, len(items)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def where(self, text, more=""):
        return self.server.get("/v1/runs?where=%s%s" % (urllib.parse.quote(text), more))

    def ids(self, text, more=""):
        answer = self.where(text, more)
        self.assertEqual(answer.status, 200, answer.body)
        return [item["id"] for item in answer.json["items"]]

    def test_finds_runs_by_their_variables(self):
        self.assertEqual(self.ids("order.total > 370 && attempts >= 3"), ["r39", "r38"])
        self.assertEqual(self.ids("order.total > 370", "&workflow=other"), [])
        self.assertEqual(self.ids("order.total > 370", "&status=completed"), [])
        self.assertEqual(self.ids("['o3', 'o5'].includes(odd.name)"), ["r05", "r03"])
        self.assertEqual(self.ids("Date.now() > 1e12 && order.n === 1"), ["r01"])

    def q(self, text, more=""):
        answer = self.server.get("/v1/runs?q=%s%s" % (urllib.parse.quote(text), more))
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def test_an_expression_is_a_term_of_filters(self):
        found = self.q("status:suspended workflow:order where(order.total > 370 && attempts >= 3)")
        self.assertEqual([item["id"] for item in found["items"]], ["r39", "r38"])
        self.assertEqual((found["where"]["looked_at"], found["where"]["matched"]), (RUNS, 2))
        two = self.q("where(order.n > 34) -where([36, 38].includes(order.n)) id~r3 -id:r39")
        self.assertEqual([item["id"] for item in two["items"]], ["r37", "r35"])
        self.assertEqual((two["looked_at"], two["where"]["looked_at"]), (RUNS, 9), "id is asked first")
        self.assertEqual(self.q("status:completed where(true)")["items"], [])
        found = self.q("where(odd.name === 'o3')")
        self.assertEqual((found["where"]["matched"], found["where"]["errors"]), (1, RUNS / 2))
        refused = self.server.get("/v1/runs?q=" + urllib.parse.quote("tag:a where(order. > 1)"))
        self.assertEqual((refused.status, refused.json["code"]), (400, "BAD_FILTER"))

    def test_such_filters_are_paged_and_change_many(self):
        ids, cursor = [], ""
        while cursor is not None:
            page = self.q("workflow~ord where(order.n < 11)", "&limit=2" + cursor)
            ids += [item["id"] for item in page["items"]]
            cursor = page["next"] and "&cursor=" + page["next"]
        self.assertEqual(ids, ["r%02d" % n for n in range(10, -1, -1)])
        body = {"verb": "pause", "q": "where(order.n === 7)", "dry_run": True}
        results = self.server.post("/v1/runs/bulk", body).json["results"]
        self.assertEqual([result["id"] for result in results], ["r07"])

    def test_failures_are_counted_and_do_not_match(self):
        counts = self.where("odd.name === 'o3'").json["where"]
        self.assertEqual((counts["looked_at"], counts["matched"], counts["errors"]), (RUNS, 1, RUNS / 2))
        self.assertIn("odd is not defined", counts["first_error"])

    def test_pages_go_on_at_the_cursor(self):
        found, cursor = [], ""
        for _ in range(RUNS):
            page = self.where("attempts === 2", "&limit=3" + cursor).json
            found += [item["id"] for item in page["items"]]
            if page["next"] is None:
                break
            cursor = "&cursor=" + page["next"]
        self.assertEqual(found, ["r%02d" % n for n in reversed(range(RUNS)) if n % 5 == 2])

    def test_what_is_no_reading_expression_is_refused(self):
        for text, code in (("order.", "EXPRESSION_INVALID"), ("attempts = 3", "EXPRESSION_REFUSED")):
            answer = self.where(text)
            self.assertEqual((answer.status // 100, answer.json["code"]), (4, code))
        # What only running shows is an error of each run, and no run is changed by it.
        self.assertEqual(self.where("order.list = order.n").status, 400)
        counts = self.where("Object.assign(order, { n: -1 }).n").json["where"]
        self.assertEqual((counts["matched"], counts["errors"]), (0, RUNS))
        counts = self.where("(function f(n) { return n && f(n - 1) + f(n - 1) })(60)").json["where"]
        self.assertEqual(counts["matched"], 0)
        self.assertEqual(self.ids("order.n === 7"), ["r07"])

    def test_the_command_lists_them_and_says_what_failed(self):
        url = "http://127.0.0.1:%d" % self.server.port
        done = subprocess.run([ABIDE, "wf", "ls", "--where", "odd.name === 'o3'", "-o", "ids", "--server", url],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "r03\n"), done.stderr)
        self.assertIn("failed in %d of %d runs" % (RUNS / 2, RUNS), done.stderr)
        done = subprocess.run([ABIDE, "wf", "ls", "--where", "order +", "--server", url],
                              capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("EXPRESSION_INVALID", done.stderr)


if __name__ == "__main__":
    tap.main()
