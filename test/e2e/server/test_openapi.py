"""/openapi.json: well-formed, and exactly what the server does.

Every answer any test gets is held against the document (server.py). Here every operation is called in every
way the document names: each status and each code must have been seen, and nothing else.
"""
import contextlib
import json
import os
import re
import sqlite3
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import openapi  # noqa: E402
import tap  # noqa: E402
from server import Answer, Server, ServerTest, build_plugin, example_plugin  # noqa: E402
from test_auth import TokenServer  # noqa: E402

PAYLOAD_MAX = 4 << 20
BODY_MAX = PAYLOAD_MAX + (64 << 10)

MAGIC = b"AFS"  # of the VM's part of a snapshot; its version follows

STEPS = """
export const config = { keepSnapshots: 1 }
await Task.run("one"); await Task.run("two"); await Task.run("three"); await Task.run("four")
return await Signal.when("end")
"""


def refs(node):
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        for item in node.values():
            yield from refs(item)
    elif isinstance(node, list):
        for item in node:
            yield from refs(item)


class StructureTest(ServerTest):
    def setUp(self):
        answer = self.server.get("/openapi.json")
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "application/json"))
        self.raw = answer.json
        self.document = openapi.Document(self.raw)

    def test_the_head(self):
        self.assertRegex(self.raw["openapi"], r"^3\.1\.\d+$")
        self.assertEqual(self.raw["info"]["version"], self.server.get("/version").json["version"])
        self.assertTrue(self.raw["info"]["title"])
        self.assertEqual(self.raw["info"]["license"]["identifier"], "Apache-2.0")
        self.assertEqual([server["url"] for server in self.raw["servers"]], ["/"])
        self.assertEqual(set(self.raw),
                         {"openapi", "info", "servers", "tags", "paths", "components"})
        used = {tag for operation in self.document.operations for tag in operation.raw["tags"]}
        self.assertEqual({tag["name"] for tag in self.raw["tags"] if tag["description"]}, used)

    def test_it_describes_itself(self):
        answer = self.raw["paths"]["/openapi.json"]["get"]["responses"]["200"]
        self.assertEqual(answer["content"], {"application/json": {"schema": {"type": "object"}}})

    def test_references_lead_somewhere(self):
        found = list(refs(self.raw))
        self.assertGreater(len(found), 50)
        for ref in found:
            self.document.resolve({"$ref": ref})
        used = {ref.rsplit("/", 1)[1] for ref in found if "/schemas/" in ref}
        self.assertEqual(used, set(self.raw["components"]["schemas"]))  # and none is left over

    def test_operations(self):
        ids = [operation.id for operation in self.document.operations]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreater(len(ids), 45)
        for operation in self.document.operations:
            raw = operation.raw
            self.assertTrue(operation.pattern.startswith("/"))
            self.assertTrue(raw["summary"] and raw["tags"])
            names = re.findall(r"\{(\w+)\}", operation.pattern)
            inside = [item for item in raw["parameters"] if item["in"] == "path"]
            self.assertEqual([item["name"] for item in inside], names)
            self.assertTrue(all(item["required"] for item in inside))
            keys = [(item["in"], item["name"]) for item in raw["parameters"]]
            self.assertEqual(len(keys), len(set(keys)))
            for parameter in raw["parameters"]:
                self.assertIn(parameter["in"], ("path", "query", "header"))
                self.assertIn("schema", parameter)
            self.check_responses(operation)
            for need in raw["security"]:
                for scheme, scopes in need.items():
                    self.assertIn(scheme, self.raw["components"]["securitySchemes"])
                    self.assertIn(scopes, (["read"], ["client"], ["worker"], ["admin"]))

    def check_responses(self, operation):
        responses = operation.raw["responses"]
        default = "Detail" if operation.is_handlers else "Problem"
        self.assertEqual(responses["default"], {"$ref": "#/components/responses/" + default})
        self.assertTrue(operation.answers())
        for status, answer in responses.items():
            if status == "default":
                continue
            self.assertRegex(status, r"^[2-5]\d\d$")
            self.assertTrue(answer["description"])
            if "x-codes" in answer:
                self.assertTrue(answer["x-codes"])
                self.assertEqual(list(answer["content"]), ["application/problem+json"])

    def test_schemas(self):
        for name, schema in self.raw["components"]["schemas"].items():
            self.assertEqual(schema["type"], "object", name)
            self.assertLessEqual(set(schema["required"]), set(schema["properties"]), name)
            self.assertFalse(schema["additionalProperties"])

    def test_codes_are_in_the_catalogue(self):
        path = os.path.join(os.environ["ABIDE_SOURCE_DIR"], "docs", "errors.md")
        with open(path, encoding="utf-8") as file:
            catalogue = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", file.read()))
        codes = {code for operation in self.document.operations for _, code in operation.codes()}
        self.assertEqual((codes | self.document.common) - catalogue, set())

    def test_every_route_is_there(self):
        """405 lists the methods of a path: those of the document and no others."""
        for pattern in self.raw["paths"]:
            path = re.sub(r"\{\w+\}", "x", pattern)
            methods = {operation.method for operation in self.document.operations
                       if operation.expression.match(path)}
            allowed = self.server.call("TRACE", path).headers["Allow"]
            self.assertEqual(set(allowed.split(", ")) - {"HEAD"}, methods, pattern)


class Probe:
    """Calls one operation with bodies and queries that the document says are wrong."""

    def __init__(self, server, operation):
        self.server = server
        self.operation = operation
        self.path = re.sub(r"\{\w+\}", "probe", operation.pattern)
        content = operation.raw.get("requestBody", {}).get("content", {})
        self.schema = content.get("application/json", {}).get("schema")
        self.is_text = "text/plain" in content

    def send(self, raw=None, query=""):
        self.server.call(self.operation.method, self.path + query, raw=raw)

    def example(self):
        """A body with all that is required and nothing wrong."""
        examples = {"string": "x", "integer": 1, "array": []}
        body = {}
        for name in self.schema.get("required", []):
            field = self.schema["properties"][name]
            body[name] = "2026-01-01T00:00:00Z" if field.get("format") else examples.get(field.get("type"))
        return body

    def queries(self):
        self.send(query="?%zz=1")
        self.send(query="?nonsense=1")
        for parameter in self.operation.raw["parameters"]:
            is_checked = parameter["schema"].get("format") or parameter["schema"]["type"] == "integer"
            if parameter["in"] == "query" and is_checked:
                body = json.dumps(self.example()) if self.schema else None
                self.send(body, "?%s=nonsense" % parameter["name"])
            if parameter["in"] == "query" and parameter["schema"]["type"] != "array":
                self.send(query="?{0}=1&{0}=1".format(parameter["name"]))

    def objects(self):
        for raw in (None, "{", "[1]", '{"nonsense":1}', '{"nonsense":' + "[" * 600 + "]" * 600 + "}"):
            self.send(raw)
        if self.schema["required"]:
            self.send("{}")
        for name, field in self.schema["properties"].items():
            kinds = field.get("type")
            if kinds is None:
                continue
            wrong = "nonsense"
            if kinds == "string" and not field.get("format"):
                wrong = 1
            self.send(json.dumps({**self.example(), name: wrong}))
            self.send(json.dumps({**self.example(), name: [1]}))

    def run(self):
        self.queries()
        if self.schema is None and not self.is_text:
            self.send("1")
            return
        self.send("x" * (BODY_MAX + 1))
        if self.schema and "properties" in self.schema:
            self.objects()
        elif self.schema is not None:
            for raw in ("{", "[" * 600 + "]" * 600, '"' + "x" * PAYLOAD_MAX + '"'):
                self.send(raw)


class ConformanceTest(unittest.TestCase):
    """One long walk through the API; the last step looks at what was seen."""

    def setUp(self):
        self.server = Server("--allow-exec")
        self.addCleanup(self.server.close)

    def test_every_status_and_code_of_every_operation_is_seen_and_no_other(self):
        server = self.server
        server.get("/livez")
        locked = threading.Thread(target=self.locked_store)
        locked.start()  # it takes as long as the engine tries again
        for step in (self.system, self.workflows, self.runs, self.run_views, self.changes,
                     self.rewinds, self.events, self.tasks, self.work, self.turns, self.queues,
                     self.schedules, self.tokens, self.handlers):
            step()
        self.damaged_snapshots()
        for operation in server.document.operations:
            Probe(server, operation).run()
        self.callers()
        self.stopping()
        locked.join()
        missing = []
        for operation in server.document.operations:
            wanted = {(operation.id, status, None) for status in operation.answers()}
            wanted |= {(operation.id, status, code) for status, code in operation.codes()}
            missing += sorted(wanted - server.seen, key=str)
        self.assertEqual(missing, [], "documented, but no call of this test brings it about")
        common = {code for _, _, code in server.seen if code in server.document.common}
        # test_rude.py brings these about, and test_redis.py the last one.
        elsewhere = {"SERVER_BUSY", "BAD_HEADER", "STORE_FULL"}
        self.assertEqual(server.document.common - common - elsewhere, set())

    # ---- what each operation answers when it is asked properly, and what only it refuses ----

    def system(self):
        for path in ("/livez", "/readyz", "/healthz", "/version", "/metrics", "/v1/stats",
                     "/v1/nodes", "/v1/workers", "/v1/filter", "/v1/attention", "/v1/rates", "/v1/settings",
                     "/v1/time", "/v1/access", "/"):
            self.server.get(path)
        self.server.post("/v1/time/advance", {"by": "1h"})
        with contextlib.closing(Server("--virtual-time", store="memory:")) as server:
            server.document, server.seen = self.server.document, self.server.seen
            server.post("/v1/time/advance", {"by": "1h"})
        self.server.get("/openapi.json")
        reader = self.server.connect()
        reader.request("GET", "/v1/changes")  # it has no end
        response = reader.getresponse()
        response.readline()
        self.server.check("GET", "/v1/changes", Answer(response.status, dict(response.getheaders()), ""))
        reader.close()
        self.server.call("GET", "/v1/changes", headers={"Last-Event-ID": "x"})
        self.server.get("/nowhere")
        self.server.call("DELETE", "/v1/runs")

    def workflows(self):
        put = lambda name, source: self.server.call("PUT", "/v1/workflows/" + name, raw=source)
        put("echo", "return Inputs")
        put("echo", "return Inputs")
        put("steps", STEPS)
        put("picky", "export const config = { input: { type: 'number' } }\nreturn Inputs")
        put("waiter", "return await Signal.when('go')")
        put("failing", "throw new Error('no')")
        put("echo", "return ;;;(")
        put("echo", "return nothingSuch")
        put("other", "workflow a(i) { return 1 }\nworkflow b(i) { return 2 }")
        put("a%01b", "return 1")
        put("large", "/" * ((1 << 20) + 1))
        for path in ("/v1/workflows", "/v1/workflows/echo", "/v1/workflows/nobody"):
            self.server.get(path)
        self.server.post("/v1/check", raw="return 1")
        self.server.post("/v1/check", raw="/" * ((1 << 20) + 1))

    def start(self, **fields):
        return self.server.post("/v1/runs", fields)

    def runs(self):
        run = self.start(workflow="echo", id="first").json
        self.start(workflow="echo", id="first")
        self.start(workflow="a\x01b")
        self.start(workflow="echo", id="\x01")
        self.start(workflow="echo", tags=["a\x01"])
        self.start(workflow="echo", priority=5000)
        self.start(workflow="nobody")
        self.start(workflow="picky", input="x")
        self.start(workflow="echo", input="x" * PAYLOAD_MAX)
        key = lambda key, value: self.server.post(
            "/v1/runs", {"workflow": "echo", "input": value}, headers={"Idempotency-Key": key})
        key("k1", 1)
        key("k1", 2)
        key("k" * 300, 1)
        purged = key("purged", 1).json["id"]
        self.server.wait_for(purged, "completed")
        self.server.call("DELETE", "/v1/runs/" + purged)
        key("purged", 1)
        self.server.wait_for(run["id"], "completed")

    def run_views(self):
        self.waiting = self.start(workflow="waiter").json["id"]
        self.server.wait_for(self.waiting, "suspended")
        self.server.get("/v1/runs")
        self.server.get("/v1/runs?q=statis:failed")
        self.server.get("/v1/runs?where=1")
        self.server.get("/v1/runs?where=1%20%2B")
        self.server.get("/v1/runs?where=a%20%3D%201")
        self.server.post("/v1/runs/bulk", {"verb": "pause", "ids": ["nobody"]})
        self.server.post("/v1/runs/bulk", {"verb": "pause", "q": "statis:failed"})
        for run in ("first", "nobody", self.waiting):
            for part in ("", "/result", "/steps", "/log", "/snapshot"):
                self.server.get("/v1/runs/" + run + part)
        events = "/v1/runs/%s/events"
        self.server.get(events % "first")
        self.server.get(events % "first" + "?after=1000")
        self.server.get(events % "nobody")
        self.server.call("GET", events % "first", headers={"Last-Event-ID": "x"})

    def changes(self):
        change = lambda run, what, body=None: self.server.post("/v1/runs/%s/%s" % (run, what), body)
        for what in ("release", "load"):
            change("nobody", what)
            change(self.waiting, what)
        reader = self.server.connect()
        reader.request("GET", "/v1/runs/%s/events" % self.waiting)
        reader.getresponse().readline()
        change(self.waiting, "release")  # it has a reader
        reader.close()
        held = self.start(workflow="waiter").json["id"]
        self.server.wait_for(held, "suspended")
        change(held, "pause")
        change(held, "release")  # it does not wait
        change(held, "load")
        for what in ("pause", "resume", "cancel"):
            for run in (self.waiting, "nobody"):
                change(run, what)
        self.server.wait_for(self.waiting, "cancelled")
        change(self.waiting, "pause")
        change(self.waiting, "release")
        change(self.waiting, "load")
        for run in (self.waiting, "nobody"):
            self.server.call("DELETE", "/v1/runs/" + run)
        living = self.start(workflow="waiter").json["id"]
        self.server.call("DELETE", "/v1/runs/" + living)
        for run in ("first", "nobody", living):
            change(run, "try")
            self.server.get("/v1/runs/%s/copy" % run)
        self.server.get("/v1/runs/%s/copy?turn=9" % living)
        self.server.deploy("hiding", "export const config = { secret: ['password'] }\nreturn Inputs")
        self.server.get("/v1/runs/%s/copy" % self.start(workflow="hiding").json["id"])
        for body in ({"signals": [{"name": "a\u0001b"}]}, {"turn": 9}, {"version": "f" * 64}, {"source": "return 1"},
                     {"source": "return 1 +"}, {"source": "return nobody"}):
            change(living, "try", body)
        signal = lambda run, name="go", query="": self.server.post(
            "/v1/runs/%s/signals/%s%s" % (run, name, query), raw="1")
        signal("nobody")
        signal("first")
        signal(living, "a%01b")
        signal(living, "x", "?id=" + "k" * 300)
        self.fill_signals(living)
        signal(living)

    def fill_signals(self, run):
        """As many signals as a run may have pending, over one connection."""
        self.server.wait_for(run, "suspended")
        connections = [self.server.connect() for _ in range(8)]
        seen = []

        def send(connection, count):
            for _ in range(count):
                connection.request("POST", "/v1/runs/%s/signals/unwanted" % run, "1")
                response = connection.getresponse()
                response.read()
                seen.append(response.status)

        threads = [threading.Thread(target=send, args=(connection, 1250))
                   for connection in connections]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for connection in connections:
            connection.close()
        self.assertEqual(set(seen), {202})
        self.server.post("/v1/runs/%s/signals/unwanted" % run, raw="1")

    def rewinds(self):
        run = self.start(workflow="steps").json["id"]
        for name in ("one", "two", "three", "four"):
            self.server.complete(self.server.claim(names=[name])[0], 1)
        self.server.wait_for(run, "suspended")
        post = lambda run, what, **body: self.server.post("/v1/runs/%s/%s" % (run, what), body)
        for what in ("fork", "rewind"):
            post(run, what, step="end")
            post(run, what, step="two")
            post(run, what, step="nothing")
            post("nobody", what, step="x")
        post("first", "rewind", step="x")
        post("first", "fork", id="first")
        post("first", "fork", id="\x01")
        self.server.deploy("moving", "await Signal.when('go')\nreturn 1")
        moving = self.start(workflow="moving").json["id"]
        self.server.wait_for(moving, "suspended")
        for source in ("await Signal.when('go')\nreturn 2", "return 3"):
            self.server.deploy("moving", source)
            post(moving, "move", dry_run=True)
            post(moving, "move")
            self.server.wait_for(moving, "suspended")
        for name in ("moving", "nothing"):
            self.server.get("/v1/workflows/%s/places" % name)
        post(moving, "move", version="nothing")
        post("first", "move")
        post("nobody", "move")
        self.server.deploy("stumbles", "await Signal.when('one')\nawait Signal.when('two')\nthrow new Error('no')")
        failing = self.start(workflow="stumbles").json["id"]
        for name in ("one", "two"):
            self.server.post("/v1/runs/%s/signals/%s" % (failing, name), 1)
        self.server.wait_for(failing, "failed")
        self.server.deploy("stumbles", "return 1")
        for what, body in (("fork", {"step": "one", "version": "current"}), ("fork", {"step": "two"}), ("retry", {})):
            post(failing, what, **{"version": "current", **body, "dry_run": True})
            post(failing, what, **{**body, "version": "nothing"})
        self.server.deploy("setting", "const f = 1; let n = 1; await Signal.when('go')\nreturn n + f")
        setting = self.start(workflow="setting").json["id"]
        self.server.wait_for(setting, "suspended")
        for path in ("n", "f", "none", "n["):
            post(setting, "set", values=[{"path": path, "value": 2}], dry_run=True)
        for who in ("first", "nobody"):
            post(who, "set", values=[{"path": "n", "value": 2}])
        self.server.deploy("broken", "throw new Error('broken')")
        broken = self.start(workflow="broken").json["id"]
        self.server.wait_for(broken, "failed")
        for who in (broken, broken, run, "nobody"):
            post(who, "retry")
        for who in (run, "nobody"):
            for part in ("turns", "diff?from=1", "diff?from=99&to=1"):
                self.server.get("/v1/runs/%s/%s" % (who, part))
        for query in ("depth=2&path=x", "depth=17", "path=%5B", "turn=99", "turn=1"):
            self.server.get("/v1/runs/%s/snapshot?%s" % (run, query))
        post(broken, "retry", id="first")
        post(broken, "retry", id="\x01")

    def events(self):
        emit = lambda topic, query="": self.server.post("/v1/events/%s%s" % (topic, query), raw="1")
        put = lambda topic, **body: self.server.call("PUT", "/v1/topics/" + topic, body)
        put("small", cap=1)
        put("a%01b", cap=1)
        for topic in ("small", "a%01b"):
            self.server.call("PATCH", "/v1/topics/" + topic, {"expire": "1h"})
        emit("small")
        emit("small")
        emit("a%01b")
        emit("free", "?id=" + "k" * 300)
        for path in ("/v1/topics", "/v1/topics/small", "/v1/topics/a%01b", "/v1/dead-letters"):
            self.server.get(path)
        self.dead_letters()
        self.pending()

    def pending(self):
        remove = lambda path: self.server.call("DELETE", path)
        events = self.server.get("/v1/topics/small/events").json["items"]
        remove("/v1/topics/small/events/" + events[0]["id"])
        for path in ("/v1/topics/small/events/7", "/v1/topics/a%01b/events/7",
                     "/v1/topics/small/events", "/v1/topics/a%01b/events"):
            remove(path)
        self.server.get("/v1/topics/a%01b/events")
        run = self.start(workflow="echo").json["id"]
        for path in ("/v1/runs/%s/signals" % run, "/v1/runs/nobody/signals"):
            self.server.get(path)
            remove(path)
            remove(path + "?id=7")
            remove(path + "?name=a%01b")

    def dead_letters(self):
        """What a script publishes to a topic that is full becomes a dead letter."""
        self.server.deploy("loud", "for (let i = 0; i < 2; i++) await Event.emit('small', i)")
        self.server.run("loud")
        letters = [item["id"] for item in self.server.get("/v1/dead-letters").json["items"]]
        self.server.post("/v1/dead-letters/%s/replay" % letters[0])
        self.server.call("PUT", "/v1/topics/small", {"cap": 10})
        self.server.post("/v1/dead-letters/%s/replay" % letters[0])
        self.server.call("DELETE", "/v1/dead-letters/%s" % letters[1])
        for path in ("/v1/dead-letters/7/replay", "/v1/dead-letters/x/replay"):
            self.server.post(path)
        self.server.call("DELETE", "/v1/dead-letters/7")

    def tasks(self):
        create = lambda **fields: self.server.post("/v1/tasks", fields)
        create(name="t", id="task-1", queue="q1")
        create(name="t", id="task-1", queue="q1")
        create(name="t", input="x" * PAYLOAD_MAX)
        create(name="")
        create(name="t", id="")
        create(name="t", concurrency_key="")
        create(name="t", priority=5000)
        for path in ("/v1/tasks", "/v1/tasks?run=nobody", "/v1/tasks/task-1", "/v1/tasks/nobody"):
            self.server.get(path)
        retry = lambda task: self.server.post("/v1/tasks/%s/retry" % task)
        retry("task-1")
        retry("nobody")
        task = self.server.claim(queues=["q1"])[0]
        retry("task-1")
        self.server.post("/v1/tasks/complete", {"results": [
            {"id": task["id"], "token": task["token"], "error": {"message": "no"}}]})
        retry("task-1")
        self.start(workflow="steps")
        retry(self.server.claim(names=["one"])[0]["id"])

    def work(self):
        one = {"id": "x", "token": 1}
        self.server.claim(wait="0s", queues=["empty"])
        self.server.post("/v1/tasks/complete", {"results": [one]})
        self.server.post("/v1/tasks/complete", {"results": [{**one, "result": "x" * PAYLOAD_MAX}]})
        self.server.post("/v1/tasks/heartbeat", {"tasks": [one]})
        self.server.post("/v1/tasks/heartbeat", {"tasks": [{**one, "progress": "x" * (1 << 20)}]})

    def turns(self):
        post = self.server.post
        code = {"workflows": [{"name": "code", "version": "1"}]}
        post("/v1/turns/register", code)
        post("/v1/turns/register", {"workflows": [{"name": "echo", "version": "1"}]})
        post("/v1/turns/claim", {"worker": "w", "workflows": [{"name": "nobody", "version": "1"}]})
        self.start(workflow="code")
        turn = post("/v1/turns/claim", {"worker": "w", "wait": "60s", **code}).json["turns"][0]["turn"]
        post("/v1/turns/heartbeat", {"turns": [{"turn": turn}]})
        post("/v1/turns/journal", {"turn": turn})
        post("/v1/turns/commit", {"turns": [], "claim": {"worker": "w", "workflows": [{"name": "nobody", "version": "1"}]}})
        post("/v1/turns/commit", {"turns": [{"turn": turn, "outcome": "completed", "result": 1}],
                                  "claim": {"worker": "w", **code}})
        post("/v1/turns/journal", {"turn": turn})

    def queues(self):
        call = self.server.call
        call("GET", "/v1/queues")
        for name in ("q2", "a%01b"):
            call("PUT", "/v1/queues/" + name, {"max_running": 1})
            call("PATCH", "/v1/queues/" + name, {"max_running": 2})
            for method, tail in (("GET", ""), ("POST", "/pause"), ("POST", "/resume"),
                                 ("DELETE", "")):
                call(method, "/v1/queues/" + name + tail)
        call("PUT", "/v1/queues/q2", {"max_running": -1})
        call("PATCH", "/v1/queues/q2", {"max_running": -1})

    def schedules(self):
        call = self.server.call
        put = lambda name, **body: call("PUT", "/v1/schedules/" + name, {"workflow": "echo", **body})
        put("daily", cron="0 0 * * *")
        put("daily", every="1h")
        put("a%01b", every="1h")
        put("x", every="1h", workflow="nobody")
        put("x", every="1h", workflow="picky", input="x")
        put("x", every="1h", tags=["\x01"])
        put("x", every="1h", overlap="x")
        put("x", every="1h", input="x" * PAYLOAD_MAX)
        put("x")
        put("x", cron="61 * * * *")
        put("x", every="1h", jitter="soon")
        put("x", at="never")
        put("x", cron="0 0 * * *", timezone="Nowhere/Never")
        call("GET", "/v1/schedules")
        call("GET", "/v1/schedules/daily")
        call("GET", "/v1/schedules/nobody")
        span = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T03:00:00Z"}
        for name in ("daily", "nobody", "a%01b"):
            call("POST", "/v1/schedules/%s/backfill" % name, span)
            for tail in ("pause", "resume", "trigger"):
                call("POST", "/v1/schedules/%s/%s" % (name, tail))
        call("POST", "/v1/schedules/daily/backfill", {**span, "to": "2025-01-01T00:00:00Z"})
        for name in ("daily", "nobody", "a%01b"):
            call("DELETE", "/v1/schedules/" + name)

    def tokens(self):
        create = lambda **body: self.server.post("/v1/tokens", {"name": "t", **body})
        token = create(scopes=["read"]).json["id"]
        create(scopes=["all"])
        create(scopes=["read"], name="\x01")
        self.server.get("/v1/tokens")
        for name in (token, "nobody", "a%01b"):
            self.server.call("DELETE", "/v1/tokens/" + name)
        while create(scopes=["read"]).status == 201:
            pass

    def handlers(self):
        call = self.server.call
        for path in ("/health", "/workflows", "/handlers"):
            call("GET", path)
        for name in ("echo", "nobody"):
            for part in ("schema", "events", "representation"):
                call("GET", "/workflows/%s/%s" % (name, part))
        start = lambda name, how="run-nowait", **body: call(
            "POST", "/workflows/%s/%s" % (name, how), body)
        start("waiter", handler_id="h1")
        for how in ("run", "run-nowait"):
            start("waiter", how, handler_id="h1")  # it is running
            start("nobody", how)
            call("POST", "/workflows/echo/" + how)
        start("echo", "run", handler_id="h2")
        start("failing", "run", handler_id="h3")
        self.server.wait_for("h1", "suspended")
        for handler in ("h1", "h2", "h3", "nobody"):
            for path in ("/handlers/", "/results/"):
                call("GET", path + handler)
        call("GET", "/events/h2?after_sequence=-1")
        call("GET", "/events/h2")
        call("GET", "/events/h2?after_sequence=x")
        call("GET", "/events/nobody")
        for handler in ("h1", "h2", "nobody"):
            call("POST", "/events/" + handler, {"event": {"type": "other", "value": {}}})
            call("POST", "/handlers/%s/release" % handler)
            call("POST", "/handlers/%s/cancel" % handler)

    def damaged_snapshots(self):
        """What is kept of a run cannot be read, or was written by a program that is newer."""
        server = Server()
        self.addCleanup(server.close)
        server.deploy("waiter", "return await Signal.next('go')")
        server.deploy("other", "const other = 1; return await Signal.next('go')")
        names = ("damaged", "newer", "foreign")
        for name in names + ("other",):
            server.post("/v1/runs", {"workflow": "other" if name == "other" else "waiter", "id": name})
            server.wait_for(name, "suspended")
        server.stop()
        with sqlite3.connect(server.store[len("sqlite:"):]) as store:
            bytes_ = dict(store.execute("SELECT id, snapshot FROM abide_runs").fetchall())
            at = bytes_["newer"].index(MAGIC) + len(MAGIC)
            for name, damaged in (("damaged", b"\xff" + bytes_["damaged"][1:]), ("foreign", bytes_["other"]),
                                  ("newer", bytes_["newer"][:at] + b"\xff" + bytes_["newer"][at + 1:])):
                store.execute("UPDATE abide_runs SET snapshot = ? WHERE id = ?", (damaged, name))
        store.close()
        server.restart_on_its_port()
        server.deploy("waiter", "const more = 1; return await Signal.next('go')")
        for name in names:
            for what in ("snapshot", "diff", "copy"):
                server.get("/v1/runs/%s/%s" % (name, what))
            for what in ("try", "move"):
                server.post("/v1/runs/%s/%s" % (name, what))
            if name != "foreign":  # that is found out when it goes on
                server.post("/v1/runs/%s/load" % name)
                server.post("/events/" + name, {"event": {"type": "go", "value": 1}})
        self.server.seen |= server.seen

    # ---- what has nothing to do with what is asked for ----

    def callers(self):
        """Who may call at all."""
        for header in ("Host", "Origin"):
            self.server.call("GET", "/v1/runs", headers={header: "http://evil.example"[7 * (
                header == "Host"):]})
        with tempfile.TemporaryDirectory() as folder:
            path = build_plugin(os.path.join(folder, "orders.so"), example_plugin("plugin-orders"))
            native = Server("--plugin", path)
        native.call("PUT", "/v1/workflows/order", raw=b"return 1")  # the name is taken, by C
        native.post("/v1/runs", {"workflow": "order", "id": "native"})
        native.post("/v1/runs/native/try")
        native.get("/v1/runs/native/copy")
        native.close()
        self.server.seen |= native.seen
        server = TokenServer()
        server.get("/v1/runs")
        server.as_("read", "POST", "/v1/runs", {"workflow": "x"})
        server.close()
        self.server.seen |= server.seen

    def locked_store(self):
        """Somebody else holds the file: commits are not answered, and callers are told in the end."""
        server = Server()
        server.deploy("echo", "return 1")
        other = sqlite3.connect(server.store[len("sqlite:"):], isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answer = server.call("POST", "/v1/runs", {"workflow": "echo"}, timeout=250)
        other.execute("ROLLBACK")
        other.close()
        server.close()
        if answer.headers.get("Retry-After") == "1":
            self.server.seen |= server.seen

    def see(self, method, path, response, body):
        answer = type("Answer", (), {"status": response.status, "body": body,
                                     "headers": dict(response.getheaders())})
        self.server.seen.add(self.server.document.check(method, path, answer))

    def stopping(self):
        """A connection that is open when the server is asked to end hears that it is going away."""
        self.server.deploy("slow", "return await Task.run('exec', { argv: ['sleep', '60'] })")
        run = self.start(workflow="slow").json["id"]
        while not [task for task in self.server.get("/v1/tasks?status=leased").json["items"]
                   if task["name"] == "exec"]:
            pass
        connections = [self.server.connect() for _ in range(5)]
        for connection in connections:
            connection.request("GET", "/livez")
            connection.getresponse().read()
        waiting = connections.pop()
        waiting.request("POST", "/workflows/slow/run", "{}")
        while len(self.server.get("/handlers?workflow_name=slow").json["handlers"]) < 2:
            pass
        self.server.process.terminate()
        while not [line for line in self.server.lines if "stopping" in line]:
            time.sleep(0.01)
        requests = (("GET", "/readyz"), ("GET", "/healthz"), ("GET", "/health"), ("POST", "/v1/events/late"))
        for connection, (method, path) in zip(connections, requests):
            while True:
                connection.request(method, path)
                response = connection.getresponse()
                body = response.read().decode()
                if response.status == 503:
                    break
            self.see(method, path, response, body)
            connection.close()
        response = waiting.getresponse()
        self.see("POST", "/workflows/slow/run", response, response.read().decode())
        waiting.close()
        self.assertTrue(run)


if __name__ == "__main__":
    tap.main()
