"""The libraries for Node and Python against the real server: the same tests for both.

Workers and clients are programs of their own (probe.py, probe.mjs), so that they can be stopped,
frozen and killed.
"""
import http.server
import json
import os
import queue
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

from server import ABIDE, Server, wait_until

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
PATIENCE = 120


class Probe:
    """A program on one of the libraries; what it tells arrives as dictionaries."""

    def __init__(self, command, url, **environment):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "ABIDE_SERVER": url, "PYTHONDONTWRITEBYTECODE": "1",
                 "PYTHONPATH": os.path.join(SOURCE, "sdk", "python"), **environment})
        self.events = queue.Queue()
        self.seen = []
        self.complaints = []
        self.readers = [threading.Thread(target=self.read, daemon=True),
                        threading.Thread(target=self.read_errors, daemon=True)]
        for reader in self.readers:
            reader.start()

    def read(self):
        for line in self.process.stdout:
            self.events.put(json.loads(line))
        self.events.put(None)

    def read_errors(self):
        for line in self.process.stderr:
            self.complaints.append(line)

    def next_event(self, kinds, **fields):
        """The next event of one of these kinds, with these fields."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                event = self.events.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                event = None
            if event is None:
                raise AssertionError("no %s %s; seen %s\n%s" % (kinds, fields, self.seen,
                                                                "".join(self.complaints)))
            self.seen.append(event)
            if event["event"] in kinds and all(event[key] == fields[key] for key in fields):
                return event

    def wait_for(self, kind, **fields):
        return self.next_event((kind,), **fields)

    def wait_for_line(self, *words, after=0):
        """A line of standard error with all these words, from line `after` on; answers its number."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for number, line in enumerate(self.complaints[after:], after):
                if all(word in line for word in words):
                    return number
            time.sleep(0.01)
        raise AssertionError("no line with %s in\n%s" % (words, "".join(self.complaints)))

    def signal(self, number):
        self.process.send_signal(number)

    def ended(self):
        """Its exit code, once it has ended."""
        code = self.process.wait(PATIENCE)
        for reader in self.readers:
            reader.join(PATIENCE)
        while not self.events.empty():
            event = self.events.get()
            if event is not None:
                self.seen.append(event)
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.ended()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.stderr.close()


class Proxy:
    """Stands between a program and the server; counts requests, and cuts connections when told."""

    def __init__(self, port):
        self.port = port
        self.requests = []
        self.drop_answers_of = None  # requests whose text has this lose their next answer
        self.dropped = 0
        self.turned_away = 0  # connections that came while there was no server
        self.connections = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                near.close()  # as if there were nobody
                self.turned_away += 1
                continue
            self.connections += [near, far]
            flags = {"drop": False}
            threading.Thread(target=self.forward, args=(near, far, flags), daemon=True).start()
            threading.Thread(target=self.answer, args=(far, near, flags), daemon=True).start()

    def forward(self, near, far, flags):
        try:
            while True:
                data = near.recv(1 << 20)
                if not data:
                    break
                self.requests += re.findall(rb"(?:GET|POST|PUT) (\S+) HTTP", data)
                self.note(near, data)
                if self.drop_answers_of and self.drop_answers_of in data:
                    self.drop_answers_of = None
                    flags["drop"] = True
                far.sendall(data)
        except OSError:
            pass
        self.shut(near, far)

    def note(self, connection, data):
        """Told of everything that goes to the server."""

    def answer(self, far, near, flags):
        try:
            while True:
                data = far.recv(1 << 20)
                if flags["drop"]:
                    self.dropped += 1
                    break
                if not data:
                    break
                near.sendall(data)
        except OSError:
            pass
        self.shut(near, far)

    @staticmethod
    def shut(*sockets):
        for connection in sockets:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.shut(*self.connections)

    def close(self):
        self.listener.close()
        self.cut()
        for connection in self.connections:
            connection.close()


class WorkerCase:
    """One server per test: some of them stop it."""

    def prepare(self):
        pass

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.prepare()
        self.server = Server()
        self.addCleanup(self.server.close)
        self.url = "http://127.0.0.1:%d" % self.server.port
        # A server that is started again listens where it did before.
        self.server.arguments += ("--listen", "127.0.0.1:%d" % self.server.port)

    def task(self, name, value=None, **options):
        return self.server.post("/v1/tasks", {"name": name, "input": value, **options}).json["id"]

    def task_when(self, task_id, is_wanted):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            task = self.server.get("/v1/tasks/" + task_id).json
            if is_wanted(task):
                return task
            time.sleep(0.01)
        raise AssertionError(task)

    def task_ended(self, task_id):
        return self.task_when(task_id, lambda task: task["status"] in ("completed", "failed",
                                                                       "cancelled"))

    def result_of(self, name, value=None, **options):
        return self.task_ended(self.task(name, value, **options))

    def refusing_server(self, seen, status=401, code="UNAUTHORIZED"):
        """The URL of one that refuses everything; the tokens it was shown are added to `seen`."""
        class Refusing(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                seen.append(self.headers["Authorization"])
                body = json.dumps({"status": status, "code": code, "detail": "not you"}).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/problem+json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        refusing = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
        self.addCleanup(refusing.server_close)
        threading.Thread(target=refusing.serve_forever, daemon=True).start()
        self.addCleanup(refusing.shutdown)
        return "http://127.0.0.1:%d" % refusing.server_address[1]


class SdkTest(WorkerCase):
    """Mixed into a TestCase that says how programs are run: prepare, command, file_command."""

    def probe(self, *arguments, url=None, **environment):
        probe = Probe(self.command(*arguments), url or self.url, **environment)
        self.addCleanup(probe.close)
        return probe

    def worker(self, url=None, **options):
        probe = self.probe("worker", json.dumps(options), url=url)
        probe.wait_for("ready")
        return probe

    def ask(self, scenario, url=None, **value):
        probe = self.probe("client", scenario, json.dumps(value), url=url)
        return probe.wait_for("answer")["answer"]

    # ---- clients ----

    def test_start_wait_signal_show(self):
        self.assertEqual(self.ask("basics", key="k1"), {
            "deployed": "basics", "same": True, "waited": "timeout", "result": {"n": [1, None]},
            "status": "completed", "cancelled": False})

    def test_runs_that_fail_and_requests_that_are_refused(self):
        self.assertEqual(self.ask("errors"), {
            "failed": ["failed", "not today"], "changed": True, "cancelled": "cancelled",
            "flow": [422, "FLOW_SYNTAX"], "run": [404, "RUN_NOT_FOUND"],
            "workflow": [404, "WORKFLOW_NOT_FOUND"], "signal": [409, "RUN_TERMINAL"]})

    def test_lists_go_on_over_pages(self):
        answer = self.ask("lists", tag="paged")
        self.assertEqual(answer["listed"], answer["ids"][::-1])
        self.assertEqual(answer["none"], [])

    def test_events(self):
        self.assertEqual(self.ask("events", topic="news"),
                         {"result": {"n": 1}, "first": False, "again": True})

    def test_stand_alone_tasks(self):
        answer = self.ask("tasks", queue="aside")
        self.assertEqual(answer, {"id": answer["id"], "status": "queued", "listed": [answer["id"]],
                                  "retried": False})  # it is due already

    def test_a_start_whose_answer_is_lost_starts_one_run(self):
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        proxy.drop_answers_of = b"POST /v1/runs HTTP"
        answer = self.ask("lists", tag="lossy", url=proxy.url)
        self.assertEqual(proxy.dropped, 1)
        self.assertEqual(answer["listed"], answer["ids"][::-1])

    def test_a_stream_goes_on_where_its_connection_broke(self):
        self.server.deploy("talker", "for (let i = 0; i < 4; i++) {\n"
                                     "  await Signal.next('go'); Stream.write(i) }")
        run_id = self.server.post("/v1/runs", {"workflow": "talker"}).json["id"]
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        reader = self.probe("client", "stream", json.dumps({"run": run_id}), url=proxy.url)
        reader.wait_for("entry")
        for number in range(4):
            proxy.cut()
            self.server.post("/v1/runs/%s/signals/go" % run_id, number)
            if number == 1:  # gone for good, and another one in its place
                self.server.kill()
                self.server.start()
        answer = reader.wait_for("answer")["answer"]
        self.assertEqual([seq for seq, _ in answer], list(range(1, len(answer) + 1)))
        self.assertEqual(answer[-1][1], "finished")
        self.assertGreater(proxy.requests.count(b"/v1/runs/%s/events" % run_id.encode()), 1)
        last = answer[-1][0]
        self.assertEqual(self.ask("stream", run=run_id, after=last - 2), answer[-2:])
        self.assertEqual(self.ask("stream", run=run_id, after=last), [])

    # ---- workers ----

    def test_a_flow_has_its_task_done(self):
        self.worker()
        self.server.deploy("order", "return [await Task.run('about'), await Task.run('soon', 7)]")
        run = self.server.run("order", wait="50s")
        self.assertEqual(run["status"], "completed", run)
        about, soon = run["result"]
        self.assertEqual((about["name"], about["queue"], about["attempt"], about["run"], soon),
                         ("about", "default", 1, run["id"], 7))

    def test_payloads(self):
        self.worker()
        for value in (None, [], {}, "ü\n\u0000", 1.5, True, {"a": [{"b": None}]}):
            task = self.result_of("echo", value)
            self.assertEqual((task["status"], task["result"]), ("completed", value))

    def test_errors_of_functions(self):
        self.worker()
        policy = {"attempts": 3, "retry_delay": "1ms"}
        plain = self.result_of("flop", {"kind": "plain"}, **policy)
        self.assertEqual((plain["status"], plain["attempt"]), ("failed", 3))
        self.assertEqual(plain["error"], {"type": "CardDeclined", "message": "no money"})
        final = self.result_of("flop", {"kind": "final"}, **policy)
        self.assertEqual((final["status"], final["attempt"]), ("failed", 1))
        self.assertEqual(final["error"], {"type": "NonRetryableError", "message": "never",
                                          "retryable": False, "details": {"limit": 5}})
        typed = self.result_of("flop", {"kind": "typed"}, **policy)
        self.assertEqual((typed["attempt"], typed["error"]),
                         (3, {"type": "Busy", "message": "busy", "details": [1, 2]}))
        once = self.result_of("flop", {"kind": "once"}, **policy)
        self.assertEqual((once["status"], once["result"]), ("completed", {"attempt": 2}))
        for kind in ("unwritable", "huge"):
            task = self.result_of("flop", {"kind": kind}, **policy)
            self.assertEqual((task["status"], task["attempt"], task["error"]["type"]),
                             ("failed", 1, "ResultError"), kind)
        wordy = self.result_of("flop", {"kind": "wordy"}, **policy)
        self.assertEqual((wordy["status"], wordy["attempt"]), ("failed", 3))
        self.assertEqual(wordy["error"]["message"][:3], "xxx")

    def test_a_flow_sees_the_type_and_decides_about_retries(self):
        self.worker()
        self.server.deploy("picky", """
            try { await Task.run('flop', { kind: 'typed' },
                                 { retry: { attempts: 5, delay: '1ms', nonRetryable: ['Busy'] } }) }
            catch (error) { return [error.name, error.attempts, error.message] }""")
        run = self.server.run("picky", wait="50s")
        self.assertEqual(run["result"][:2], ["TaskError", 1], run)

    def test_results_travel_together(self):
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        ids = [self.task("echo", number) for number in range(300)]
        self.worker(url=proxy.url, concurrency=100)
        for number, task_id in enumerate(ids):
            self.assertEqual(self.task_ended(task_id)["result"], number)
        claims = proxy.requests.count(b"/v1/tasks/claim")
        completions = proxy.requests.count(b"/v1/tasks/complete")
        self.assertTrue(0 < claims < 150 and 0 < completions < 150, (claims, completions))

    def test_a_result_whose_answer_is_lost_is_told_again(self):
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        proxy.drop_answers_of = b"POST /v1/tasks/complete"
        worker = self.worker(url=proxy.url)
        self.assertEqual(self.result_of("echo", 5)["result"], 5)
        self.assertEqual(self.result_of("echo", 6)["result"], 6)
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.ended(), 0)
        self.assertEqual(proxy.dropped, 1)
        self.assertGreaterEqual(proxy.requests.count(b"/v1/tasks/complete"), 3)

    def test_no_more_at_once_than_allowed(self):
        worker = self.worker(concurrency=3)
        ids = [self.task("slow", {"seconds": 0.1}) for _ in range(12)]
        for task_id in ids:
            self.assertEqual(self.task_ended(task_id)["status"], "completed")
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.ended(), 0)
        most = now = 0
        for event in worker.seen:
            now += {"begin": 1, "end": -1}.get(event["event"], 0)
            most = max(most, now)
        self.assertEqual(most, 3)

    def test_heartbeats_keep_a_task_that_takes_longer_than_its_lease(self):
        self.worker(lease="2s")
        task = self.result_of("slow", {"seconds": 5})
        self.assertEqual((task["status"], task["attempt"]), ("completed", 1))

    def test_a_short_heartbeat_time_out_is_kept(self):
        self.worker(lease="1h", heartbeat="1h")
        task = self.result_of("slow", {"seconds": 5}, heartbeat_timeout="2s")
        self.assertEqual((task["status"], task["attempt"]), ("completed", 1))

    def test_progress_is_shown(self):
        self.worker()
        task_id = self.task("slow", {"seconds": 600, "progress": {"done": 0.5}})
        self.assertEqual(self.task_when(task_id, lambda task: task["progress"])["progress"],
                         {"done": 0.5})

    def test_cancelling_reaches_the_function(self):
        worker = self.worker(heartbeat="100ms")
        self.server.deploy("long", "await Task.run('slow', { seconds: 600 })")
        run_id = self.server.post("/v1/runs", {"workflow": "long"}).json["id"]
        task_id = worker.wait_for("begin")["id"]
        self.server.post("/v1/runs/%s/cancel" % run_id, {"grace": 0})
        self.assertEqual(worker.wait_for("cancelled")["reason"], "cancelled")
        self.assertEqual(self.task_ended(task_id)["status"], "cancelled")
        self.assertEqual(self.result_of("echo", 1)["result"], 1)

    def test_a_killed_worker_s_task_is_done_by_another(self):
        first = self.worker(lease="1s")
        task_id = self.task("slow", {"seconds": 600}, attempts=2, retry_delay="1ms")
        first.wait_for("begin")
        stale = self.server.get("/v1/tasks/" + task_id).json
        first.process.kill()
        second = self.worker(lease="1s")
        self.assertEqual(second.wait_for("begin", id=task_id)["attempt"], 2)
        self.assertNotEqual(self.server.get("/v1/tasks/" + task_id).json["worker"], stale["worker"])

    def test_a_frozen_worker_is_told_that_it_lost_its_lease(self):
        first = self.worker(lease="1s", concurrency=1)  # so that it does not wait for another
        task_id = self.task("slow", {"seconds": 5}, attempts=2, retry_delay="1ms")
        first.wait_for("begin")
        first.signal(signal.SIGSTOP)
        self.addCleanup(lambda: first.process.poll() is None and first.signal(signal.SIGCONT))
        second = self.worker(lease="1s")
        second.wait_for("begin", id=task_id, attempt=2)
        first.signal(signal.SIGCONT)
        self.assertEqual(first.wait_for("cancelled", id=task_id)["reason"], "lease lost")
        task = self.task_ended(task_id)
        self.assertEqual((task["status"], task["attempt"]), ("completed", 2))
        second.wait_for("end", id=task_id)

    def test_a_late_result_is_refused_and_changes_nothing(self):
        worker = self.worker(lease="1s", concurrency=1)
        task_id = self.task("stubborn", {"seconds": 3}, attempts=2, retry_delay="1ms")
        worker.wait_for("begin")
        worker.signal(signal.SIGSTOP)
        self.addCleanup(lambda: worker.process.poll() is None and worker.signal(signal.SIGCONT))
        other = self.server.claim(names=["stubborn"], wait="60s", lease="60s")[0]
        self.assertEqual((other["id"], other["attempt"]), (task_id, 2))
        worker.signal(signal.SIGCONT)
        while not any("refused" in line for line in worker.complaints):
            self.assertEqual(self.server.get("/v1/tasks/" + task_id).json["status"], "leased")
            self.assertIsNone(worker.process.poll())
            time.sleep(0.02)
        self.server.complete(other, "the other one's")
        self.assertEqual(self.task_ended(task_id)["result"], "the other one's")

    def test_a_server_may_go_away_and_come_back(self):
        worker = self.worker(lease="60s")
        task_id = self.task("slow", {"seconds": 1})
        worker.wait_for("begin", id=task_id)
        self.server.kill()
        worker.wait_for("end", id=task_id)
        self.server.start()
        task = self.task_ended(task_id)
        self.assertEqual((task["status"], task["result"], task["attempt"]), ("completed", "slept", 1))
        self.assertEqual(self.result_of("echo", "again")["result"], "again")
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        self.assertEqual(self.result_of("echo", "and again")["result"], "and again")

    def test_stopping_lets_functions_finish_and_claims_no_more(self):
        worker = self.worker()
        task_id = self.task("slow", {"seconds": 1})
        worker.wait_for("begin", id=task_id)
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.ended(), 0)
        self.assertIn({"event": "stopped"}, worker.seen)
        self.assertEqual(self.server.get("/v1/tasks/" + task_id).json["status"], "completed")
        later = self.task("echo", 1)
        self.assertEqual([task["attempt"] for task in self.server.claim(names=["echo"])], [1])
        self.assertEqual(self.server.get("/v1/tasks/" + later).json["status"], "leased")

    def test_an_idle_worker_stops_at_once_though_its_claim_waits(self):
        worker = self.worker(poll="60s", grace="600s")
        self.assertEqual(self.result_of("echo", 1)["result"], 1)
        worker.signal(signal.SIGINT)
        self.assertEqual(worker.ended(), 0)

    def test_what_does_not_finish_in_time_is_handed_back(self):
        worker = self.worker(grace="100ms", lease="1h")
        soft = self.task("slow", {"seconds": 600})
        hard = self.task("stubborn", {"seconds": 600})
        worker.wait_for("begin")
        worker.wait_for("begin")
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.wait_for("cancelled", id=soft)["reason"], "stopping")
        self.assertEqual(worker.ended(), 0)
        tasks = self.server.claim(max=10)
        self.assertEqual(sorted((task["id"], task["attempt"]) for task in tasks),
                         sorted([(soft, 1), (hard, 1)]))

    def test_a_task_belongs_to_the_trace_its_run_was_started_under(self):
        self.worker()
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        answer = self.ask("traced", traceparent="00-%s-00f067aa0ba902b7-01" % trace)
        self.assertRegex(answer, "^00-%s-[0-9a-f]{16}-01$" % trace)

    def test_tokens(self):
        store = "sqlite:" + os.path.join(self.folder, "guarded.db")
        tokens = {}
        for scope in ("client", "worker"):
            done = subprocess.run([ABIDE, "token", "create", "--store", store, "--name", scope,
                                   "--scope", scope], capture_output=True, text=True, check=True,
                                  timeout=PATIENCE)
            tokens[scope] = done.stdout.strip()
        self.server.stop()
        self.server.store = store
        self.server.arguments += ("--require-tokens",)
        self.server.start()
        self.worker(token=tokens["worker"])
        program = self.probe("client", "basics", json.dumps({"key": "k"}),
                             ABIDE_TOKEN=tokens["client"])
        self.assertEqual(program.wait_for("answer")["answer"]["status"], "completed")
        client = {"Authorization": "Bearer " + tokens["client"]}
        task = self.server.post("/v1/tasks", {"name": "echo", "input": 4}, headers=client).json
        while task["status"] != "completed":
            task = self.server.call("GET", "/v1/tasks/" + task["id"], headers=client).json
            time.sleep(0.01)
        self.assertEqual(task["result"], 4)
        stranger = self.probe("worker", json.dumps({"token": tokens["client"]}))
        self.assertEqual(stranger.wait_for("refused")["code"], "FORBIDDEN")

    def test_the_token_is_sent_and_a_refused_one_ends_the_worker(self):
        seen = []
        worker = self.worker(url=self.refusing_server(seen), token="s3cret")
        self.assertEqual(worker.wait_for("refused")["code"], "UNAUTHORIZED")
        self.assertEqual(worker.ended(), 3)
        self.assertEqual(set(seen), {"Bearer s3cret"})

    # ---- what a worker says, with nothing configured ----

    def test_a_function_that_fails_is_told_with_its_traceback(self):
        worker = self.worker()
        self.server.deploy("order", "await Task.run('flop', { kind: 'plain' }, { retry: { attempts: 1 } })")
        run = self.server.run("order")
        self.assertEqual(run["status"], "failed")
        at = worker.wait_for_line("ERROR", "flop, attempt 1, run " + run["id"])
        worker.wait_for_line("CardDeclined", "no money", after=at)
        worker.wait_for_line("probe.", "flop" if self.names[0].endswith("mjs") else "line", after=at)
        self.result_of("flop", {"kind": "final"})  # one that was raised on purpose is told as well
        worker.wait_for_line("ERROR", "flop", "run none", after=at + 1)

    def test_a_worker_says_when_it_is_connected_when_it_is_not_and_when_it_is_again(self):
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        worker = self.worker(url=proxy.url, name="w7", queues=["default", "mail"])
        worker.wait_for_line("INFO", "connected to " + proxy.url, "w7",
                             "asks for about, echo, flop, slow, soon, stubborn of queue default, mail")
        self.server.kill()
        proxy.cut()
        lost = worker.wait_for_line("WARNING", "connection to %s lost" % proxy.url)
        wait_until(lambda: proxy.turned_away >= 4)  # it has tried more than once
        self.server.start()
        worker.wait_for_line("INFO", "connected again to " + proxy.url, after=lost)
        self.assertEqual(self.result_of("echo", 1)["result"], 1)
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.ended(), 0)
        about = [line for line in worker.complaints if "connect" in line]
        self.assertEqual(len(about), 3, about)  # once per change

    def test_a_worker_says_that_there_is_no_server(self):
        self.server.kill()
        worker = self.worker()
        worker.wait_for_line("WARNING", "cannot reach " + self.url)
        self.server.start()
        worker.wait_for_line("INFO", "connected", "to " + self.url)

    def test_a_worker_that_is_refused_says_what_to_do(self):
        for status, token, words in ((401, "s3cret", ("does not know this token", "--scope worker", "ABIDE_TOKEN")),
                                     (401, None, ("none was given", "--scope worker", "ABIDE_TOKEN")),
                                     (403, "s3cret", ("lacks the scope worker", "abide token create")),
                                     (404, None, ("has no such route", "ABIDE_SERVER"))):
            url = self.refusing_server([], status, "SOME_CODE")
            worker = self.worker(url=url, **({"token": token} if token else {}))
            worker.wait_for_line("ERROR", url + " refuses worker", "SOME_CODE", *words)
            self.assertEqual(worker.ended(), 3)

    def test_a_worker_says_how_it_has_stopped(self):
        worker = self.worker()
        self.result_of("echo", 1)
        self.result_of("flop", {"kind": "final"})
        self.task("slow", {"seconds": 1})
        worker.wait_for("begin")
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.ended(), 0)
        at = worker.wait_for_line("INFO", "stops", "waits up to 30 s for the 1 tasks that run")
        worker.wait_for_line("INFO", "has stopped: 2 tasks done, 1 failed, 0 handed back", after=at)

    # ---- documentation ----

    def test_the_examples_of_the_readme_run(self):
        with open(self.readme, encoding="utf-8") as file:
            blocks = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```", file.read(), re.S | re.M))
        for name in self.names:
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(blocks[name])
        environment = {**os.environ, "ABIDE_SERVER": self.url, "PYTHONDONTWRITEBYTECODE": "1",
                       "PYTHONPATH": os.path.join(SOURCE, "sdk", "python")}
        commands = [self.file_command(os.path.join(self.folder, name)) for name in self.names]
        worker = subprocess.Popen(commands[0], env=environment, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: worker.poll() is None and worker.kill())
        done = subprocess.run(commands[1], env=environment, capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertIn(self.result_line, lines)
        self.assertTrue(any(line.endswith(' failed: task "charge" failed: nothing to charge')
                            for line in lines), lines)
        self.assertTrue(any(line.endswith("finished") for line in lines), lines)
        self.assertTrue(lines[-1].endswith(" completed"), lines)
        done = subprocess.run(commands[2], env=environment, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^[Tt]rue\n404 SCHEDULE_NOT_FOUND .*nightly.*\n\Z")
        worker.terminate()
        self.assertEqual(worker.wait(PATIENCE), 0)
