"""The whole API through the libraries: every operation of /openapi.json is called by both clients.

test_every_operation_has_a_method makes calls through a recorder and then looks, operation by operation,
which of them it has seen, with which query parameters, headers and members of the body. A route without
a call below fails it, and so does a parameter that no call gives, and a method that nobody calls. For a
new route: a method in each library, and a line in the function of its group below.
"""
import json
import re
import time
import urllib.parse

import openapi
from cases import PATIENCE, Proxy

# Parameters that the libraries choose themselves.
OWN = {
    ("streamEvents", "after"): "Last-Event-ID says it",
    ("streamChanges", "after"): "Last-Event-ID says it",
    ("streamHandlerEvents", "sse"): "it is always server-sent events",
    ("streamHandlerEvents", "Last-Event-ID"): "sent when a broken stream goes on; tested with cut connections",
    ("runWorkflow", "context"): "must be empty",
    ("runWorkflowNowait", "context"): "must be empty",
}

STEPS = """
export const config = { keepSnapshots: 5 }
await Task.run("one"); await Task.run("two")
return await Signal.next("end")
"""
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Request:
    def __init__(self, head, body):
        line, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = line.split(" ")
        self.headers = {name.lower(): value.strip() for name, value in
                        (item.split(":", 1) for item in lines)}
        self.query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        self.body = body

    def fields(self):
        """Names of the members of a body that is an object."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return set()
        return set(value) if isinstance(value, dict) else set()


class Recorder(Proxy):
    """A proxy that keeps every request that went through it."""

    def __init__(self, port):
        self.recorded = []
        self.pending = {}  # what has come of a request, by connection
        super().__init__(port)

    def note(self, connection, data):
        text = self.pending.pop(connection, b"") + data
        while b"\r\n\r\n" in text:
            head, rest = text.split(b"\r\n\r\n", 1)
            length = re.search(rb"(?im)^content-length: *(\d+)", head)
            length = int(length.group(1)) if length else 0
            if len(rest) < length:
                break
            self.recorded.append(Request(head, rest[:length]))
            text = rest[length:]
        self.pending[connection] = text


class Refused(Exception):
    """A call that ended with an exception of the library."""

    def __init__(self, event):
        super().__init__("%(kind)s: %(message)s" % event)
        self.kind, self.message = event["kind"], event["message"]
        self.status, self.code, self.detail = event["status"], event["code"], event["detail"]


class Caller:
    """caller("tasks.show", id) makes a call with the library; names and options are in snake_case."""

    def __init__(self, probe):
        self.probe = probe
        self.methods = set(probe.wait_for("methods")["names"])
        self.called = set()

    def begin(self, call, *args, **options):
        self.called.add(call)
        self.probe.process.stdin.write(json.dumps({"call": call, "args": args, "options": options}) + "\n")
        self.probe.process.stdin.flush()

    def end(self):
        event = self.probe.next_event(("answer", "error"))
        if event["event"] == "error":
            raise Refused(event)
        return event["answer"]

    def __call__(self, call, *args, **options):
        self.begin(call, *args, **options)
        return self.end()


class ApiTest:
    """Mixed into a TestCase together with SdkTest."""

    def caller(self):
        self.recorder = Recorder(self.server.port)
        self.addCleanup(self.recorder.close)
        return Caller(self.probe("calls", url=self.recorder.url))

    def refused(self, call, *arguments, **options):
        with self.assertRaises(Refused) as caught:
            call(*arguments, **options)
        return caught.exception

    # ---- every operation ----

    def test_every_operation_has_a_method(self):
        call = self.caller()
        for group in (self.use_sources, self.use_runs, self.use_steps, self.use_turns, self.use_signals, self.use_topics,
                      self.use_dead_letters, self.use_tasks, self.use_schedules, self.use_queues, self.use_tokens,
                      self.use_server, self.use_handlers):
            group(call)
        call("close")
        made_of_others = {"handle", "wait"}
        self.assertEqual(call.methods - made_of_others, call.called)  # nothing is left untested
        document = openapi.Document(self.server.get("/openapi.json").json)
        seen = {operation.id: set() for operation in document.operations}
        used = set()
        for request in self.recorder.recorded:
            operation = document.find(request.method, request.path)
            used.add(operation.id)
            seen[operation.id] |= set(request.query) | request.fields() | set(request.headers)
        self.assertEqual(set(seen) - used, set(), "operations that no method calls")
        missing = {(operation.id, name) for operation in document.operations
                   for name in parameters(operation) if name.lower() not in
                   {item.lower() for item in seen[operation.id]}}
        self.assertEqual(missing - set(OWN), set(), "parameters that no method gives")
        self.assertEqual(set(OWN) - missing, set(), "parameters that are given after all")

    def use_sources(self, call):
        first = call("deploy", "echo", "return Inputs")
        call("deploy", "echo", "return [Inputs]")
        call("deploy", "waiter", "State.set('stage', 'here'); return await Signal.next('go')")
        call("deploy", "steps", STEPS, file="flows/steps.flow")
        self.assertEqual(call("workflows.show", "steps")["file"], "steps.flow")  # the last part is kept
        finding = call("check", "const x = ;", file="bad.flow")["findings"][0]
        self.assertEqual((finding["code"], finding["file"]), ("FLOW_SYNTAX", "bad.flow"))
        self.assertEqual(len(call("workflows.list", name="echo", page_size=1)), 2)
        self.assertEqual(call("workflows.show", "echo", version=first["version"])["source"], "return Inputs")

    def use_runs(self, call):
        run = call("start", "waiter", {"n": 1}, id="r1", tags=["t"], priority=5, queue="q", timeout="1h", ttl=60,
                   leftover_signals="topic", leftover_topic="left", wait="1ms", traceparent=TRACE, tracestate="a=b")
        self.assertEqual((run["id"], run["priority"], run["tags"]), ("r1", 5, ["t"]))
        call("start", "echo", 1, key="k1", delay="1h")
        later = call("start", "echo", 1, key="k2", start_at="2099-01-01T00:00:00Z")
        self.assertEqual(call("start", "echo", 1, key="k2", start_at="2099-01-01T00:00:00Z")["id"], later["id"])
        self.assertEqual(call("run", "echo", 7, tags=["done"], result_timeout="60s"), [7])
        done = call("list", tag="done")[0]["id"]
        self.assertEqual(call("result", done, timeout="60s"), [7])
        self.assertEqual(call("stream", done, after=0)[-1]["kind"], "finished")
        self.server.wait_for("r1", "suspended")
        self.assertEqual(call("show", "r1")["state"], {"stage": "here"})
        self.assertEqual([item["id"] for item in call("list", status=["suspended", "paused"], workflow="waiter",
                                                      tag="t", state="stage=here", waiting_on="go",
                                                      where="1 + 1 === 2",
                                                      created_after="2020-01-01T00:00:00Z",
                                                      created_before="2099-01-01T00:00:00Z")], ["r1"])
        self.assertEqual([item["id"] for item in call("list", q="status:suspended state.stage=here")], ["r1"])
        self.assertEqual(call("list", parent="nobody", idle_before="2020-01-01T00:00:00Z"), [])
        self.assertEqual(len(call("list", page_size=1)), 4)
        self.assertGreater(len(call("log", "r1", after=1, page_size=1)), 1)
        self.assertEqual(call("snapshot", "r1")["frames"][0]["line"], 1)
        self.assertEqual(self.refused(call, "snapshot", "r1", depth=1, path="x").code, "VARIABLE_NOT_FOUND")
        trial = call("try_run", "r1", signals=[{"name": "go", "payload": 1}], tasks=[{"name": "x", "result": 1}],
                     events=[{"topic": "t"}], time="1s")
        self.assertEqual((trial["status"], trial["unused"]), ("completed", ["task x", "event t"]))
        trial = call("try_run", "r1", children=[{"name": "c", "result": 1}], version="current")
        self.assertEqual((trial["status"], trial["unused"], trial["turn"]), ("suspended", ["child c"], None))
        self.assertEqual(self.refused(call, "try_run", "r1", turn=99).code, "TURN_NOT_KEPT")
        self.assertEqual(self.refused(call, "try_run", "r1", source="return 1 +").code, "FLOW_SYNTAX")
        self.assertEqual((call("copy", "r1")["run_id"], call("copy", "r1")["turn"]), ("r1", None))
        self.assertEqual(call("copy", "r1", secrets=True)["run_id"], "r1")
        self.assertEqual(self.refused(call, "copy", "r1", turn=99).code, "TURN_NOT_KEPT")
        self.assertTrue(call("release", "r1"))
        self.assertTrue(call("load", "r1"))
        self.assertTrue(call("pause", "r1"))
        self.assertFalse(call("pause", "r1"))
        self.assertTrue(call("resume", "r1"))
        many = call("change_many", "pause", ids=["r1", "nobody"])
        self.assertEqual([item["status"] for item in many["results"]], ["changed", "refused"])
        many = call("change_many", "rewind", ids=["r1"], step="none", iteration=0, dry_run=True)
        self.assertEqual(many["changed"], 0)
        many = call("change_many", "cancel", q="id:r1", dry_run=True, page_size=5, cursor="99999999", reason="x", grace="1s")
        self.assertEqual((many["dry_run"], many["changed"]), (True, 1))
        self.assertEqual(call("change_many", "resume", q="id:r1")["changed"], 1)
        self.assertTrue(call("cancel", later["id"], reason="not needed", grace="1s"))
        self.assertIsNone(call("remove", done))
        self.assertEqual(self.refused(call, "show", done).kind, "NotFound")

    def use_steps(self, call):
        run = call("start", "steps", None, id="s1")["id"]
        for name in ("one", "two"):
            task, = call("tasks.claim", "w", queues=["default"], names=[name], max=1, wait="60s", lease="60s")
            token = {"id": task["id"], "token": task["token"]}
            self.assertEqual(call("tasks.heartbeat", [{**token, "progress": 0.5}], lease="60s")[0]["status"],
                             "accepted")
            self.assertEqual(call("tasks.complete", [{**token, "result": name}])[0]["status"], "accepted")
        self.assertEqual([task["name"] for task in call("tasks.list", run=run, name="two")], ["two"])
        self.server.wait_for(run, "suspended", is_so=lambda run: run["waits"] and run["waits"][0]["on"] == "signal")
        self.assertGreater(len(call("steps", run, page_size=1)), 3)
        self.assertEqual({step["name"] for step in call("steps", run, name="two", iteration=0)}, {"two"})
        turns = call("turns", run, page_size=1)
        self.assertGreater(len(turns), 1)
        first, second = turns[0]["turn"], turns[1]["turn"]
        self.assertEqual(call("snapshot", run, turn=first)["frames"][0]["line"], turns[0]["line"])
        self.assertEqual(call("diff", run, first, second)["to"]["turn"], second)
        self.assertEqual(call("fork", run, step="two", iteration=0, id="forked")["id"], "forked")
        self.assertFalse(call("fork", run, step="two", version="current", dry_run=True)["changed"])
        self.assertEqual(self.refused(call, "retry", run, version="current", dry_run=True).code, "RUN_NOT_FAILED")
        self.assertGreater(call("rewind", run, "two", iteration=0)["dropped"], 0)
        self.assertEqual(self.refused(call, "retry", run, id="again").code, "RUN_NOT_FAILED")
        call("deploy", "moving", "const x = await Signal.when('go')\nreturn x")
        moving = call("start", "moving", None)["id"]
        self.server.wait_for(moving, "suspended")
        self.assertFalse(call("move", moving)["changed"])
        repaired = "const x = await Signal.when('go')\nreturn [x]"
        plan = call("plan", "moving", repaired, file="moving.flow")
        self.assertEqual((plan["moves"], plan["groups"][0]["example"]), (1, moving))
        self.assertEqual(call("workflows.places", "moving", version=plan["current"])["places"][0]["waiting"], 1)
        call("deploy", "moving", repaired)
        self.assertEqual(call("change_many", "move", q="id:" + moving, version="current", dry_run=True)["changed"], 1)
        none = call("change_many", "rewind", q="id:" + moving, step="no such step", iteration=0, dry_run=True)
        self.assertEqual(none["changed"], 0)
        self.assertFalse(call("move", moving, dry_run=True)["changed"])
        self.assertTrue(call("move", moving)["changed"])
        self.server.wait_for(moving, "suspended")
        self.assertEqual(self.refused(call, "move", moving, version="none").code, "WORKFLOW_NOT_FOUND")
        call("deploy", "setting", "let price = 40; await Signal.when('go')\nreturn price")
        setting = call("start", "setting", None)["id"]
        self.server.wait_for(setting, "suspended")
        values = [{"path": "price", "value": [41]}]
        self.assertFalse(call("set", setting, values, dry_run=True)["changed"])
        self.assertEqual(call("set", setting, values),
                         {"changed": True, "values": [{"path": "price", "old": "40", "new": "[41]"}]})
        call("deploy", "broken", "throw new Error('broken')")
        broken = call("start", "broken", None)["id"]
        self.server.wait_for(broken, "failed")
        self.assertEqual(call("retry", broken)["id"], broken + "~2")
        self.assertEqual(call("retry", broken, id="again")["id"], "again")

    def use_turns(self, call):
        code = [{"name": "code", "version": "1"}]
        self.assertEqual([each["name"] for each in call("code_turns.register", code)], ["code"])
        run = call("start", "code", 7)["id"]
        turn, = call("code_turns.claim", "coder", code, max=1, wait="60s", lease="60s")
        self.assertEqual((turn["run_id"], turn["input"], turn["journal"]), (run, 7, []))
        self.assertEqual(call("code_turns.heartbeat", [{"turn": turn["turn"]}], lease="60s")[0]["status"], "accepted")
        entry = {"kind": "step", "op": 1, "name": "one", "result": 1}
        verdict, = call("code_turns.commit", [{"turn": turn["turn"], "entries": [entry], "outcome": "running"}])
        self.assertTrue(verdict["is_held"])
        self.assertEqual([each["name"] for each in call("code_turns.journal", turn["turn"])["journal"]], ["one"])
        claim = {"worker": "coder", "workflows": code, "max": 3, "lease": "60s"}
        answer = call("code_turns.commit", [{"turn": turn["turn"], "outcome": "completed", "result": 8}], claim=claim)
        self.assertEqual((answer["turns"][0]["run_status"], answer["claimed"]), ("completed", []))
        self.assertEqual(self.refused(call, "code_turns.journal", turn["turn"]).code, "TURN_FENCED")

    def use_signals(self, call):
        for number in ("1", "2"):
            self.assertFalse(call("signal", "r1", "other", {"n": number}, id=number, traceparent=TRACE)["duplicate"])
        waiting = call("signals", "r1", page_size=1)
        self.assertEqual([item["payload"]["n"] for item in waiting], ["1", "2"])
        self.assertEqual(call("remove_signals", "r1", id=waiting[0]["id"]), 1)
        self.assertEqual(call("remove_signals", "r1", name="other"), 1)

    def use_topics(self, call):
        policy = call("topics.set", "news", consume="all", visible="all", expire="1h", cap=3)
        self.assertEqual((policy["consume"], policy["cap"]), ("all", 3))
        self.assertEqual(call("topics.change", "news", expire="2h")["cap"], 3)
        call("topics.change", "news", consume="all", visible="all", cap=3)
        call("topics.set", "small", cap=1)
        for number in ("1", "2", "3"):
            self.assertTrue(call("emit", "news", int(number), id=number, traceparent=TRACE)["pending"])
        self.assertEqual(call("topics.show", "news")["pending"], 3)
        self.assertGreaterEqual({item["name"] for item in call("topics.list", page_size=1)}, {"news", "small"})
        events = call("topics.events", "news", page_size=1)
        self.assertEqual([item["payload"] for item in events], [1, 2, 3])
        self.assertTrue(call("topics.remove_event", "news", events[0]["id"]))
        self.assertEqual(call("topics.remove_events", "news"), 2)

    def use_dead_letters(self, call):
        call("deploy", "loud", "for (let i = 0; i < 4; i++) Event.emit('small', i)")
        call("run", "loud", None)
        letters = call("dead_letters.list", page_size=1)
        self.assertEqual([item["topic"] for item in letters], ["small"] * 3)
        call("topics.remove_events", "small")
        self.assertEqual(call("dead_letters.replay", letters[0]["id"]), {"resumed": 0})
        self.assertIsNone(call("dead_letters.remove", letters[1]["id"]))

    def use_tasks(self, call):
        task = call("tasks.create", "count", {"a": 1}, id="t1", queue="tq", priority=1, delay=0, attempts=1,
                    retry_delay="1s", retry_factor=1.5, retry_max_delay="1m", timeout="1h", schedule_timeout="1h",
                    heartbeat_timeout="1h", concurrency_key="c")
        self.assertEqual((task["id"], task["input"], task["concurrency_key"]), ("t1", {"a": 1}, "c"))
        call("tasks.create", "count", None, queue="tq")
        self.assertEqual(len(call("tasks.list", status=["queued"], queue="tq", page_size=1)), 2)
        claimed, = call("tasks.claim", "w", queues=["tq"], max=1)
        call("tasks.complete", [{"id": "t1", "token": claimed["token"], "error": {"message": "no"}}])
        self.assertEqual(call("tasks.show", "t1")["status"], "failed")
        again = call("tasks.retry", "t1")
        self.assertEqual((again["status"], again["changed"]), ("queued", True))
        other, = call("tasks.claim", "w", queues=["tq"], max=1)
        answer = call("tasks.complete_and_claim", [{"id": other["id"], "token": other["token"], "result": 1}], "w",
                      queues=["tq"], lease="10s")
        self.assertEqual([each["status"] for each in answer["results"]], ["accepted"])
        self.assertEqual([each["name"] for each in answer["tasks"]], ["count"])

    def use_schedules(self, call):
        daily = call("schedules.set", "daily", "echo", {"n": 1}, cron="0 0 * * *", timezone="UTC", jitter="1s",
                     overlap="queue", catch_up="1h", priority=1, timeout="1h", ttl="1h", tags=["s"], paused=True)
        self.assertEqual((daily["paused"], daily["overlap"], daily["input"]), (True, "queue", {"n": 1}))
        call("schedules.set", "hourly", "echo", None, every="1h")
        call("schedules.set", "once", "echo", None, at="2099-01-01T00:00:00Z")
        self.assertEqual(len(call("schedules.list", page_size=1)), 3)
        self.assertTrue(call("schedules.resume", "daily"))
        self.assertTrue(call("schedules.pause", "daily"))
        self.assertTrue(call("schedules.show", "daily")["paused"])
        self.assertEqual(call("schedules.trigger", "daily")["workflow"], "echo")
        self.assertEqual(call("schedules.backfill", "daily", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
                         {"started": 2, "existing": 0})
        self.assertIsNone(call("schedules.remove", "once"))

    def use_queues(self, call):
        limits = call("queues.set", "slow", max_running=2, max_per_key=3, rate_count=4, rate_period="1m", paused=True)
        self.assertEqual((limits["max_running"], limits["rate_count"], limits["paused"]), (2, 4, True))
        changed = call("queues.change", "slow", max_running=5)
        self.assertEqual((changed["max_running"], changed["max_per_key"], changed["rate_count"]), (5, 3, 4))
        call("queues.change", "slow", max_per_key=3, rate_count=4, rate_period="1m", paused=True)
        self.assertGreaterEqual(len(call("queues.list", page_size=1)), 2)
        self.assertTrue(call("queues.resume", "slow"))
        self.assertTrue(call("queues.pause", "slow"))
        self.assertTrue(call("queues.show", "slow")["paused"])
        self.assertTrue(call("queues.reset", "slow"))

    def use_tokens(self, call):
        token = call("tokens.create", "reader", ["read", "client"], expires="1h")
        self.assertEqual((token["scopes"], bool(token["token"])), (["read", "client"], True))
        call("tokens.create", "other", ["worker"])
        self.assertEqual(len(call("tokens.list", page_size=1)), 2)
        self.assertIsNone(call("tokens.remove", token["id"]))

    def use_server(self, call):
        for name in ("live", "ready", "health"):
            self.assertTrue(call("server." + name)["status"])
        self.assertEqual(call("server.version"), call("server.openapi")["info"]["version"])
        self.assertGreater(call("server.stats")["started_total"], 0)
        self.assertTrue(call("server.nodes")[0]["alive"])
        workers = call("server.workers")
        self.assertEqual({item["id"] for item in workers["items"]}, {"w"})  # who claimed in use_steps and use_tasks
        self.assertIn("http", workers["functions"][0]["names"])
        self.assertIsInstance(workers["unserved"], list)
        self.assertEqual(call("server.access")["scopes"], ["read", "client", "worker", "admin"])
        listen, = [item for item in call("server.settings") if item["name"] == "listen"]
        self.assertEqual(listen["source"], "flag")
        rates = call("server.rates", since="2h", step="2m")
        self.assertEqual((rates["step_ms"], len(rates["series"]["started"])), (120000, 60))
        self.assertGreater(sum(filter(None, rates["series"]["started"])), 0)
        self.assertIn("groups", call("server.attention"))
        self.assertFalse(call("server.time")["is_virtual"])
        self.assertEqual(self.refused(call, "server.advance", by="1h", to="2099-01-01T00:00:00Z", wait="1s").code, "BAD_FIELD")  # by and to
        self.assertEqual(self.refused(call, "server.advance", by="1h").code, "CLOCK_REAL")
        self.assertEqual(set(call("changes", kind=["runs", "tasks"], run="r1", after=1)[0]), {"node", "version"})
        read = call("server.filter", "status:failed work", 18)
        self.assertEqual((read["ok"], read["completions"][0]["text"]), (True, "workflow:"))
        self.assertIn("abide_", call("server.metrics"))
        self.assertIn("<html", call("server.page"))

    def use_handlers(self, call):
        call("deploy", "failing", "throw new Error('not today')")
        started = call("handlers.start", "waiter", {"a": 1}, kwargs={"b": 2}, handler_id="h1")
        self.assertEqual((started["handler_id"], started["status"]), ("h1", "running"))
        done = call("handlers.run", "echo", {"a": 1}, kwargs={"b": 2}, handler_id="h2", timeout="60s")
        self.assertEqual((done["status"], done["result"]["value"]), ("completed", {"result": [{"a": 1, "b": 2}]}))
        self.assertEqual(call("handlers.run", "failing")["status"], "failed")
        self.assertEqual(call("handlers.result", "h2")["result"], [{"a": 1, "b": 2}])
        self.assertEqual([item["handler_id"] for item in call(
            "handlers.list", handler_id=["h1", "h2"], status="running", workflow_name=["waiter"], page_size=1)], ["h1"])
        self.assertEqual(call("handlers.list", idle_before="2020-01-01T00:00:00Z"), [])
        self.assertGreater(len(call("handlers.list", page_size=1)), 2)
        self.server.wait_for("h1", "suspended")
        self.assertEqual(call("handlers.release", "h1"), {"status": "released"})
        self.assertEqual(call("handlers.send", "h1", {"type": "go", "value": {"n": 1}}, step="any"), {"status": "sent"})
        last = call("handlers.stream", "h1", after=-1, include_internal=True, include_qualified_name=False)[-1]
        self.assertEqual((last["type"], last["value"]), ("StopEvent", {"result": {"n": 1}}))
        self.assertEqual(call("handlers.show", "h1")["status"], "completed")
        self.assertEqual(call("handlers.cancel", "h1", purge=True), {"status": "deleted"})
        self.assertIn("echo", call("handlers.workflows"))
        self.assertEqual(call("handlers.health"), {"status": "healthy"})
        self.assertEqual(set(call("handlers.schema", "echo")), {"start", "stop"})
        self.assertEqual(call("handlers.event_schemas", "waiter")[0]["title"], "go")
        self.assertEqual(call("handlers.graph", "waiter")["name"], "waiter")

    # ---- what is refused ----

    def test_refusals_are_exceptions_with_a_class_a_status_a_code_and_a_detail(self):
        call = self.caller()
        call("deploy", "endless", "await Signal.next('never')")
        call("start", "endless", None, id="r1")
        cases = (("show", ["nobody"], "NotFound", 404, "RUN_NOT_FOUND"),
                 ("remove", ["r1"], "Conflict", 409, "RUN_NOT_TERMINAL"),
                 ("start", ["endless\x01"], "InvalidRequest", 400, "BAD_NAME"),
                 ("deploy", ["bad", "const x = ;"], "InvalidRequest", 422, "FLOW_SYNTAX"),
                 ("handlers.show", ["nobody"], "NotFound", 404, "HTTP_404"))
        for name, arguments, kind, status, code in cases:
            error = self.refused(call, name, *arguments)
            self.assertEqual((error.kind, error.status, error.code), (kind, status, code), error.message)
            self.assertTrue(error.detail and error.detail in error.message, error.message)

    def test_what_cannot_be_right_is_refused_by_name_and_not_sent(self):
        call = self.caller()
        option = self.option_name
        cases = (("start", ["w", None], {"tagz": ["x"]}, "tagz"),
                 ("start", ["w", None], {"tags": "demo"}, "tags"),
                 ("start", ["w", None], {"start_at": 17}, option("start_at")),
                 ("start", ["w", None], {"priority": "high"}, "priority"),
                 ("start", ["w", None], {"leftover_signals": "keep"}, option("leftover_signals")),
                 ("result", ["r"], {"timeout": "soon"}, "timeout"),
                 ("cancel", ["r"], {"grace": -1}, "grace"),
                 ("list", [], {"creatd_after": "2020-01-01T00:00:00Z"}, option("creatd_after")),
                 ("list", [], {"page_size": 1.5}, option("page_size")),
                 ("show", [""], {}, "/v1/runs/"),
                 ("tasks.create", ["t", None], {"retry_delay": "1 second"}, option("retry_delay")),
                 ("tasks.create", ["", None], {}, "name"),
                 ("tokens.create", ["t", "read"], {}, "scopes"),
                 ("topics.set", ["t"], {"consume": "two"}, "consume"),
                 ("schedules.set", ["s", "w", None], {}, "cron"),
                 ("schedules.set", ["s", "w", None], {"cron": "0 0 * * *", "every": "1h"}, "every"),
                 ("schedules.set", ["s", "w", None], {"every": "1h", "paused": "yes"}, "paused"),
                 ("queues.set", ["q"], {"rate_count": 1}, option("rate_period")))
        for name, arguments, options, word in cases:
            error = self.refused(call, name, *arguments, **options)
            self.assertIn(error.kind, ("TypeError", "ValueError"), (name, options, error.message))
            self.assertIn(word, error.message, (name, options))
        self.assertEqual(self.recorder.recorded, [])

    def test_every_duration_of_the_server_is_one_of_the_library(self):
        call = self.caller()
        call("deploy", "echo", "return Inputs")
        for text in (0, 0.5, 90, "90", "1.5", "500ms", "2s", "1.5h", "1h30m", "2w3d", "1m500ms", "PT15M", "P1DT2H",
                     "P1W", "PT0.5S"):
            self.assertTrue(call("start", "echo", None, timeout="1h", ttl=text)["id"], text)
        for text in ("", "5x", "30m1h", "P", "PT", "-1s", "1h 30m"):
            self.assertIn("ttl", self.refused(call, "start", "echo", None, ttl=text).message)

    # ---- lost connections ----

    def test_what_might_happen_twice_is_not_sent_twice(self):
        call = self.caller()
        call("deploy", "echo", "return Inputs")
        call("schedules.set", "daily", "echo", None, cron="0 0 * * *")
        for name, arguments, mark in (("schedules.trigger", ["daily"], b"/trigger"),
                                      ("tokens.create", ["t", ["read"]], b"POST /v1/tokens"),
                                      ("topics.remove_events", ["t"], b"DELETE /v1/topics/t/events")):
            self.recorder.drop_answers_of = mark
            before = (self.recorder.dropped, len(self.recorder.recorded))
            self.assertEqual(self.refused(call, name, *arguments).kind, "ServerUnreachable")
            self.assertEqual((self.recorder.dropped, len(self.recorder.recorded)), (before[0] + 1, before[1] + 1))

    def test_what_is_harmless_twice_is_sent_again(self):
        call = self.caller()
        call("deploy", "echo", "return Inputs")
        call("schedules.set", "daily", "echo", None, cron="0 0 * * *")
        for name, arguments, mark in (("emit", ["news", 1], b"/v1/events/news"),
                                      ("tasks.create", ["count", 1], b"POST /v1/tasks"),
                                      ("schedules.remove", ["daily"], b"DELETE /v1/schedules/daily")):
            self.recorder.drop_answers_of = mark
            dropped = self.recorder.dropped
            call(name, *arguments)
            self.assertEqual(self.recorder.dropped, dropped + 1)
        self.assertEqual(call("topics.show", "news")["pending"], 1)
        self.assertEqual(len(call("tasks.list")), 1)

    def test_what_was_never_sent_is_sent_when_the_server_is_back(self):
        call = self.caller()
        call("deploy", "echo", "return Inputs")
        call("schedules.set", "daily", "echo", None, cron="0 0 * * *")
        direct = Caller(self.probe("calls"))
        self.server.kill()
        direct.begin("schedules.trigger", "daily")
        self.server.start()
        self.assertEqual(direct.end()["workflow"], "echo")
        self.assertEqual(len(call("list")), 1)

    def test_a_handler_s_stream_goes_on_where_its_connection_broke(self):
        call = self.caller()
        call("deploy", "talker", "for (let i = 0; i < 4; i++) { await Signal.next('go'); Stream.write({ i }, 'Step') }")
        call("handlers.start", "talker", None, handler_id="h1")
        call.begin("handlers.stream", "h1")
        for number in range(4):
            self.wait_for_readers(number + 1)
            self.recorder.cut()
            self.server.post("/v1/runs/h1/signals/go", number)
        self.assertEqual([item["type"] for item in call.end()], ["Step"] * 4 + ["StopEvent"])

    def wait_for_readers(self, count):
        deadline = time.monotonic() + PATIENCE
        while sum(request.path.startswith("/events/") for request in self.recorder.recorded) < count:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)


def parameters(operation):
    """Names in the query, in headers and in the body of an operation."""
    names = [item["name"] for item in operation.raw["parameters"] if item["in"] != "path"]
    for content in operation.raw.get("requestBody", {}).get("content", {}).values():
        names += content["schema"].get("properties", {})
    return names
