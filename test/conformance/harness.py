"""What the conformance suite runs with: a server, the effects of workflows, worker processes, runs."""

import collections
import contextlib
import http.server
import itertools
import json
import os
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from server import PATIENCE, Server, wait_until  # noqa: E402

ENDED = ("completed", "failed", "cancelled")
TEN = ("order", "saga", "loop", "countdown", "fan", "flaky", "family", "leaf", "race", "agent")


class Call:
    """One effect."""

    def __init__(self, number, said):
        self.number, self.run, self.name, self.say = number, said["run"], said["name"], said.get("say")
        self.at = time.monotonic()
        self.of = (self.say or {}).get("case", self.run)


class Effects:
    """Where workflows leave their traces: answers POST {run, name, say}, and says what a step comes to."""

    def __init__(self):
        self.calls = []
        self.lock = threading.Lock()
        self.gates = collections.defaultdict(threading.Event)
        self.numbers = itertools.count(1)
        self.answer = self.as_told  # (call, how many there were of it before) -> answer
        effects = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                said = json.loads(self.rfile.read(int(self.headers["content-length"])))
                body = json.dumps(effects.take(said)).encode()
                with contextlib.suppress(OSError):  # a worker that has gone
                    self.send_response(200)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Listener(socketserver.ThreadingTCPServer):
            daemon_threads = True
            request_queue_size = 256
            allow_reuse_address = True

            def handle_error(self, request, client_address):
                pass  # a worker that has gone

        self.http = Listener(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/" % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        for gate in list(self.gates.values()):
            gate.set()
        self.http.shutdown()
        self.http.server_close()

    def take(self, said):
        with self.lock:
            call = Call(next(self.numbers), said)
            count = sum(each.of == call.of and each.name == call.name for each in self.calls)
            self.calls.append(call)
        return self.answer(call, count)

    def as_told(self, call, count):
        """`say` of `play` tells: {case, result?, fail?: how often first, error?, hold?: a gate}."""
        say = call.say or {}
        if "hold" in say:
            self.gates[say["hold"]].wait(PATIENCE)
        if count < say.get("fail", 0):
            return {"error": say.get("error", {"type": "Unlucky", "message": f"attempt {count + 1}"})}
        return {"result": say["result"]} if "result" in say else {"result": f"did {call.name}"}

    def of(self, case=None, run=None):
        """Names of the calls, in order."""
        with self.lock:
            return [each.name for each in self.calls
                    if (case is None or (each.say or {}).get("case") == case) and run in (None, each.run)]


class WorkerProcess:
    """The worker program, as a process."""

    count = itertools.count(1)

    def __init__(self, command, url, effects, prefix="", code="1", version="1", lease="30s"):
        self.name = f"worker-{os.getpid()}-{next(self.count)}"
        self.prefix, self.version = prefix, version
        self.output = tempfile.TemporaryFile("w+")
        environment = {**os.environ, "ABIDE_SERVER": url, "CONFORMANCE_EFFECTS": effects.url,
                       "CONFORMANCE_PREFIX": prefix, "CONFORMANCE_CODE": code, "CONFORMANCE_VERSION": version,
                       "CONFORMANCE_WORKER": self.name, "CONFORMANCE_LEASE": lease, "NODE_ENV": "production"}
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=self.output,
                                        stderr=subprocess.STDOUT, text=True)
        tap.witnesses.append(self.witness)

    def witness(self):
        with open(self.output.fileno(), encoding="utf-8", errors="replace", closefd=False) as file:
            file.seek(0)
            return [f"{self.name}: {self.process.poll()}", *file.read().splitlines()]

    def ready(self, server):
        """Waits until its workflows are known."""
        def is_known():
            assert self.process.poll() is None, "the worker has ended:\n" + "\n".join(self.witness())
            answer = server.get(f"/v1/workflows?name={self.prefix}agent&limit=100")
            return any(each["version"] == self.version for each in answer.json["items"])
        wait_until(is_known, what=lambda: "the workflows are not registered\n" + "\n".join(self.witness()))
        return self

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.close()

    def stop(self):
        """As an operator does."""
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        self.close()
        return code

    def close(self):
        if self.witness in tap.witnesses:
            tap.witnesses.remove(self.witness)
        self.output.close()


class Run:
    def __init__(self, server, run):
        self.server, self.id = server, run

    def now(self):
        return self.server.get("/v1/runs/" + self.id).json

    def until(self, condition):
        """Until the run is so; answers it."""
        def look():
            self.last = self.now()
            if condition(self.last):
                return self.last
            assert self.last["status"] not in ENDED, self.last
            return None
        return wait_until(look, what=lambda: f"it is not so: {self.last}")

    def until_status(self, *statuses):
        return self.until(lambda run: run["status"] in statuses)

    def until_waiting(self, on, count=1):
        """Until it waits for that many of these."""
        return self.until(lambda run: run["status"] == "suspended"
                          and sum(each["on"] == on for each in run["waits"]) >= count)

    def end(self):
        """Until it has ended; answers it."""
        wait_until(lambda: self.server.get(f"/v1/runs/{self.id}/result?wait=50s").status != 202,
                   what=lambda: f"it has not ended: {self.now()}\n" + self.history())
        return self.now()

    def result(self):
        run = self.end()
        assert run["status"] == "completed", run
        return run["result"]

    def error(self, status="failed"):
        run = self.end()
        assert run["status"] == status, run
        return run["error"]

    def paused(self):
        """Until the worker has paused it; answers why."""
        return self.until_status("paused")["pause_reason"]

    def cancel(self):
        self.post("cancel", {"grace": "100s"})

    def log(self, *kinds):
        items, after = [], 0
        while True:
            page = self.server.get(f"/v1/runs/{self.id}/log?limit=1000&after={after}").json
            items += page["items"]
            if not page["next"]:
                return [each for each in items if not kinds or each["kind"] in kinds]
            after = page["next"]

    def history(self):
        return "\n".join(f"{each['seq']} {each['kind']} {each['name']} {each['outcome']}" for each in self.log())

    def steps(self):
        """Names of the steps that are recorded."""
        return [each["name"] for each in self.log("step")]

    def post(self, verb, body=None):
        answer = self.server.post(f"/v1/runs/{self.id}/{verb}", {} if body is None else body)
        assert answer.status in (200, 201, 202), answer.body
        return answer.json

    def signal(self, name, payload=None):
        answer = self.server.call("POST", f"/v1/runs/{self.id}/signals/{name}", raw=json.dumps(payload))
        assert answer.status == 202, answer.body


class Case:
    """What one behaviour works with."""

    def __init__(self, server, effects, name, prefix=""):
        self.server, self.effects, self.name, self.prefix = server, effects, name, prefix
        self.count = 0

    def workflow(self, name="play"):
        return self.prefix + name

    def call(self, **say):
        """The body of a step that calls the suite."""
        if "hold" in say:
            say["hold"] = self.gate_name(say["hold"])
        return {"call": {"case": self.name, **say}}

    def step(self, name, options=None, **say):
        return ["step", name, self.call(**say), options or {}]

    def child(self, program, options=None, data=None):
        return ["child", self.workflow(), ["value", self.input(program, data=data)], options or {}]

    def input(self, *programs, data=None):
        return {"code": {str(place + 1): each for place, each in enumerate(programs)}, "data": data}

    def start_workflow(self, name, input=None, **fields):
        self.count += 1
        run = fields.pop("id", f"{self.prefix}{self.name}-{self.count}")
        answer = self.server.post("/v1/runs", {"workflow": self.workflow(name), "input": input, "id": run, **fields})
        assert answer.status == 201, answer.body
        return Run(self.server, run)

    def start(self, *programs, data=None, **fields):
        """Starts a run of these programs, the first for the code 1, and so on."""
        return self.start_workflow("play", self.input(*programs, data=data), **fields)

    def play(self, program, data=None):
        """What it comes to."""
        return self.start(program, data=data).result()

    def calls(self, run=None):
        return self.effects.of(self.name, run)

    def called(self, name, times=1):
        """Until the step was called so often."""
        wait_until(lambda: self.calls().count(name) >= times, what=lambda: f"{name}: {self.calls()}")

    def gate_name(self, name):
        return f"{self.prefix}{self.name} {name}"

    def open(self, gate):
        self.effects.gates[self.gate_name(gate)].set()

    def emit(self, topic, payload):
        answer = self.server.call("POST", f"/v1/events/{topic}", raw=json.dumps(payload))
        assert answer.status in (200, 201, 202), answer.body

    def do_task(self, name, result=None, error=None):
        """Does the next task of that name; answers its input."""
        task = wait_until(lambda: self.server.claim(names=[name], max=1, wait="10s"))[0]
        said = {"result": result} if error is None else {"error": error}
        answer = self.server.post("/v1/tasks/complete", {"results": [{"id": task["id"], "token": task["token"], **said}]})
        assert answer.status == 200, answer.body
        return task["input"]


def equal(found, expected):
    assert found == expected, f"found    {found!r}\nexpected {expected!r}"


def holds(condition, what):
    assert condition, what
