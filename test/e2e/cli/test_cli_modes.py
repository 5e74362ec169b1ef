"""Where commands go: a server, a store of their own, nobody; and that -o json is always JSON."""
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime, timezone

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from cli import ORDER, CommandTest  # noqa: E402
from server import ABIDE, Server  # noqa: E402


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class StoreTest(CommandTest):
    """The commands with --store: no server is there at all."""

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        super().setUp()
        self.store = os.path.join(self.folder, "own.db")
        self.where = ["--store", "sqlite:" + self.store]

    def test_a_life_without_a_server(self):
        self.deploy("double", "return Inputs.n * 2")
        self.assertEqual(self.ok("wf", "start", "double", '{"n": 21}', "--wait").out, "42\n")
        self.deploy("listener", 'return await Event.wait("prices")')
        self.ok("wf", "start", "listener", "--id", "ear")
        self.assertEqual(self.ok("wf", "ls", "--status", "suspended", "-o", "ids").out, "ear\n")
        self.assertRegex(self.ok("wf", "show", "ear").out, r"(?m)^waits for +event prices, since ")
        self.assertEqual(self.ok("emit", "prices", "7").out, "prices: published, 1 run resumed\n")
        self.assertEqual(self.ok("wf", "result", "ear", "--wait").out, "7\n")
        self.assertRegex(self.ok("wf", "watch", "ear").out, r"(?m)  finished ")
        self.assertEqual(self.ok("wf", "rm", "ear").out, "ear: removed\n")

    def test_every_group_works_on_a_store(self):
        self.deploy("order", ORDER)
        self.ok("wf", "start", "order", '{"amount": 1}', "--id", "o")
        self.ok("signal", "o", "approval", "true")
        self.ok("wf", "pause", "o")
        self.ok("wf", "resume", "o")
        self.ok("wf", "fork", "o", "--id", "o2")
        self.ok("wf", "cancel", "o2")
        self.ok("topic", "set", "t", "--consume", "all")
        self.assertEqual(self.ok("topic", "ls", "-o", "ids").out, "t\n")
        self.ok("topic", "show", "t")
        self.ok("task", "run", "mail", "--id", "m")
        self.assertIn("m", self.ok("task", "ls", "-o", "ids").lines)
        self.ok("task", "show", "m")
        self.assertEqual(self.ok("task", "run", "log", '{"message": "x"}', "--wait").code, 0)
        self.ok("queue", "pause", "default")
        self.ok("queue", "ls")
        self.ok("schedule", "set", "s", "order", "--every", "1h")
        self.ok("schedule", "pause", "s")
        self.ok("schedule", "ls")
        self.ok("schedule", "rm", "s")
        self.ok("workflow", "ls")
        self.ok("workflow", "show", "order")
        self.ok("dead", "ls")
        self.ok("stats")
        report = self.ok("doctor", "-o", "json").json
        found = {finding["check"]: finding["status"] for finding in report["findings"]}
        self.assertEqual((found["content"], found["server"]), ("ok", "ok"))
        self.assertIn("disk", found)

    def test_looking_puts_nothing_to_work(self):
        self.deploy("one", "return 1")
        self.ok("wf", "start", "one", "--id", "later", "--delay", "500ms")
        due = self.ok("wf", "show", "later", "-o", "json").json["next_wake_at"]
        now = ""
        while now <= due:  # until it is due, and once more
            now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
            self.assertEqual(self.ok("wf", "ls", "--status", "pending", "-o", "ids").out, "later\n")
        self.assertEqual(self.ok("wf", "result", "later", "--wait").out, "1\n")

    def test_looking_makes_no_store(self):
        self.refused(4, "STORE_NOT_FOUND", "wf", "ls")
        self.assertFalse(os.path.exists(self.store))

    def test_no_socket_is_left_behind(self):
        self.deploy("order", ORDER)
        self.refused(4, "WORKFLOW_NOT_FOUND", "wf", "start", "nothing")
        left = [name for name in os.listdir(self.folder) if name.startswith("abide-")]
        self.assertEqual(left, [])

    def test_interrupted_it_closes_the_store_in_order(self):
        self.deploy("order", ORDER)
        process = subprocess.Popen(
            [ABIDE, "wf", "start", "order", '{"amount": 1}', "--id", "o", "--wait", *self.where],
            stderr=subprocess.PIPE, text=True, env=self.environment())
        self.addCleanup(process.stderr.close)
        while not any(name.startswith("abide-") for name in os.listdir(self.folder)):
            self.assertIsNone(process.poll())  # its socket is there when it has the store
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("abide-")],
                         [])
        self.assertEqual(self.bare("verify", self.store).code, 0)

    def test_a_store_that_a_server_owns(self):
        server = Server(folder=self.folder)
        self.addCleanup(server.close)
        self.where = ["--store", server.store]
        answer = self.refused(1, "STORE_LOCKED", "wf", "ls")
        self.assertIn("--server", answer.err)
        self.assertIn(str(server.process.pid), answer.err)

    def test_what_is_no_store(self):
        self.where = ["--store", self.file("text.txt", "nothing but text, and no database")]
        self.refused(1, "STORE_NOT_OURS", "wf", "ls")
        self.where = ["--store", "mongodb://x"]
        self.refused(2, "STORE_URL", "wf", "ls")

    def test_a_private_folder_that_cannot_be_made(self):
        self.deploy("order", ORDER)
        self.refused(1, "LOCAL_SERVER", "stats", TMPDIR="/nowhere/at/all")


class AddressTest(CommandTest):
    def test_nobody_answers(self):
        url = "http://127.0.0.1:%d" % free_port()
        answer = self.bare("wf", "ls", "--server", url)
        self.assertEqual((answer.code, answer.out), (1, ""))
        for part in (url, "abide serve", "--store", "(SERVER_UNREACHABLE)"):
            self.assertIn(part, answer.err)
        report = self.bare("doctor", "--server", url, "-o", "json")
        self.assertEqual((report.code, report.json["ok"]), (1, False))
        self.assertEqual(self.bare("wf", "watch", "x", "--server", url).code, 1)

    def test_the_environment_and_what_wins_over_it(self):
        url, nobody = self.where[1], "http://127.0.0.1:%d" % free_port()
        store = os.path.join(self.folder, "none.db")
        self.assertEqual(self.bare("stats", ABIDE_SERVER=url).code, 0)
        self.assertEqual(self.bare("stats", ABIDE_SERVER=nobody, ABIDE_STORE=store).code, 1)
        self.assertEqual(self.bare("stats", ABIDE_STORE=store).code, 4)
        self.assertEqual(self.bare("stats", "--server", url, ABIDE_SERVER=nobody).code, 0)
        self.assertEqual(self.bare("stats", "--server", url, ABIDE_STORE=store).code, 0)
        self.assertEqual(self.bare("stats", "--store", store, ABIDE_SERVER=url).code, 4)
        self.assertEqual(self.bare("stats", ABIDE_SERVER=url + "/").code, 0)
        self.assertEqual(self.bare("stats", ABIDE_SERVER=url, http_proxy=nobody).code, 0)

    def test_bad_addresses(self):
        self.assertEqual(self.bare("stats", "--server", "localhost:7433").code, 2)
        self.assertEqual(self.bare("stats", "--server", "ftp://localhost").code, 2)
        both = self.bare("stats", "--server", "http://x", "--store", "y")
        self.assertEqual(both.code, 2)
        self.assertEqual(self.bare("stats", "-o", "xml", *self.where).code, 2)

    def test_names_of_all_kinds_reach_the_server(self):
        self.deploy("order", ORDER)
        for run_id in ("a/b", "a?b#c", "100%", "mit Leerzeichen", "日本", "..", "."):
            with self.subTest(run=run_id):
                self.ok("wf", "start", "order", '{"amount": 1}', "--id", run_id)
                self.assertEqual(self.ok("wf", "show", run_id, "-o", "ids").out, run_id + "\n")
                self.ok("signal", run_id, "a/b c", "1")
                self.ok("wf", "cancel", run_id)
        self.ok("emit", "topic/with ü", "1")
        self.assertIn("topic/with ü", self.ok("topic", "ls", "-o", "ids").lines)


class ForeignTest(CommandTest):
    """Things that answer HTTP and are no abide server."""

    def serve(self, status, body, kind="text/plain"):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append((self.path, self.headers.get("Authorization")))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        asked = self.asked = []
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.where = ["--server", "http://127.0.0.1:%d" % server.server_port]

    def test_no_reason_is_a_bad_answer(self):
        self.serve(502, b"<html>bad gateway</html>", "text/html")
        answer = self.refused(1, "BAD_ANSWER", "wf", "ls", "-o", "json")
        self.assertEqual(answer.json["error"]["status"], 502)
        self.refused(1, "BAD_ANSWER", "wf", "watch", "x")
        self.serve(200, b"hello")
        self.refused(1, "BAD_ANSWER", "wf", "ls")
        self.refused(1, "BAD_ANSWER", "wf", "show", "x")
        self.refused(1, "BAD_ANSWER", "stats")

    def test_only_safe_calls_are_repeated(self):
        problem = json.dumps({"code": "STORE_UNAVAILABLE", "detail": "away", "status": 503})
        self.serve(503, problem.encode(), "application/problem+json")
        self.refused(1, "STORE_UNAVAILABLE", "stats")
        self.assertEqual(len(self.asked), 3)
        self.asked.clear()
        self.refused(1, "STORE_UNAVAILABLE", "emit", "t", "1")
        self.assertEqual(len(self.asked), 1)
        self.asked.clear()
        self.refused(1, "STORE_UNAVAILABLE", "emit", "t", "1", "--id", "e")
        self.assertEqual(len(self.asked), 3)

    def test_the_token_is_sent(self):
        self.serve(200, b'{"items": [], "next": null}', "application/json")
        self.ok("wf", "ls", "--token", "abide_x")
        self.ok("wf", "ls", ABIDE_TOKEN="abide_y")
        self.assertEqual([token for _, token in self.asked], ["Bearer abide_x", "Bearer abide_y"])


class PatientTest(CommandTest):
    """What doctor says of a server that is not well, played by one that answers as if."""

    HEALTHY = {
        "/livez": {"status": "alive"},
        "/readyz": {"status": "ready"},
        "/version": {"version": "0.0.1"},
        "/v1/stats": {"runs": {"running": 1, "suspended": 2, "failed": 3, "paused": 0},
                      "dead_letters": 0, "disk_free_bytes": 1 << 40},
        "/v1/nodes": {"items": [{"alive": True}]},
        "/v1/queues": {"items": []},
        "/v1/topics": {"items": []},
        "/v1/workflows": {"items": []},
        "/v1/runs": {"items": []},
        "/v1/workers": {"items": [], "next": None, "functions": [], "unserved": []},
    }

    def examine(self, skew=0, **changes):
        answers = dict(self.HEALTHY, **changes)

        class Handler(http.server.BaseHTTPRequestHandler):
            def date_time_string(self, timestamp=None):
                return super().date_time_string(time.time() + skew)

            def do_GET(self):
                found = answers.get(self.path.split("?")[0])
                body = json.dumps(found if found else {"code": "STORE_UNAVAILABLE",
                                                       "detail": "it is away"}).encode()
                self.send_response(200 if found else 503)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.where = ["--server", "http://127.0.0.1:%d" % server.server_port]
        answer = self.abide("doctor", "-o", "json")
        worst = {}
        for finding in answer.json["findings"]:
            self.assertEqual(finding["advice"] is None, finding["status"] == "ok", finding)
            if finding["status"] != "ok":
                worst[finding["check"]] = finding["status"]
        self.assertEqual(answer.code, 1 if "error" in worst.values() else 0)
        return worst

    def test_versions_and_clocks_that_differ(self):
        self.assertEqual(self.examine(), {"version": "warning"})
        self.assertEqual(self.examine(skew=3600), {"version": "warning", "clock": "warning"})
        self.assertEqual(self.examine(skew=-60), {"version": "warning", "clock": "warning"})

    def test_a_store_that_is_away(self):
        self.assertEqual(self.examine(**{"/readyz": None}),
                         {"version": "warning", "store": "error"})

    def test_a_disk_that_fills_up(self):
        for free, level in ((50 << 20, "error"), (500 << 20, "warning")):
            stats = dict(self.HEALTHY["/v1/stats"], disk_free_bytes=free)
            self.assertEqual(self.examine(**{"/v1/stats": stats})["disk"], level)

    def test_work_that_does_not_get_done(self):
        old = "2001-01-01T00:00:00.000Z"
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        late = {"id": "l", "status": "suspended", "next_wake_at": old, "updated_at": now}
        stuck = {"id": "s", "status": "running", "next_wake_at": None, "updated_at": old}
        well = {"id": "w", "status": "suspended", "next_wake_at": "2199-01-01T00:00:00.000Z",
                "updated_at": old}
        self.assertNotIn("timers", self.examine(**{"/v1/runs": {"items": [well]}}))
        found = self.examine(**{"/v1/runs": {"items": [late, stuck, well]}})
        self.assertEqual((found["timers"], found["runs"]), ("error", "warning"))
        queue = {"name": "q", "queued": 3, "running": 0, "oldest_at": old, "paused": False}
        self.assertEqual(self.examine(**{"/v1/queues": {"items": [queue]}})["queues"], "warning")
        stats = dict(self.HEALTHY["/v1/stats"], dead_letters=2)
        self.assertEqual(self.examine(**{"/v1/stats": stats})["dead letters"], "warning")
        self.assertEqual(self.examine(**{"/v1/nodes": {"items": [{"alive": False}]}})["nodes"],
                         "error")
        topic = {"name": "t", "pending": 3, "cap": 3, "full": True}
        self.assertEqual(self.examine(**{"/v1/topics": {"items": [topic]}})["topics"], "warning")
        code = {"name": "c", "kind": "native", "registered": False}
        waiting = dict(well, waits_for_code=True)
        self.assertEqual(self.examine(**{"/v1/workflows": {"items": [code]},
                                         "/v1/runs": {"items": [waiting]}})["workflows"], "warning")
        self.assertNotIn("workflows", self.examine(**{"/v1/workflows": {"items": [code]},
                                                      "/v1/runs": {"items": [well]}}))


class TokenTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        store = "sqlite:" + os.path.join(folder.name, "test.db")
        made = subprocess.run([ABIDE, "token", "create", "--name", "reader", "--scope", "read",
                               "--store", store], capture_output=True, text=True, check=True)
        cls.token = made.stdout.strip()
        cls.server = Server("--require-tokens", folder=folder.name)
        cls.server.temporary = folder
        cls.where = ["--server", "http://127.0.0.1:%d" % cls.server.port]

    def test_without_a_good_token_it_is_exit_code_3(self):
        for arguments in (("wf", "ls"), ("stats",), ("wf", "watch", "x"), ("emit", "t"),
                          ("wf", "ls", "--token", "abide_wrong")):
            answer = self.refused(3, "UNAUTHORIZED", *arguments)
            self.assertIn("ABIDE_TOKEN", answer.err)
        answer = self.refused(3, "UNAUTHORIZED", "wf", "ls", "-o", "json")
        self.assertEqual(answer.json["error"]["status"], 401)
        self.ok("wf", "ls", "--token", self.token)
        self.refused(3, "FORBIDDEN", "emit", "t", "1", ABIDE_TOKEN=self.token)
        self.assertEqual(self.abide("doctor").code, 3)
        self.assertIn("token", self.abide("doctor").out)


class TlsTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.TemporaryDirectory()
        cls.certificate = os.path.join(cls.keys.name, "cert.pem")
        key = os.path.join(cls.keys.name, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=test",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
                        "-out", cls.certificate], check=True, capture_output=True)
        cls.server = Server("--tls-cert", cls.certificate, "--tls-key", key)
        cls.where = ["--server", "https://127.0.0.1:%d" % cls.server.port]

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.keys.cleanup()

    def test_a_certificate_must_be_trusted(self):
        answer = self.refused(1, "SERVER_TLS", "stats")
        self.assertIn("--ca-file", answer.err)
        self.ok("stats", "--ca-file", self.certificate)
        self.ok("stats", ABIDE_CA_FILE=self.certificate)
        self.refused(1, "SERVER_TLS", "stats", "--ca-file", "/nowhere/at/all.pem")


class JsonTest(CommandTest):
    """Every command that has -o json, with whatever it is told, prints JSON."""

    STREAMS = (["wf", "watch"],)
    SKIPPED = (["worker"], ["dev"], ["serve"], ["run"], ["changes"])  # they end when they are told to

    def commands(self):
        found, commands = [[]], []
        for path in found:
            text = self.bare(*path, "--help").out
            listed = re.search(r"\nCommands:\n((?:  \S+ .*\n)+)", text)
            if listed:
                found += [path + [line.split()[0]] for line in listed.group(1).splitlines()]
            elif re.search(r"--output \S*json", text) and path not in self.SKIPPED:
                usage = text.splitlines()[0].split(" ".join(path), 1)[1]
                required = re.sub(r"\[[^\]]*\]", "", usage)
                required = re.sub(r"--\S+( [A-Z]+)?", "", required)
                commands.append((path, [self.operand(word) for word in required.split()]))
        return commands

    def operand(self, word):
        if word.startswith("FILE"):
            return self.file("x.flow", "return 1")
        return "1" if word.startswith("ID") else "x"

    def check(self, path, answer):
        if path in self.STREAMS:
            for line in answer.out.splitlines():
                json.loads(line)
            return
        try:
            json.loads(answer.out)
        except ValueError:
            raise AssertionError("%s: %r %r" % (path, answer.out, answer.err)) from None

    def test_json_against_a_server_a_store_and_nobody(self):
        commands = self.commands()
        self.assertGreater(len(commands), 40)
        nobody = ["--server", "http://127.0.0.1:%d" % free_port()]
        store = ["--store", os.path.join(self.folder, "json.db")]
        self.where = store
        self.ok("deploy", self.file("first.flow", "return 1"))
        for where in (["--server", "http://127.0.0.1:%d" % self.server.port], store, nobody):
            for path, operands in commands:
                takes_where = "--server" in self.bare(*path, "--help").out
                arguments = [*path, *operands, "-o", "json", *(where if takes_where else [])]
                with self.subTest(command=" ".join(arguments)):
                    answer = self.bare(*arguments)
                    self.assertIn(answer.code, (0, 1, 2, 4), answer.err)
                    self.check(path, answer)
                    if where is nobody and takes_where and path != ["deploy"]:
                        self.assertIn(answer.code, (1, 2))

    def test_a_command_line_that_is_wrong_is_json_too(self):
        for form in (["-o", "json"], ["-ojson"], ["--output=json"], ["--output", "json"]):
            answer = self.abide("wf", "ls", "--colour", *form)
            self.assertEqual((answer.code, answer.json["error"]["code"]), (2, "BAD_ARGUMENT"))
            self.assertIn("--colour", answer.json["error"]["detail"])
            answer = self.abide(*["wf", "show"], *form)
            self.assertEqual((answer.code, answer.json["error"]["code"]), (2, "BAD_ARGUMENT"))
        self.assertEqual(self.abide("wf", "ls", "--colour").out, "")

    def test_empty_lists_are_json(self):
        for group in ("wf", "topic", "dead", "task", "queue", "schedule", "workflow"):
            arguments = ["--tag", "none"] if group == "wf" else []
            listed = self.ok(group, "ls", *arguments, "-o", "json").json
            self.assertIsInstance(listed["items"], list)
            self.assertIn("next", listed)


if __name__ == "__main__":
    tap.main()
