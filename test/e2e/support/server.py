"""Starts `abide serve` for a test, and talks to it over plain sockets and http.client."""
import http.client
import json
import os
import re
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

import openapi
import tap

# A ceiling in seconds for waiting on a condition that ends the wait as soon as it holds: it only
# bounds how long a broken server is waited for, so it is far above what a slow machine needs.
PATIENCE = 120
ABIDE = os.path.join(os.environ["ABIDE_BUILD_DIR"], "abide")


def in_time(function, seconds=30):
    """What it answers, if that comes within so many seconds: for waits that are much shorter."""
    began = time.monotonic()
    answer = function()
    took = time.monotonic() - began
    assert took < seconds, f"answered after {took:.1f} s"
    return answer


def pauses(seconds):
    """Each next() is a pause between two looks, longer when it was waited for long; False: that is over."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) <= seconds:
        time.sleep(min(0.05, max(0.01, waited / 10)))
        yield True
    yield False


def wait_until(condition, seconds=PATIENCE, what="it did not happen"):
    """Until `condition()` is true; answers what it answered. `what` may be a function."""
    pause = pauses(seconds)
    while not (answer := condition()):
        if not next(pause):
            raise AssertionError(what() if callable(what) else what)
    return answer


def eventually(check, seconds=PATIENCE):
    """Until `check()` passes: for figures that are counted a moment after what they count is visible."""
    pause = pauses(seconds)
    while True:
        try:
            return check()
        except (AssertionError, KeyError):
            if not next(pause):
                raise


def build_plugin(path, text, *flags):
    """A shared object of that C source; answers its path."""
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", *flags,
                    "-I", os.path.join(os.environ["ABIDE_SOURCE_DIR"], "include"), path + ".c",
                    "-o", path], check=True, timeout=60)
    return path


def example_plugin(name):
    """The source of the plug-in of that name in examples/."""
    with open(os.path.join(os.environ["ABIDE_SOURCE_DIR"], "examples", name, "plugin.c"),
              encoding="utf-8") as file:
        return file.read()


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


class Server:
    """One server process on a free port of the loopback interface."""

    def __init__(self, *arguments, folder=None, store=None):
        self.temporary = None if folder or store else tempfile.TemporaryDirectory()
        self.folder = folder or (self.temporary.name if self.temporary else None)
        self.store = store or "sqlite:" + os.path.join(self.folder, "test.db")
        self.arguments = arguments
        self.listen = "127.0.0.1:0"
        self.document = None  # what /openapi.json says
        self.seen = set()  # (operation, status, code) of all answers
        self.lines = []
        tap.witnesses.append(self.witness)
        try:
            self.start()
        except BaseException:
            tap.witnesses.remove(self.witness)  # what it said is in the error
            raise

    def witness(self):
        return ["server %d, %s:" % (self.process.pid, "up" if self.process.poll() is None else
                                    "ended with %d" % self.process.returncode), *self.lines]

    def start(self):
        self.process = subprocess.Popen(
            [ABIDE, "serve", "--store", self.store, "--listen", self.listen,
             *self.arguments],
            stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.port = None
        ready = threading.Event()

        def read():
            for line in self.process.stderr:
                self.lines.append(line.rstrip("\n"))
                match = re.search(r"listening on https?://.*:(\d+)(\"})?$", self.lines[-1])
                if match:
                    self.port = int(match.group(1))
                    ready.set()
            ready.set()

        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()
        ready.wait(PATIENCE)
        if self.port is None:
            raise RuntimeError("the server did not start: " + "\n".join(self.lines))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart_on_its_port(self):
        """After kill(): the same store and the same address."""
        self.reader.join(PATIENCE)
        self.process.stderr.close()
        self.listen = "127.0.0.1:%d" % self.port
        self.start()

    def stop(self):
        """Orderly; answers the exit code."""
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return code

    def close(self):
        if self.witness in tap.witnesses:
            tap.witnesses.remove(self.witness)
        if self.process.poll() is None:
            self.kill()
        self.reader.join(PATIENCE)
        self.process.stderr.close()
        if self.temporary:
            self.temporary.cleanup()
        for line in self.lines:
            if "Sanitizer" in line or "runtime error:" in line:
                raise AssertionError("\n".join(self.lines))

    def said(self, text):
        """The lines of its log with that text, once there is one: it is written beside the answers."""
        return wait_until(lambda: [line for line in list(self.lines) if text in line],
                          what=lambda: "no %r in %s" % (text, self.lines))

    def figure(self, name):
        """The sum of all series of that name in /metrics."""
        found = re.findall(r"^%s(?:\{[^}]*\})? (\S+)$" % name, self.get("/metrics").body, re.M)
        assert found, "no " + name
        return sum(float(value) for value in found)

    def connect(self, timeout=PATIENCE):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def call(self, method, path, body=None, headers=None, raw=None, timeout=PATIENCE):
        connection = self.connect(timeout)
        try:
            data = raw if raw is not None else None if body is None else json.dumps(body)
            connection.request(method, path, body=data, headers=headers or {})
            response = connection.getresponse()
            answer = Answer(response.status, dict(response.getheaders()),
                            response.read().decode("utf-8"))
        finally:
            connection.close()
        self.check(method, path, answer)
        return answer

    def check(self, method, path, answer):
        """Every answer a test gets is one that /openapi.json names."""
        if self.document is None and path == "/openapi.json":
            return
        if self.document is None:
            self.document = openapi.Document(self.get("/openapi.json").json)
        self.seen.add(self.document.check(method, path, answer))

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body=None, **more):
        return self.call("POST", path, body, **more)

    def deploy(self, name, source):
        answer = self.call("PUT", "/v1/workflows/" + name, raw=source.encode("utf-8"))
        assert answer.status in (200, 201), answer.body
        return answer.json

    def run(self, workflow, body=None, wait="50s", **fields):
        """Starts a run and waits for its end; answers it."""
        answer = self.post("/v1/runs?wait=" + wait, {"workflow": workflow, "input": body, **fields})
        assert answer.status in (200, 201), answer.body
        return answer.json

    def wait_for(self, run_id, status, seconds=PATIENCE, is_so=lambda run: True):
        """Until the run has the status, and `is_so`; answers it."""
        def look():
            look.run = self.get("/v1/runs/" + run_id).json
            if look.run["status"] == status and is_so(look.run):
                return look.run
            assert look.run["status"] not in ("completed", "failed", "cancelled"), what()
            return None

        def what():
            return "%s is not %s but %s" % (run_id, status, look.run)
        return wait_until(look, seconds, what)

    def claim(self, wait="50s", worker="tester", **fields):
        answer = self.post("/v1/tasks/claim", {"worker": worker, "wait": wait, **fields})
        assert answer.status == 200, answer.body
        return answer.json["tasks"]

    def complete(self, task, result):
        answer = self.post("/v1/tasks/complete", {
            "results": [{"id": task["id"], "token": task["token"], "result": result}]})
        assert answer.status == 200, answer.body
        return answer.json["results"][0]

    def stream(self, path, headers=None, timeout=PATIENCE):
        """The events of an SSE stream until it ends: a list of (id, event, data)."""
        connection = self.connect(timeout)
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        events = list(read_events(response))
        connection.close()
        return response.status, events


def read_events(response):
    number = kind = data = None
    for line in response:
        text = line.decode("utf-8").rstrip("\n")
        if text.startswith("id: "):
            number = int(text[4:])
        elif text.startswith("event: "):
            kind = text[7:]
        elif text.startswith("data: "):
            data = json.loads(text[6:])
        elif text == "" and number is not None:
            yield number, kind, data
            number = kind = data = None


class ServerTest(unittest.TestCase):
    """Tests that share one server."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def assert_problem(self, answer, status, code):
        self.assertEqual((answer.status, answer.json["code"]), (status, code), answer.body)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        self.assertEqual(answer.json["status"], status)
        self.assertTrue(answer.json["detail"])

    def run_id(self):
        return self.id() + "-" + str(time.monotonic_ns())


class Node(Server):
    """A server on a store that is there already, of others perhaps."""

    def __init__(self, store, *arguments):
        super().__init__(*arguments, store=store)


def certificate(folder, name):
    """A self-made one for localhost; answers the paths of certificate and key."""
    paths = tuple(os.path.join(folder, name + end) for end in (".pem", ".key"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out",
                    paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    return paths


class TlsServer(Server):
    """Talks TLS to it; `authority` is the certificate that is trusted."""
    authority = None

    def connect(self, timeout=PATIENCE):
        context = ssl.create_default_context(cafile=self.authority)
        return http.client.HTTPSConnection("localhost", self.port, timeout=timeout, context=context)
