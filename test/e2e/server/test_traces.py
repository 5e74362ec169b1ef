"""Traces over OTLP/HTTP, against a small collector."""
import http.server
import json
import os
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import prometheus  # noqa: E402
import tap  # noqa: E402
from server import PATIENCE, Server, wait_until  # noqa: E402

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
TRACEPARENT = "00-%s-%s-01" % (TRACE, PARENT)
NOT_SAMPLED = TRACEPARENT[:-2] + "00"

ORDER = """
const receipt = await Task.run("charge", {}, { retry: { attempts: 2, delay: "1ms" } })
const child = await Workflow.run("inner", 1)
return await Signal.when("ship")
"""


class Collector:
    """Takes OTLP/HTTP posts; answers what it is told to."""

    def __init__(self, statuses=()):
        self.spans = []
        self.requests = []
        self.statuses = list(statuses)  # of the first answers; then 200
        self.lock = threading.Lock()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.take(self.path, dict(self.headers), body)
                with collector.lock:
                    status = collector.statuses.pop(0) if collector.statuses else 200
                    if status == 200:
                        collector.spans += read_spans(json.loads(body))
                self.send_response(status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.url = "http://127.0.0.1:%d" % self.server.server_port

    def take(self, path, headers, body):
        with self.lock:
            self.requests.append((path, headers, body))

    def wait_for(self, is_enough, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with self.lock:
                spans = list(self.spans)
            if is_enough(spans):
                return spans
            time.sleep(0.02)
        raise AssertionError("the spans did not come: %s" % [span["name"] for span in spans])

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def read_spans(request):
    """Checks the shape of an ExportTraceServiceRequest; its spans with attributes as a dict."""
    spans = []
    for resource in request["resourceSpans"]:
        names = {item["key"]: item["value"]["stringValue"]
                 for item in resource["resource"]["attributes"]}
        for scope in resource["scopeSpans"]:
            assert scope["scope"]["name"] == "abide"
            for span in scope["spans"]:
                assert len(span["traceId"]) == 32 and len(span["spanId"]) == 16, span
                assert int(span["traceId"], 16) and int(span["spanId"], 16), span
                assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), span
                assert span["kind"] in (1, 5), span
                attributes = {item["key"]: next(iter(item["value"].values()))
                              for item in span["attributes"]}
                spans.append({**span, "attributes": attributes, "service": names["service.name"]})
    return spans


class TraceServer(Server):
    def __init__(self, url, arguments=(), **variables):
        # The environment of this process is the server's.
        self.variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_BSP_SCHEDULE_DELAY": "50",
                          **variables}
        super().__init__(*arguments)

    def start(self):
        before = {name: os.environ.get(name) for name in self.variables}
        os.environ.update(self.variables)
        try:
            super().start()
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def metrics(self):
        return prometheus.parse(self.get("/metrics").body)


class TracesTest(unittest.TestCase):
    def begin(self, statuses=(), **variables):
        self.collector = Collector(statuses)
        self.addCleanup(self.collector.close)
        self.server = TraceServer(self.collector.url, **variables)
        self.addCleanup(self.server.close)
        self.server.deploy("order", ORDER)
        self.server.deploy("inner", "return Inputs + 1")
        self.server.deploy("echo", "return 1")
        return self.server

    def run_order(self, headers=None):
        """From start to end, with a retry in between; its id and the traceparents of its task."""
        server = self.server
        run = server.call("POST", "/v1/runs", {"workflow": "order", "tags": ["mine"]},
                          headers=headers or {}).json["id"]
        first = server.claim(names=["charge"])[0]
        server.post("/v1/tasks/complete", {"results": [
            {"id": first["id"], "token": first["token"], "error": {"message": "again"}}]})
        second = server.claim(names=["charge"])[0]
        server.complete(second, 1)
        server.post("/v1/runs/%s/signals/ship" % run, raw="1")
        server.wait_for(run, "completed")
        return run, [first["traceparent"], second["traceparent"]]

    def spans_of_order(self, run):
        """All of them: two runs, two attempts, the turns."""
        def has_all(spans):
            names = [span["name"] for span in spans]
            return ("run order" in names and "run inner" in names and
                    names.count("task charge") == 2 and names.count("turn order") >= 3)
        return self.collector.wait_for(has_all)

    def test_a_run_its_turns_its_tasks_and_its_child_are_one_trace(self):
        self.begin()
        run, traceparents = self.run_order()
        spans = self.spans_of_order(run)
        by_name = {}
        for span in spans:
            by_name.setdefault(span["name"], []).append(span)
        root = by_name["run order"][0]
        self.assertNotIn("parentSpanId", root)
        self.assertEqual({span["traceId"] for span in spans}, {root["traceId"]})
        for name in ("turn order", "task charge", "run inner"):
            for span in by_name[name]:
                self.assertEqual(span["parentSpanId"], root["spanId"], name)
        inner = by_name["run inner"][0]
        self.assertEqual(by_name["turn inner"][0]["parentSpanId"], inner["spanId"])
        ids = [span["spanId"] for span in spans]
        self.assertEqual(len(ids), len(set(ids)))
        # The turns lie within the run and do not overlap, however long it waited in between.
        turns = sorted((int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))
                       for span in by_name["turn order"])
        for (_, end), (begin, _) in zip(turns, turns[1:]):
            self.assertLessEqual(end, begin + 2 * 10**6)  # starts are known to the millisecond
        self.assertEqual(root["attributes"]["abide.run.id"], run)
        self.assertEqual(root["attributes"]["abide.run.state"], "completed")
        self.assertEqual(root["status"], {"code": 1})
        attempts = sorted(by_name["task charge"], key=lambda s: s["attributes"]["abide.task.attempt"])
        self.assertEqual([span["status"]["code"] for span in attempts], [2, 1])
        # A worker's own spans belong below its attempt.
        self.assertEqual(traceparents, ["00-%s-%s-01" % (root["traceId"], span["spanId"])
                                        for span in attempts])

    def turns_of(self, workflow, count):
        """The spans of its turns, when there are so many, in order; and all spans by id."""
        name = "turn " + workflow
        spans = self.collector.wait_for(
            lambda spans: [span["name"] for span in spans].count(name) >= count and
            "run " + workflow in [span["name"] for span in spans])
        turns = sorted((span for span in spans if span["name"] == name),
                       key=lambda span: int(span["attributes"]["abide.turn.seq"]))
        self.assertEqual(len(turns), count)
        return turns, {span["spanId"]: span for span in spans}

    def links(self, span, spans):
        """[(what, name of the span)] of its links; they lead to spans of the same trace."""
        answer = []
        for link in span.get("links", []):
            self.assertEqual(link["traceId"], span["traceId"])
            self.assertEqual([item["key"] for item in link["attributes"]], ["abide.link"])
            answer.append((link["attributes"][0]["value"]["stringValue"],
                           spans[link["spanId"]]["name"]))
        return answer

    def assert_chain(self, turns):
        """Each turn but the first is linked with the one before."""
        for before, turn in zip(turns, turns[1:]):
            self.assertEqual(turn["links"][0]["spanId"], before["spanId"])

    def test_turns_are_linked_across_suspensions_and_with_what_ended_them(self):
        server = self.begin()
        server.deploy("linked", """
            await Task.run("charge", null, { retry: { attempts: 2, delay: "1ms" } })
            await Promise.all([Task.run("left"), Task.run("right")])
            await Workflow.run("inner", 1)
            await Timer.delay("1ms")
            await Signal.next("go")
            return 1""")
        run = server.post("/v1/runs", {"workflow": "linked"}).json["id"]
        task = server.claim(names=["charge"])[0]
        server.post("/v1/tasks/complete", {"results": [
            {"id": task["id"], "token": task["token"], "error": {"message": "again"}}]})
        for name in ("charge", "left", "right"):
            server.complete(server.claim(names=[name])[0], 1)
        server.wait_for(run, "suspended", is_so=lambda run: "signal" in [
            wait["on"] for wait in run["waits"]])
        server.post("/v1/runs/%s/signals/go" % run, raw="1")
        server.wait_for(run, "completed")
        turns, spans = self.turns_of("linked", 6)
        self.assertNotIn("links", turns[0])
        self.assert_chain(turns)
        self.assertEqual([self.links(turn, spans)[1:] for turn in turns[1:]], [
            [("task", "task charge")], [("task", "task left"), ("task", "task right")],
            [("run", "run inner")], [], []])  # a timer and a signal have no spans
        self.assertEqual(spans[turns[1]["links"][1]["spanId"]]["attributes"]["abide.task.attempt"],
                         "2")

    def test_links_hold_across_release_and_restart(self):
        server = self.begin()
        server.deploy("sleepy", """
            for (let i = 0; i < 3; i++) await Signal.next("go")
            return 1""")
        run = server.post("/v1/runs", {"workflow": "sleepy"}).json["id"]
        for turn in range(3):
            server.wait_for(run, "suspended", is_so=lambda run: run["idle_since"])
            if turn == 1:
                self.assertEqual(server.post("/v1/runs/%s/release" % run).status, 200)
            if turn == 2:
                self.collector.wait_for(lambda spans: len(spans) == 3)
                server.kill()
                server.restart_on_its_port()
            server.post("/v1/runs/%s/signals/go" % run, raw="1")
        server.wait_for(run, "completed")
        turns, spans = self.turns_of("sleepy", 4)
        self.assert_chain(turns)
        self.assertEqual([self.links(turn, spans) for turn in turns[1:]],
                         3 * [[("turn", "turn sleepy")]])

    def test_a_run_that_continues_as_new_is_linked_and_one_that_is_set_back_is_not(self):
        server = self.begin()
        server.deploy("again", """
            if (Inputs === 0) Workflow.continueAs(1)
            await Task.run("t")
            await Signal.next("go")
            return 1""")
        run = server.post("/v1/runs", {"workflow": "again", "input": 0}).json["id"]
        server.complete(server.claim(names=["t"])[0], 1)
        server.wait_for(run, "suspended", is_so=lambda run: "signal" in [
            wait["on"] for wait in run["waits"]])
        self.assertEqual(server.post("/v1/runs/%s/rewind" % run, {"step": "t"}).status, 200)
        server.complete(server.claim(names=["t"])[0], 1)
        server.wait_for(run, "suspended", is_so=lambda run: "signal" in [
            wait["on"] for wait in run["waits"]])
        server.post("/v1/runs/%s/signals/go" % run, raw="1")
        server.wait_for(run, "completed")
        turns, spans = self.turns_of("again", 6)
        self.assertEqual([self.links(turn, spans) for turn in turns], [
            [], [("turn", "turn again")], [("turn", "turn again"), ("task", "task t")], [],
            [("turn", "turn again"), ("task", "task t")], [("turn", "turn again")]])

    def test_a_traceparent_is_taken_up_and_handed_on(self):
        self.begin()
        run, traceparents = self.run_order({"traceparent": TRACEPARENT})
        spans = self.spans_of_order(run)
        self.assertEqual({span["traceId"] for span in spans}, {TRACE})
        root = [span for span in spans if span["name"] == "run order"][0]
        self.assertEqual(root["parentSpanId"], PARENT)
        self.assertTrue(all(text.startswith("00-" + TRACE) for text in traceparents))
        shown = self.server.get("/v1/runs/" + run).json
        self.assertEqual((shown["traceparent"], shown["tags"]), (TRACEPARENT, ["mine"]))

    def test_a_trace_goes_on_after_a_restart(self):
        server = self.begin()
        run = server.post("/v1/runs", {"workflow": "order"}).json["id"]
        first = server.claim(names=["charge"])[0]
        turn = self.collector.wait_for(
            lambda spans: [span for span in spans if span["name"] == "turn order"])[-1]
        server.kill()
        server.restart_on_its_port()
        server.complete(first, 1)
        server.post("/v1/runs/%s/signals/ship" % run, raw="1")
        server.wait_for(run, "completed")
        spans = self.collector.wait_for(
            lambda spans: [span for span in spans if span["name"] == "run order"])
        root = [span for span in spans if span["name"] == "run order"][0]
        self.assertEqual((turn["traceId"], turn["parentSpanId"]), (root["traceId"], root["spanId"]))

    def test_what_is_not_sampled_is_not_sent_but_handed_on(self):
        self.begin()
        _, traceparents = self.run_order({"traceparent": NOT_SAMPLED})
        self.assertTrue(all(text.endswith("-00") for text in traceparents), traceparents)
        run = self.server.run("echo")["id"]  # one that is sampled comes after
        spans = self.collector.wait_for(
            lambda spans: [span for span in spans if span["attributes"].get("abide.run.id") == run
                           and span["name"] == "run echo"])
        self.assertEqual({span["name"] for span in spans}, {"run echo", "turn echo"})

    def test_requests_of_the_task_http_belong_to_its_attempt(self):
        self.begin(arguments=["--allow-private"])
        self.server.deploy("caller", "return (await Task.run('http', { method: 'POST', url: Inputs, "
                                     "json: { resourceSpans: [] } })).status")
        run = self.server.call("POST", "/v1/runs?wait=20s", {
            "workflow": "caller", "input": self.collector.url + "/called"},
            headers={"traceparent": TRACEPARENT}).json
        self.assertEqual(run["result"], 200)
        called = [headers for path, headers, _ in self.collector.requests if path == "/called"][0]
        span = self.collector.wait_for(lambda spans: [
            span for span in spans if span["name"] == "task http"])
        span = [each for each in span if each["name"] == "task http"][0]
        self.assertEqual(called["traceparent"], "00-%s-%s-01" % (TRACE, span["spanId"]))

    def test_failed_runs_and_lone_tasks(self):
        server = self.begin()
        server.deploy("bad", "throw new Error('no')")
        server.run("bad")
        server.post("/v1/tasks", {"name": "lone"})
        task = server.claim(names=["lone"])[0]
        server.complete(task, 1)
        spans = self.collector.wait_for(
            lambda spans: {"run bad", "task lone"} <= {span["name"] for span in spans})
        bad = [span for span in spans if span["name"] == "run bad"][0]
        self.assertEqual(bad["status"], {"code": 2})
        lone = [span for span in spans if span["name"] == "task lone"][0]
        self.assertNotIn("parentSpanId", lone)
        self.assertEqual(task["traceparent"], "00-%s-%s-01" % (lone["traceId"], lone["spanId"]))

    def test_headers_service_name_and_path(self):
        self.begin(OTEL_EXPORTER_OTLP_HEADERS="x-key=a%20b, authorization=Bearer x",
                   OTEL_SERVICE_NAME="orders")
        self.server.run("echo")
        spans = self.collector.wait_for(lambda spans: spans)
        self.assertEqual({span["service"] for span in spans}, {"orders"})
        path, headers, _ = self.collector.requests[0]
        self.assertEqual(path, "/v1/traces")
        self.assertEqual((headers["x-key"], headers["authorization"], headers["Content-Type"]),
                         ("a b", "Bearer x", "application/json"))

    def test_a_collector_that_is_busy_is_asked_again_and_spans_are_counted(self):
        self.begin(statuses=[503])
        self.server.run("echo")
        spans = self.collector.wait_for(lambda spans: len(spans) >= 2)
        wait_until(lambda: self.server.metrics()["abide_trace_spans_exported_total"].value()
                   >= len(spans))
        self.assertEqual(self.server.metrics()["abide_trace_spans_dropped_total"].value(), 0)

    def test_what_is_refused_is_dropped_and_counted(self):
        self.begin(statuses=[400] * 100)
        self.server.run("echo")
        wait_until(lambda: self.server.metrics()["abide_trace_spans_dropped_total"].value() >= 2)
        self.server.said("spans were dropped")

    def test_spans_that_are_left_are_sent_on_stopping(self):
        self.begin(OTEL_BSP_SCHEDULE_DELAY="600000")
        self.server.run("echo")
        self.assertEqual(self.collector.spans, [])
        self.assertEqual(self.server.stop(), 0)
        self.collector.wait_for(lambda spans: len(spans) == 2)


class DeafCollectorTest(unittest.TestCase):
    def test_the_engine_does_not_wait_for_a_collector_that_does_not_answer(self):
        listener = socket.create_server(("127.0.0.1", 0))  # takes connections, answers nothing
        self.addCleanup(listener.close)
        server = TraceServer("http://127.0.0.1:%d" % listener.getsockname()[1],
                             OTEL_EXPORTER_OTLP_TIMEOUT="1000")
        self.addCleanup(server.close)
        server.deploy("echo", "return Inputs")
        for i in range(200):
            self.assertEqual(server.run("echo", i)["result"], i)
        self.assertEqual(server.stop(), 0)

    def test_bad_settings_are_refused(self):
        for variables in ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"},
                          {"OTEL_EXPORTER_OTLP_HEADERS": "nonsense"},
                          {"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}):
            with self.assertRaisesRegex(RuntimeError, "OTLP"):
                TraceServer("http://127.0.0.1:1", **variables)

    def test_without_an_endpoint_nothing_is_traced_but_traceparents_are_handed_on(self):
        server = Server()
        self.addCleanup(server.close)
        server.deploy("one", "return await Task.run('t')")
        server.post("/v1/runs", {"workflow": "one"})
        self.assertIsNone(server.claim(names=["t"])[0]["traceparent"])
        server.call("POST", "/v1/runs", {"workflow": "one"}, headers={"traceparent": TRACEPARENT})
        self.assertTrue(server.claim(names=["t"])[0]["traceparent"].startswith("00-" + TRACE))
        server.call("POST", "/v1/runs", {"workflow": "one"}, headers={"traceparent": "nonsense"})
        self.assertIsNone(server.claim(names=["t"])[0]["traceparent"])

    def test_a_repeated_start_may_come_under_another_trace(self):
        server = Server()
        self.addCleanup(server.close)
        server.deploy("one", "return 1")
        start = lambda parent: server.call(
            "POST", "/v1/runs", {"workflow": "one", "tags": ["t"] * 1},
            headers={"Idempotency-Key": "k", "traceparent": parent})
        first = start(TRACEPARENT)
        again = start(TRACEPARENT.replace(PARENT, PARENT[::-1]))
        self.assertEqual((first.status, again.status), (201, 200), again.body)
        self.assertEqual(first.json["id"], again.json["id"])
        many = server.call("POST", "/v1/runs", {"workflow": "one", "tags": [
            "tag-%d" % i for i in range(16)]}, headers={"traceparent": TRACEPARENT})
        self.assertEqual((many.status, len(many.json["tags"])), (201, 16))


if __name__ == "__main__":
    tap.main()
