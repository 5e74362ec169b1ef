"""GET /v1/changes: what changes is told as it happens, once, and what cannot be told is said to be missing."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import Server, ServerTest, read_events  # noqa: E402


class Reader:
    def __init__(self, test, server, query="", headers=None):
        self.connection = server.connect()
        test.addCleanup(self.connection.close)
        self.connection.request("GET", "/v1/changes" + query, headers=headers or {})
        self.response = self.connection.getresponse()
        test.assertEqual(self.response.status, 200)
        self.events = read_events(self.response)
        self.first = next(self.events)

    def until(self, is_so):
        """Events up to the first that `is_so`; answers them."""
        seen = []
        while not seen or not is_so(seen[-1]):
            seen.append(next(self.events))
        return seen


def names(kind, text, status=None):
    """Whether an event names a thing of that kind."""
    def is_so(event):
        for item in event[2].get(kind, []):
            if item == text or isinstance(item, dict) and item["id"] == text and status in (None, item["status"]):
                return True
        return False
    return is_so


class ChangesTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.deploy("order", 'await Task.run("charge"); return await Signal.when("approval")')
        cls.server.deploy("quick", "return 1")

    def test_runs_tasks_and_what_requests_change_are_named(self):
        reader = Reader(self, self.server)
        self.assertEqual((reader.first[1], set(reader.first[2])), ("hello", {"node", "version"}))
        self.server.post("/v1/runs", {"workflow": "order", "id": "c1"})
        event = reader.until(names("runs", "c1", "suspended"))[-1]
        self.assertEqual(event[1], "changes")
        self.assertIn({"id": "c1", "workflow": "order", "status": "suspended"}, event[2]["runs"])
        task, = self.server.claim(names=["charge"], max=1)
        of_run = Reader(self, self.server, "?kind=tasks&run=c1")
        told = reader.until(names("tasks", task["id"], "leased"))[-1][2]["tasks"]
        self.assertEqual([item["name"] for item in told if item["id"] == task["id"]], ["charge"])
        self.server.complete(task, 1)
        reader.until(names("tasks", task["id"], "completed"))
        of_run.until(names("tasks", task["id"], "completed"))
        self.server.post("/v1/runs/c1/cancel")
        reader.until(names("runs", "c1", "cancelled"))
        self.server.call("DELETE", "/v1/runs/c1")
        reader.until(names("runs", "c1", "removed"))
        self.server.call("PUT", "/v1/schedules/nightly", {"workflow": "quick", "cron": "0 3 * * *"})
        reader.until(names("schedules", "nightly"))
        self.server.post("/v1/events/news", 1)
        reader.until(names("topics", "news"))
        self.server.call("PATCH", "/v1/queues/slow", {"paused": True})
        reader.until(names("queues", "slow"))
        self.server.deploy("newer", "return 2")
        reader.until(names("workflows", "newer"))

    def test_a_reader_gets_what_it_asked_for_only(self):
        one = Reader(self, self.server, "?kind=runs&run=only-this")
        self.server.run("quick", id="another")
        self.server.run("quick", id="only-this")
        seen = one.until(names("runs", "only-this", "completed"))
        self.assertEqual({item["id"] for event in seen for item in event[2]["runs"]}, {"only-this"})
        two = Reader(self, self.server, "?kind=topics,schedules")
        self.server.run("quick", id="third")
        self.server.post("/v1/events/news", 1)
        self.assertEqual([list(event[2]) for event in two.until(names("topics", "news"))], [["topics"]])
        self.assert_problem(self.server.get("/v1/changes?kind=nonsense"), 400, "BAD_QUERY")

    def test_a_reader_goes_on_where_it_stopped_or_is_told_that_it_missed_something(self):
        reader = Reader(self, self.server)
        last = reader.first[0]
        self.server.run("quick", id="meanwhile")
        reader.until(names("runs", "meanwhile", "completed"))
        again = Reader(self, self.server, headers={"Last-Event-ID": str(last)})
        again.until(names("runs", "meanwhile", "completed"))
        far = Reader(self, self.server, "?after=1")
        event = next(far.events)
        self.assertEqual((event[1], event[2]["reason"], "runs" in event[2]["kinds"]), ("resync", "missed", True))

    def test_much_at_once_is_a_resync(self):
        reader = Reader(self, self.server, "?kind=runs")
        connection = self.server.connect()
        for number in range(600):  # each starts and ends: more changes than are kept
            connection.request("POST", "/v1/runs", json.dumps({"workflow": "quick", "id": "much-%d" % number}))
            connection.getresponse().read()
        connection.close()
        self.server.run("quick", id="much-last")
        late = Reader(self, self.server, "?kind=runs", headers={"Last-Event-ID": str(reader.first[0])})
        event = next(late.events)
        self.assertEqual((event[1], event[2]["kinds"]), ("resync", ["runs"]))

    def test_a_server_that_stops_ends_its_streams_and_a_new_one_says_what_was_missed(self):
        server = Server()
        self.addCleanup(server.close)
        reader = Reader(self, server)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(list(reader.events), [])
        server.process.stderr.close()
        server.start()
        again = Reader(self, server, headers={"Last-Event-ID": str(reader.first[0])})
        self.assertEqual(next(again.events)[2]["reason"], "missed")


if __name__ == "__main__":
    tap.main()
