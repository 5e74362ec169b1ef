"""/metrics: the format to the letter, the figures, their bounds, their documentation."""
import json
import os
import re
import sqlite3
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import prometheus  # noqa: E402
import tap  # noqa: E402
from server import PATIENCE, Server, ServerTest, eventually  # noqa: E402

FLOW = """
const receipt = await Task.run("charge", {}, { retry: { attempts: 3, delay: "1ms" } })
await Timer.delay("20ms")
return await Signal.when("go")
"""


def read(server):
    answer = server.get("/metrics")
    assert answer.status == 200, answer.body
    return prometheus.parse(answer.body)


def wait_until(server, is_so, seconds=PATIENCE):
    def look():
        families = read(server)
        assert is_so(families), "it did not come about"
        return families
    return eventually(look, seconds)


class ParserTest(unittest.TestCase):
    """The reader itself refuses what the format does not allow."""

    GOOD = "# HELP a_total A.\n# TYPE a_total counter\na_total{x=\"\\\\\\\"\\n\"} 1\n"

    def test_good(self):
        family = prometheus.parse(self.GOOD)["a_total"]
        self.assertEqual(family.value(x='\\"\n'), 1)

    def test_bad(self):
        head = "# HELP a_total A.\n# TYPE a_total counter\n"
        histogram = "# HELP h H.\n# TYPE h histogram\n"
        for text in (self.GOOD[:-1], head + "b_total 1\n", head + "a_total 1\na_total 1\n",
                     head + "a_total -1\n", head + "a_total  1\n", head + "a_total{} 1\n",
                     head + "a_total{x=\"\\q\"} 1\n", head + "a_total{x=\"1\",} 1\n",
                     head + "a_total x\n", "a_total 1\n", head + head, head + "\na_total 1\n",
                     "# HELP a A.\n# TYPE a counter\na 1\n", histogram + "h_bucket{le=\"1\"} 1\n",
                     histogram + "h_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\n"
                     "h_count 1\n", "# HELP a_ms A.\n# TYPE a_ms gauge\na_ms 1\n"):
            with self.assertRaises(ValueError, msg=text):
                prometheus.parse(text)


class OneRunTest(ServerTest):
    def test_a_run_from_start_to_end(self):
        server = self.server
        server.deploy("counted", FLOW)
        run = server.post("/v1/runs", {"workflow": "counted"}).json["id"]
        first = server.claim(names=["charge"])[0]
        server.post("/v1/tasks/complete", {"results": [
            {"id": first["id"], "token": first["token"], "error": {"message": "again"}}]})
        server.complete(server.claim(names=["charge"])[0], {"ok": True})
        server.wait_for(run, "suspended", is_so=lambda run: "signal" in [wait["on"] for wait in
                                                                         run["waits"]])

        def check_parked():
            parked = read(server)
            self.assertEqual(parked["abide_runs"].value(state="suspended"), 1)
            self.assertEqual(parked["abide_runs_resident"].value(), 1)
            self.assertEqual(parked["abide_workers"].value(), 1)
        eventually(check_parked)
        server.post("/v1/runs/%s/signals/go" % run, raw="1")
        server.wait_for(run, "completed")
        wait_until(server, lambda f: f["abide_runs_resident"].value() == 0)
        eventually(lambda: self.check_ended(read(server)))

    def check_ended(self, seen):
        self.assertEqual(seen["abide_runs_started_total"].value(workflow="counted"), 1)
        self.assertEqual(
            seen["abide_runs_finished_total"].value(workflow="counted", state="completed"), 1)
        self.assertEqual(seen["abide_runs"].value(state="completed"), 1)
        attempts = seen["abide_task_attempts_total"]
        self.assertEqual(attempts.value(task="charge", outcome="retried"), 1)
        self.assertEqual(attempts.value(task="charge", outcome="completed"), 1)
        self.assertEqual(seen["abide_task_duration_seconds"].count(task="charge"), 2)
        self.assertEqual(seen["abide_task_schedule_to_start_seconds"].count(task="charge"), 1)
        self.assertEqual(seen["abide_turn_duration_seconds"].count(), 4)
        self.assertEqual(seen["abide_resume_latency_seconds"].count(), 3)  # task, timer, signal
        self.assertEqual(seen["abide_snapshot_size_bytes"].count(), 3)
        self.assertGreater(seen["abide_snapshot_size_bytes"].sum(), 100)
        self.assertGreaterEqual(seen["abide_timers_fired_total"].value(), 1)
        self.assertGreaterEqual(seen["abide_timer_lag_seconds"].count(), 1)
        self.assertLess(seen["abide_timer_lag_seconds"].sum(), 3600)
        commits = seen["abide_commit_duration_seconds"].count()
        self.assertGreater(commits, 5)
        self.assertEqual(seen["abide_commit_batch_operations"].count(), commits)
        operations = seen["abide_store_operations_total"]
        self.assertEqual(operations.value(operation="create_run", result="ok"), 1)
        self.assertEqual(operations.value(operation="commit_turn", result="ok"), 4)
        self.assertEqual(seen["abide_store_up"].value(), 1)


class MetricsTest(ServerTest):
    def test_failed_and_cancelled_runs(self):
        self.server.deploy("bad", "throw new Error('no')")
        self.server.deploy("long", "await Timer.delay('1h')")
        self.server.run("bad")
        run = self.server.post("/v1/runs", {"workflow": "long"}).json["id"]
        self.server.wait_for(run, "suspended")
        self.server.post("/v1/runs/%s/cancel" % run)
        self.server.wait_for(run, "cancelled")

        def check():
            finished = read(self.server)["abide_runs_finished_total"]
            self.assertEqual(finished.value(workflow="bad", state="failed"), 1)
            self.assertEqual(finished.value(workflow="long", state="cancelled"), 1)
        eventually(check)

    def test_tasks_in_process_and_children_count_like_others(self):
        self.server.deploy("inner", "return Inputs")
        self.server.deploy("outer", """
            await Task.run("log", { message: "hello" })
            try { await Task.run("fail", { message: "no" }, { retry: { attempts: 1 } }) } catch {}
            return await Workflow.run("inner", 7)
        """)
        self.assertEqual(self.server.run("outer")["result"], 7)

        def check():
            seen = read(self.server)
            self.assertEqual(seen["abide_runs_started_total"].value(workflow="inner"), 1)
            self.assertEqual(
                seen["abide_runs_finished_total"].value(workflow="inner", state="completed"), 1)
            attempts = seen["abide_task_attempts_total"]
            self.assertEqual(attempts.value(task="log", outcome="completed"), 1)
            self.assertEqual(attempts.value(task="fail", outcome="failed"), 1)
            for task in ("log", "fail"):
                self.assertEqual(seen["abide_task_duration_seconds"].count(task=task), 1)
                self.assertEqual(seen["abide_task_schedule_to_start_seconds"].count(task=task), 1)
        eventually(check)

    def test_requests_by_route_and_status(self):
        before = read(self.server)["abide_http_requests_total"]
        for _ in range(3):
            self.server.get("/v1/runs/not-there-%d" % time.monotonic_ns())
        self.server.get("/nowhere")
        label = {"method": "GET", "route": "/v1/runs/{id}", "status": "404"}
        other = {"method": "other", "route": "other", "status": "404"}

        def check():
            seen = read(self.server)
            requests = seen["abide_http_requests_total"]
            self.assertEqual(requests.get(**label) - before.get(**label), 3)
            self.assertEqual(requests.get(**other) - before.get(**other), 1)
            took = seen["abide_http_request_duration_seconds"]
            self.assertGreaterEqual(took.count(method="GET", route="/v1/runs/{id}"), 3)
        eventually(check)

    def test_streams_and_waiting_workers(self):
        self.server.deploy("waits", "return await Signal.when('never')")
        run = self.server.post("/v1/runs", {"workflow": "waits"}).json["id"]
        stream, claim = self.server.connect(), self.server.connect()
        stream.request("GET", "/v1/runs/%s/events" % run)
        stream.getresponse()
        claim.request("POST", "/v1/tasks/claim", '{"worker":"w-%d","wait":"30s","names":["z"]}'
                      % time.monotonic_ns())
        wait_until(self.server, lambda f: f["abide_sse_connections"].value() == 1 and
                   f["abide_claims_waiting"].value() == 1)
        stream.close()
        claim.close()

    def test_queues(self):
        self.server.post("/v1/tasks", {"name": "t", "queue": 'a "quoted" \\ queue'})
        seen = read(self.server)
        self.assertEqual(seen["abide_queue_depth"].value(queue='a "quoted" \\ queue'), 1)
        self.assertEqual(seen["abide_queue_running"].value(queue='a "quoted" \\ queue'), 0)
        age = seen["abide_queue_oldest_age_seconds"].value(queue='a "quoted" \\ queue')
        self.assertGreaterEqual(age, 0)

    def test_odd_names_are_escaped(self):
        self.server.deploy("odd", "await Task.run(Inputs.name, 1, { queue: Inputs.queue })")
        names = ["other", 'quote " and \\', "\u00e9"]  # others are refused (BAD_NAME)
        for name in names:
            self.server.post("/v1/runs", {"workflow": "odd", "input": {"name": name, "queue": name}})
        depth = wait_until(self.server, lambda f: sum(
            f["abide_queue_depth"].samples.values()) >= len(names))["abide_queue_depth"]
        for name in names:
            self.assertEqual(depth.value(queue=name), 1)
        for task in self.server.claim(queues=names, max=10):
            self.assertEqual(self.server.complete(task, None)["status"], "accepted")

        def check():
            attempts = read(self.server)["abide_task_attempts_total"]
            for name in names:
                self.assertEqual(attempts.value(task=name, outcome="completed"), 1, name)
        eventually(check)

    def test_the_process(self):
        seen = read(self.server)
        with open("/proc/%d/statm" % self.server.process.pid, encoding="ascii") as file:
            pages = int(file.read().split()[1])
        resident = seen["process_resident_memory_bytes"].value()
        self.assertLess(abs(resident - pages * os.sysconf("SC_PAGE_SIZE")), resident)
        self.assertLess(abs(seen["process_start_time_seconds"].value() - time.time()), 3600)
        fds = len(os.listdir("/proc/%d/fd" % self.server.process.pid))
        self.assertLess(abs(seen["process_open_fds"].value() - fds), 10)
        self.assertGreater(seen["process_max_fds"].value(), 10)
        self.assertGreater(seen["process_threads"].value(), 3)
        self.assertGreater(seen["process_cpu_seconds_total"].value(), 0)
        info = seen["abide_build_info"]
        version = self.server.get("/version").json["version"]
        self.assertEqual(info.value(version=version, store="sqlite"), 1)

    def test_bounds_are_round(self):
        family = read(self.server)["abide_commit_duration_seconds"]
        bounds = [dict(labels)["le"] for name, labels in family.samples if name.endswith("_bucket")]
        self.assertEqual(bounds[:9], ["0.00001", "0.000025", "0.00005", "0.0001", "0.00025",
                                      "0.0005", "0.001", "0.0025", "0.005"])
        self.assertEqual(bounds[-3:], ["100", "600", "+Inf"])

    def test_content_type_and_head(self):
        answer = self.server.get("/metrics")
        self.assertEqual(answer.headers["Content-Type"],
                         "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(self.server.call("HEAD", "/metrics").body, "")


class BoundTest(ServerTest):
    def test_names_beyond_a_hundred_are_other(self):
        for i in range(130):
            self.server.post("/v1/tasks", {"name": "task-%03d" % i, "queue": "queue-%03d" % i})
        queues = ["queue-%03d" % i for i in range(130)]
        seen = read(self.server)
        depth = seen["abide_queue_depth"]
        self.assertEqual(len(depth.samples), 101)
        self.assertEqual((depth.value(queue="other"), depth.value(queue="queue-099")), (30, 1))
        for task in self.server.claim(queues=queues, max=200):
            self.assertEqual(self.server.complete(task, None)["status"], "accepted")

        def check():
            attempts = read(self.server)["abide_task_attempts_total"]
            self.assertEqual(len(attempts.samples), 101)
            self.assertEqual(attempts.value(task="other", outcome="completed"), 30)
            self.assertEqual(sum(attempts.samples.values()), 130)
        eventually(check)


class StoreTest(unittest.TestCase):
    def test_a_store_that_does_not_answer_shows_and_metrics_still_answers(self):
        server = Server()
        self.addCleanup(server.close)
        server.deploy("echo", "return 1")
        other = sqlite3.connect(server.store[len("sqlite:"):], isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        statuses = []
        starter = threading.Thread(target=lambda: statuses.append(
            server.post("/v1/runs", {"workflow": "echo"}).status))
        starter.start()
        wait_until(server, lambda f: f["abide_store_up"].value() == 0 and
                   f["abide_store_errors_total"].value(kind="commit") > 0, 60)
        other.execute("ROLLBACK")
        other.close()
        starter.join(PATIENCE)
        wait_until(server, lambda f: f["abide_store_up"].value() == 1, 60)
        self.assertIn(statuses, ([201], [503]))


def documented():
    """The families docs/metrics.md lists: name -> (type, labels)."""
    with open(os.path.join(SOURCE, "docs", "metrics.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]*)\|", file.read(), re.M)
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}


class DocumentationTest(ServerTest):
    def test_every_family_is_documented_with_its_labels(self):
        self.server.deploy("one", "return await Task.run('t')")
        run = self.server.post("/v1/runs", {"workflow": "one"}).json["id"]
        self.server.complete(self.server.claim(names=["t"])[0], 1)
        self.server.wait_for(run, "completed")
        self.server.post("/v1/tasks", {"name": "t"})
        self.server.post("/v1/tasks", {"name": "nobody-does-this"})
        families = wait_until(self.server, lambda f: f["abide_task_unserved_seconds"].label_names())
        listed = documented()
        self.assertEqual(sorted(families), sorted(listed))
        for name, family in families.items():
            self.assertEqual((family.type, family.label_names()), listed[name], name)

    def test_the_dashboard_asks_for_what_there_is(self):
        path = os.path.join(SOURCE, "packaging", "grafana", "abide.json")
        with open(path, encoding="utf-8") as file:
            board = json.load(file)
        listed = documented()
        names = {}
        for name, (kind, labels) in listed.items():
            for suffix in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
                names[name + suffix] = labels | ({"le"} if suffix == "_bucket" else set())
        panels = [panel for panel in board["panels"] if panel["type"] != "row"]
        self.assertGreater(len(panels), 20)
        self.assertEqual(len({panel["id"] for panel in board["panels"]}), len(board["panels"]))
        asked = set()
        for panel in panels:
            self.assertTrue(panel["targets"], panel["title"])
            for target in panel["targets"]:
                asked |= self.check_expression(target["expr"], target["legendFormat"], names)
        families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in asked}
        missing = set(listed) - families - {"process_virtual_memory_bytes", "process_threads"}
        self.assertEqual(missing, set())  # everything worth a look is on it

    def check_expression(self, text, legend, names):
        self.assertEqual(text.count("("), text.count(")"), text)
        used = set(re.findall(r"\b(?:abide|process)_\w+", text))
        self.assertTrue(used and used <= set(names), text)
        known = set.union(*(names[name] for name in used)) | {"instance"}
        labels = re.findall(r"(\w+)=~?\"", text)
        for group in re.findall(r"by \(([^)]*)\)", text):
            labels += group.split(", ")
        labels += re.findall(r"{{(\w+)}}", legend)
        self.assertTrue(set(labels) <= known, text + " " + legend)
        return used


if __name__ == "__main__":
    tap.main()
