"""Fuzzes the API of a server: random requests, valid and not, over every route of /openapi.json.

    python3 test/e2e/support/api_fuzz.py [--seed N] [--operations N] [--threads N] [--forever]

A seed makes the same requests each time with one thread, as far as the server's answers (ids, tokens)
are the same. What must hold for every answer:

  - no 5xx but a 503 that the description of the API knows
  - what is refused is problem+json, with a code that the description lists for that route and status
    and that docs/errors.md explains
  - everything else is what the description says: a status it lists, and JSON where it says JSON

and in the end: the server is alive and ends in order, and its store verifies.
"""
import argparse
import http.client
import json
import os
import random
import re
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.environ.setdefault("ABIDE_SOURCE_DIR", os.path.abspath(os.path.join(
    os.path.dirname(__file__), "..", "..", "..")))
os.environ.setdefault("ABIDE_BUILD_DIR", os.path.join(SOURCE, "build"))
from server import ABIDE, Server  # noqa: E402

FLOWS = [
    "return Inputs",
    "return await Task.run('work', Inputs, { retry: { attempts: 3, delay: '10ms' } })",
    "return await Task.run('fail', { times: 2 }, { retry: { attempts: 3, delay: '5ms' } })",
    "return await Signal.when('go', { timeout: '2s' }).catch(e => e.name)",
    "const e = await Event.wait('topic-1', { timeout: '3s' }); Event.emit('topic-2', e); return e",
    "State.set('k', Inputs); Stream.write({ n: 1 }); await Timer.delay('20ms'); return State.get('k')",
    "return Promise.all([1, 2, 3].map(n => Task.run('work', n, { queue: 'q2', concurrencyKey: 'k' })))",
    "try { await Signal.next('never') } finally { await Task.run('log', 'cleanup') }",
    "if (!Inputs) return 1; return Workflow.run('flow-0', Inputs)",
    "let i = Inputs?.n ?? 0; if (i < 3) return Workflow.continueAs({ n: i + 1 }); throw new Error('x' + i)",
    "workflow one(i) { return 1 }\nworkflow two(i) { return Workflow.run('one') }",
    "export const config = { timeout: '1s', retry: { attempts: 2 } }\nawait Signal.next('go')",
    "for (;;) { await Timer.delay('50ms'); Stream.write(Date.now()) }",
    "while (true) {}", "return 'x'.repeat(3000000)", "let a = []; for (;;) a.push(a.slice())",
    "const x = = 1", "", "return (", "\u0000", "eval('1')", "import x from 'y'",
]
ODD_TEXTS = ["", " ", "a", "../..", "%", "\u00e9\u4e2d\U0001f600", "x" * 255, "x" * 256, "x" * 3000, "a/b", "a\nb",
             "\u0000", "null", "-1", "0", "{}", "'; drop table runs; --", "run_", "\u202e", "a,b,c", "true"]
ODD_NUMBERS = [0, 1, -1, 2, 1000, 1001, 10**9, 2**31, 2**53, 2**63 - 1, 2**63, -2**63, 10**30, 0.5, -0.0, 1e308]
DURATIONS = ["0s", "1ms", "50ms", "0.1s", "1s", 0.05, "PT0.1S", 1]
ODD_DURATIONS = ["-1s", "1", "s", "1e9d", "100000d", -1, 1e300, "forever", "", "PT", None, [], "1s1s"]
TIMES = ["2020-01-01T00:00:00Z", "2026-11-16T00:00:00.5+02:00"]
ODD_TIMES = ["yesterday", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "0000-00-00T00:00:00Z", "9999-12-31T23:59:59Z",
             "2026-01-01", "", 0, "1969-12-31T23:59:59Z"]
CRONS = ["* * * * *", "*/5 9-17 * * MON-FRI", "0 0 1 1 *", "61 * * * *", "* * *", "0 0 30 2 *", "@daily", "x"]

ENVELOPE = {"type": "object", "properties": {"value": {}, "type": {"type": "string"}, "data": {},
                                             "qualified_name": {"type": "string"}}}


def is_handler(operation):
    return operation["tags"] == ["handlers"]


class Broken(Exception):
    pass


def documented_codes():
    with open(os.path.join(SOURCE, "docs", "errors.md"), encoding="utf-8") as file:
        return set(re.findall(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)`", file.read()))


class Pools:
    """What answers told us exists, so that requests can be about it. Threads share it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.items = {"run": [], "task": [], "leased": [], "letter": [], "token": [], "cursor": [],
                      "pending": [],
                      "workflow": ["flow-%d" % i for i in range(5)] + ["one", "two"],
                      "topic": ["topic-1", "topic-2"], "schedule": ["nightly", "often"],
                      "queue": ["default", "q2", "system"], "signal": ["go", "never"]}

    def add(self, kind, value):
        with self.lock:
            items = self.items[kind]
            items.append(value)
            if len(items) > 60:
                items.pop(0)

    def pick(self, dice, kind):
        with self.lock:
            items = self.items[kind]
            return dice.choice(items) if items else None


class Fuzzer:
    def __init__(self, server, pools, description, seed):
        self.server = server
        self.pools = pools
        self.dice = random.Random(seed)
        self.codes = documented_codes()
        self.common = set(description["components"]["responses"]["Problem"]["x-codes"])
        self.operations = [(path, method.upper(), operation)
                           for path, methods in sorted(description["paths"].items())
                           for method, operation in sorted(methods.items())
                           if operation["operationId"] != "runWorkflow"]  # it waits for the end
        self.connection = None
        self.counts = {}
        self.request = None

    # ---- making values ----

    def chance(self, percent):
        return self.dice.randrange(100) < percent

    def any_json(self, depth=0):
        kind = self.dice.randrange(8 if depth < 4 else 5)
        if kind == 0:
            return self.dice.choice(ODD_NUMBERS)
        if kind == 1:
            return self.dice.choice(ODD_TEXTS)
        if kind == 2:
            return self.dice.choice([None, True, False])
        if kind in (3, 4):
            return self.dice.randrange(100)
        if kind == 5:
            return [self.any_json(depth + 1) for _ in range(self.dice.randrange(4))]
        return {self.dice.choice(["a", "b", "id", "n", "", "__proto__"]): self.any_json(depth + 1)
                for _ in range(self.dice.randrange(4))}

    def id_for(self, path, name):
        kind = {"name": "workflow", "topic": "topic", "id": "run"}.get(name)
        for word, wanted in (("/signals/{name}", "signal"), ("/tasks/", "task"), ("/queues/", "queue"),
                             ("/dead-letters/", "letter"), ("/schedules/", "schedule"),
                             ("/tokens/", "token")):
            if word in path and not (word == "/signals/{name}" and name == "id"):
                kind = wanted
        if path.endswith("/events/{id}") and name == "id":
            kind = "pending"
        value = self.pools.pick(self.dice, kind) if kind else None
        if value is None or self.chance(12):
            value = self.dice.choice(ODD_TEXTS)
        return value

    def text_for(self, name):
        known = {"workflow": "workflow", "queue": "queue", "parent": "run", "waiting_on": "topic",
                 "cursor": "cursor", "name": "workflow"}
        choices = {
            "status": ["suspended", "completed,failed", "queued", "leased", "running", "lost", ""],
            "tag": ["red", "blue"], "consume": ["one", "all", "none"], "step": ["work", "log", "0"],
            "visible": ["all", "after-wait", "after-create", "x"], "cron": CRONS, "version": ["x", ""],
            "timezone": ["UTC", "Europe/Berlin", "Mars/Olympus"], "worker": ["w1", "w2"],
            "overlap": ["skip", "queue", "allow", "cancel-old", "x"], "file": ["a.flow", "b"],
            "id": ["fixed-1", "fixed-2", "fixed-3"], "concurrency_key": ["k1", "k2"],
            "type": ["go", "never", "StopEvent"], "sse": ["true", "false", "x"], "handler_id": ["h-1", "h-2"],
            "after_sequence": ["now", "-1", "0", "5", "x"], "workflow_name": ["flow-0", "flow-3"],
            "reason": ["because"], "after": ["0", "1", "99999999"], "limit": ["1", "10", "1000", "0", "1001"],
        }
        if name in known and self.chance(80):
            return self.pools.pick(self.dice, known[name]) or "x"
        if name in choices and self.chance(85):
            return self.dice.choice(choices[name])
        return self.dice.choice(ODD_TEXTS)

    def value_for(self, name, schema):
        if self.chance(6):
            return self.any_json()
        if name in ("event", "start_event"):
            schema = ENVELOPE
        kinds = schema.get("type", "any")
        kind = kinds if isinstance(kinds, str) else "duration"
        if kind == "object" and "properties" in schema:
            return {key: self.value_for(key, field) for key, field in schema["properties"].items()
                    if self.chance(60)}
        if name in ("workflow", "name") and kind == "string":
            return self.dice.choice(["work", "fail", self.text_for("workflow"), self.text_for("workflow")])
        if schema.get("format") == "date-time":
            return self.dice.choice(TIMES if self.chance(70) else ODD_TIMES)
        if kind == "duration" or schema.get("format") == "duration-text":
            return self.dice.choice(DURATIONS if self.chance(85) else ODD_DURATIONS)
        if kind in ("integer", "number"):
            return self.dice.randrange(10) if self.chance(75) else self.dice.choice(ODD_NUMBERS)
        if kind == "boolean":
            return self.chance(50)
        if kind == "array":
            if schema.get("items", {}).get("type") == "object":
                return [self.task_item(name) for _ in range(self.dice.randrange(4))]
            return [self.text_for({"queues": "queue", "tags": "tag"}.get(name, name))
                    for _ in range(self.dice.randrange(3))]
        if kind == "string":
            return self.text_for(name)
        return self.any_json()

    def task_item(self, name):
        """An item of complete or heartbeat, about a task somebody has claimed if there is one."""
        leased = self.pools.pick(self.dice, "leased")
        if leased is None or self.chance(15):
            leased = {"id": self.dice.choice(ODD_TEXTS), "token": self.dice.choice(ODD_NUMBERS)}
        item = {"id": leased["id"], "token": leased["token"]}
        if name == "tasks":
            return {**item, "progress": self.any_json()} if self.chance(50) else item
        how = self.dice.randrange(10)
        if how < 5:
            item["result"] = self.any_json()
        elif how < 8:
            item["error"] = {"type": self.dice.choice(["Error", "Odd"]), "message": "m",
                             "retryable": self.chance(50)}
        elif how == 8:
            item["release"] = True
        else:
            return self.any_json()
        return item

    def body_for(self, operation):
        content = operation.get("requestBody", {}).get("content", {})
        if "text/plain" in content:
            return self.dice.choice(FLOWS).encode("utf-8")
        schema = content.get("application/json", {}).get("schema")
        if schema is None:
            return b"{}" if self.chance(5) else None
        if self.chance(4):
            return self.dice.choice([b"", b"{", b"[]", b"nul", b'"', b"\xff", b"[" * 600, b'{"a":1,"a":2}', b"1 2"])
        if "properties" not in schema:
            return json.dumps(self.any_json()).encode("utf-8") if self.chance(90) else None
        body = {}
        for name, field in schema["properties"].items():
            if name in schema.get("required", []) and self.chance(96) or self.chance(30):
                body[name] = self.value_for(name, field)
        if "worker" in body and "wait" in schema["properties"]:
            body["wait"] = self.dice.choice([0, "20ms"])
        if self.chance(3):
            body[self.dice.choice(["x", "", "Workflow"])] = 1
        return json.dumps(body).encode("utf-8")

    def make(self):
        path, method, operation = self.dice.choice(self.operations)
        if self.chance(30):  # what makes things happen comes more often
            wanted = self.dice.choice(["deployWorkflow", "startRun", "startRun", "claimTasks",
                                       "completeTasks", "signalRun", "publishEvent"])
            path, method, operation = next(each for each in self.operations
                                           if each[2]["operationId"] == wanted)
        headers, query, target = {}, [], path
        for parameter in operation.get("parameters", []):
            name, where = parameter["name"], parameter["in"]
            if where == "path":
                value = str(self.id_for(path, name))
                target = target.replace("{%s}" % name, urllib.parse.quote(value, safe="") or "%20")
            elif where == "query" and self.chance(35):
                value = "20ms" if name == "wait" else self.value_for(name, parameter["schema"])
                for each in value if isinstance(value, list) else [value]:  # such may be repeated
                    query.append((name, each if isinstance(each, str) else json.dumps(each)))
            elif where == "header" and self.chance(35):
                headers[name] = self.dice.choice(["k1", "k2", "7", "x" * 300, "0", "-1"])
        if self.chance(2):
            query.append(("colour", "red"))
        if query:
            target += "?" + urllib.parse.urlencode(query)
        if method == "GET" and self.chance(3):
            method = "HEAD"
        return method, target, self.body_for(operation), headers, operation

    # ---- sending, and judging the answer ----

    def send(self, method, target, body, headers):
        for attempt in range(2):
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
            try:
                self.connection.request(method, target, body=body, headers=headers)
                response = self.connection.getresponse()
                if response.headers.get("Transfer-Encoding") == "chunked":  # a stream
                    self.connection.sock.settimeout(0.2)
                    try:
                        data = response.read1(2000)
                    except (http.client.IncompleteRead, TimeoutError):
                        data = b""  # its run was deleted, or has nothing to say
                    self.connection.close()
                    self.connection = None
                else:
                    data = response.read()
                return response, data
            except (http.client.RemoteDisconnected, ConnectionError):
                self.connection.close()
                self.connection = None
                if attempt == 1:  # a kept connection may have been closed; a new one may not
                    raise Broken("no answer")
        raise AssertionError

    def check_handler(self, method, response, data):
        """500 is how the handler API tells of a run that has failed."""
        if method == "HEAD" or response.status == 204 or "chunked" in str(response.headers):
            return
        answer = json.loads(data)
        if response.status == 500 and "handler_id" not in answer and "result" not in answer:
            raise Broken("an internal error")
        if response.status >= 400 and response.status != 500 and not isinstance(answer["detail"], str):
            raise Broken("no detail")
        if "handler_id" in answer:
            self.pools.add("run", answer["handler_id"])

    def check(self, method, operation, response, data):
        if is_handler(operation):
            self.check_handler(method, response, data)
            return
        status, kind = response.status, response.headers.get("Content-Type", "")
        answers = operation["responses"]
        if status < 400:
            if str(status) not in answers:
                raise Broken("the status %d is not described" % status)
            if "application/json" in answers[str(status)].get("content", {}) and method != "HEAD":
                self.learn(operation["operationId"], json.loads(data))
            return
        if method == "HEAD":
            return
        if status >= 500 and status != 503:
            raise Broken("an internal error")
        if "Health" in json.dumps(answers.get(str(status), {})):
            return
        if kind != "application/problem+json":
            raise Broken("no problem+json but " + kind)
        problem = json.loads(data)
        code = problem["code"]
        if problem["status"] != status or not problem["detail"] or not problem["title"]:
            raise Broken("an incomplete problem")
        if code not in self.codes:
            raise Broken(code + " is not in docs/errors.md")
        if code not in answers.get(str(status), {}).get("x-codes", []) and code not in self.common:
            raise Broken("%s with %d is not described for this route" % (code, status))

    def learn(self, name, answer):
        if name in ("startRun", "forkRun", "triggerSchedule") and isinstance(answer, dict):
            self.pools.add("run", answer.get("id") or answer.get("run_id") or "x")
        elif name == "createTask":
            self.pools.add("task", answer["id"])
        elif name == "claimTasks":
            for task in answer["tasks"]:
                self.pools.add("leased", task)
        elif name == "createToken":
            self.pools.add("token", str(answer.get("id")))
        elif name == "listDeadLetters":
            for letter in answer["items"]:
                self.pools.add("letter", letter["id"])
        elif name in ("listEvents", "listSignals"):
            for item in answer["items"]:
                self.pools.add("pending", item["id"])
        elif name in ("listRuns", "listTasks"):
            for item in answer["items"][:5]:
                self.pools.add("run" if name == "listRuns" else "task", item["id"])
        if isinstance(answer, dict) and answer.get("next"):
            self.pools.add("cursor", str(answer["next"]))

    def step(self):
        method, target, body, headers, operation = self.request = self.make()
        response, data = self.send(method, target, body, headers)
        try:
            self.check(method, operation, response, data)
        except (Broken, ValueError, KeyError) as error:
            raise Broken("%s: %d %s" % (error, response.status, data[:400])) from error
        name = "%s %d" % (operation["operationId"], response.status)
        self.counts[name] = self.counts.get(name, 0) + 1

    def run(self, operations):
        for number in range(operations):
            try:
                self.step()
            except (Broken, OSError) as error:
                method, target, body, headers, _ = self.request
                raise Broken("request %d: %s %s %r %r\n%s" % (number, method, target[:500], headers,
                                                             body and body[:500], error)) from error
        if self.connection is not None:
            self.connection.close()


def fuzz(seed, operations, threads):
    """One server, fuzzed and verified; answers how often each operation was answered how."""
    server = Server()
    try:
        description = server.get("/openapi.json").json
        pools = Pools()
        for number in range(5):
            server.deploy("flow-%d" % number, FLOWS[number])
        fuzzers = [Fuzzer(server, pools, description, seed * 1000 + i) for i in range(threads)]
        failures = []

        def work(fuzzer):
            try:
                fuzzer.run(operations // threads)
            except Exception as error:  # noqa: BLE001 - reported by the main thread
                failures.append(error)

        workers = [threading.Thread(target=work, args=(each,)) for each in fuzzers]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if server.process.poll() is not None:
            raise Broken("seed %d: the server ended\n%s" % (seed, "\n".join(server.lines[-60:])))
        if failures:
            raise Broken("seed %d, %d threads: %s" % (seed, threads, failures[0]))
        if server.get("/readyz").status != 200:
            raise Broken("seed %d: not ready" % seed)
        if server.stop() != 0:
            raise Broken("seed %d: no orderly end\n%s" % (seed, "\n".join(server.lines[-60:])))
        verified = subprocess.run([ABIDE, "verify", server.store], capture_output=True,
                                  text=True, timeout=120)
        if verified.returncode != 0:
            raise Broken("seed %d: verify: %s%s" % (seed, verified.stdout, verified.stderr))
        counts = {}
        for each in fuzzers:
            for name, count in each.counts.items():
                counts[name] = counts.get(name, 0) + count
        return counts
    finally:
        server.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--operations", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--forever", action="store_true", help="one seed after the other")
    given = parser.parse_args()
    seed = given.seed
    while True:
        try:
            counts = fuzz(seed, given.operations, given.threads)
        except Broken as error:
            print(error, file=sys.stderr)
            return 1
        good = sum(count for name, count in counts.items() if int(name.split()[1]) < 400)
        print("seed %d: %d requests, %d of them well, %d kinds of answers"
              % (seed, sum(counts.values()), good, len(counts)), flush=True)
        if not given.forever:
            return 0
        seed += 1


if __name__ == "__main__":
    sys.exit(main())
