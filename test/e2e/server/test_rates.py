"""How much happened, step by step: counted, kept over restarts, added up over processes."""
import os
import sqlite3
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, PATIENCE, Server, ServerTest, wait_until  # noqa: E402

FLOW = """if (Inputs === "fail") throw new Error("no")
if (Inputs === "wait") await Signal.when("go")
return 1"""
COUNTS = ["started", "completed", "failed", "cancelled", "turns", "tasks_completed", "tasks_failed"]
GAUGES = ["queued", "suspended", "resident", "resume_p50_ms", "resume_p99_ms"]


def totals(answer):
    return {name: sum(value or 0 for value in answer["series"][name]) for name in COUNTS}


def last(answer, name):
    return [value for value in answer["series"][name] if value is not None][-1]


class RatesTest(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)
        self.server.deploy("flow", FLOW)

    def rates(self, query=""):
        answer = self.server.get("/v1/rates" + query)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def work(self):
        """Two runs that complete, one that fails, one that is cancelled, one that waits; two tasks."""
        server = self.server
        self.number = getattr(self, "number", 0) + 1
        for number in range(2):
            server.run("flow", "end")
        server.run("flow", "fail")
        for name in ("cancelled", "waits"):
            server.post("/v1/runs", {"workflow": "flow", "input": "wait", "id": "%s-%d" % (name, self.number)})
            server.wait_for("%s-%d" % (name, self.number), "suspended")
        server.post("/v1/runs/cancelled-%d/cancel" % self.number)
        server.wait_for("cancelled-%d" % self.number, "cancelled")
        for result in ({"result": 1}, {"error": {"type": "No", "message": "no", "retryable": False}}):
            server.post("/v1/tasks", {"name": "charge"})
            task, = server.claim(names=["charge"], max=1)
            server.post("/v1/tasks/complete", {"results": [{"id": task["id"], "token": task["token"], **result}]})

    def wait_for_totals(self, **wanted):
        """What the engine tells is counted right after it has answered."""
        def look():
            found = totals(self.rates())
            return all(found[name] == value for name, value in wanted.items())
        wait_until(look, what=lambda: str(totals(self.rates())))

    def test_what_happens_is_counted_in_its_step(self):
        self.work()
        self.wait_for_totals(started=5, completed=2, failed=1, cancelled=1, tasks_completed=1, tasks_failed=1)
        answer = self.rates()
        self.assertEqual((answer["step_ms"], answer["nodes"]), (10000, 1))
        self.assertEqual(set(answer["series"]), set(COUNTS + GAUGES))
        self.assertEqual({len(values) for values in answer["series"].values()}, {360})
        self.assertGreaterEqual(totals(answer)["turns"], 5)
        self.assertEqual((last(answer, "queued"), last(answer, "suspended")), (0, 1))
        self.assertIsNone(answer["series"]["started"][0], "nobody was up an hour ago")
        longer = self.rates("?since=24h")
        self.assertEqual((longer["step_ms"], len(longer["series"]["started"])), (300000, 288))
        self.assertEqual(totals(longer), totals(answer))
        self.assertEqual(len(self.rates("?since=6h&step=3m")["series"]["failed"]), 120)

    def test_rates_outlive_restarts_and_are_added_up(self):
        self.work()
        self.wait_for_totals(started=5, tasks_failed=1)
        for restarts in (1, 2):
            self.server.stop()
            self.server.start()
            before = totals(self.rates("?since=24h"))
            self.assertEqual((before["started"], before["failed"], before["tasks_completed"]),
                             (5 * restarts, restarts, restarts))
            self.work()
            self.wait_for_totals(started=5 * (restarts + 1), tasks_failed=restarts + 1)
        answer = self.rates()
        self.assertEqual((last(answer, "suspended"), answer["nodes"]), (3, 1))

    def test_a_server_at_which_nothing_happens_writes_nothing(self):
        self.assertEqual(set(totals(self.rates()).values()), {0})
        self.server.stop()
        with sqlite3.connect(os.path.join(self.server.folder, "test.db")) as database:
            self.assertEqual(database.execute("SELECT count(*) FROM abide_rates").fetchone(), (0,))
        database.close()

    def test_the_command_draws_them(self):
        self.work()
        self.wait_for_totals(started=5)
        for target in (["--server", "http://127.0.0.1:%d" % self.server.port], ["--store", self.server.store]):
            if "--store" in target:
                self.server.stop()
            text = subprocess.run([ABIDE, "rates", "--since", "6h", *target], capture_output=True, text=True,
                                  timeout=PATIENCE, check=True).stdout
            self.assertRegex(text, r"started +.*█.* +5 +")
            self.assertIn("per 60s", text)
        json_text = subprocess.run([ABIDE, "rates", "--step", "1m", "-o", "json", "--store", self.server.store],
                                   capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        self.assertIn('"step_ms": 60000', json_text)


class CommandsTest(ServerTest):
    def command(self, *arguments):
        return [ABIDE, *arguments, "--server", "http://127.0.0.1:%d" % self.server.port]

    def test_access_says_what_the_caller_may_do(self):
        done = subprocess.run(self.command("access"), capture_output=True, text=True, timeout=PATIENCE, check=True)
        self.assertEqual(done.stdout, "tokens: not asked for (loopback)\nscopes: read client worker admin\n")

    def test_changes_are_printed_as_they_happen(self):
        self.server.deploy("flow", FLOW)
        process = subprocess.Popen(self.command("changes", "--kind", "runs", "--run", "seen"), stdout=subprocess.PIPE,
                                   text=True)
        try:
            self.assertIn('"event":"hello"', process.stdout.readline())
            self.server.run("flow", "end", id="unseen")
            self.server.run("flow", "end", id="seen")
            self.assertRegex(process.stdout.readline(), r'^{"event":"changes","data":{"runs":\[{"id":"seen"')
        finally:
            process.terminate()
            process.stdout.close()
            process.wait()

    def test_logs_of_many_pages_are_printed(self):
        self.server.deploy("lines", 'for (let i = 0; i < 2500; i++) console.log("line " + i)')
        self.server.run("lines", id="lines")
        done = subprocess.run(self.command("logs", "lines"), capture_output=True, text=True, timeout=PATIENCE, check=True)
        self.assertEqual((done.stdout.count("line "), "line 2499" in done.stdout), (2500, True))


class RatesQueryTest(ServerTest):
    def test_spans_that_are_not_kept_are_refused(self):
        for query in ("since=25h", "since=0s", "since=soon", "step=15s", "step=0s", "since=2h&step=30s", "step=25h"):
            self.assert_problem(self.server.get("/v1/rates?" + query), 400, "BAD_QUERY")


if __name__ == "__main__":
    tap.main()
