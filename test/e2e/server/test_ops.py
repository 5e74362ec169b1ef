"""What an operator relies on: settings, reload, logs, the service manager, TLS, draining, limits."""
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import unittest
import unittest.mock
import warnings

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import (ABIDE, PATIENCE, Server, ServerTest, TlsServer, certificate,  # noqa: E402
                    wait_until)


class Folder(unittest.TestCase):
    """Each test in a folder of its own, with no settings from outside."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def abide(self, *arguments, **environment):
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith("ABIDE_")}
        return subprocess.run([ABIDE, *arguments], capture_output=True, text=True, timeout=PATIENCE,
                              cwd=self.folder, env={**clean, **environment})

    def settings(self, *arguments, **environment):
        done = self.abide("config", "print", "-o", "json", *arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["settings"]

    def refused(self, *arguments, **environment):
        done = self.abide("config", "check", *arguments, **environment)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr

    def server(self, *arguments, cls=Server):
        server = cls(*arguments)
        self.addCleanup(server.close)
        return server


class SettingsTest(Folder):
    def test_flags_win_over_the_environment_over_the_file_over_defaults(self):
        self.write("abide.toml", 'listen = "127.0.0.1:1"\nthreads = 3\nlog-level = "warn"\n')
        values = self.settings("--listen", "127.0.0.1:3", ABIDE_LISTEN="127.0.0.1:2",
                               ABIDE_THREADS="5")
        shown = {name: (values[name]["value"], values[name]["source"])
                 for name in ("listen", "threads", "log-level", "store")}
        self.assertEqual(shown, {"listen": ("127.0.0.1:3", "--listen"),
                                 "threads": (5, "ABIDE_THREADS"),
                                 "log-level": ("warn", "abide.toml:3"),
                                 "store": ("sqlite:abide.db", "default")})

    def test_what_is_printed_is_a_settings_file_that_means_the_same(self):
        self.write("abide.toml", 'cors-origins = ["https://a.example", "https://b.example"]\n'
                                 '[max]\nbody-size = "8M"\n[log]\nformat = "json"\n')
        printed = self.abide("config", "print", "--require-tokens").stdout
        values = tomllib.loads(printed)
        self.assertEqual(values["cors-origins"], ["https://a.example", "https://b.example"])
        self.assertEqual((values["max-body-size"], values["log-format"], values["require-tokens"]),
                         ("8M", "json", True))
        again = self.abide("config", "print", "--config", self.write("again.toml", printed)).stdout
        self.assertEqual(tomllib.loads(again), values)

    def test_every_setting_can_be_given_in_every_way(self):
        values = self.settings()
        other = {"store": "memory:", "listen": "127.0.0.1:9", "tls-cert": "c", "tls-key": "k",
                 "cors-origins": "https://x.example", "log-level": "error", "log-format": "json", "idle-timeouts": "orders=off",
                 "max-resident-memory": "64M", "event-consume": "all", "plugin": "x.so"}
        by_kind = {"flag": "true", "count": "5", "size": "16K", "duration": "11s", "text": "x"}
        for name, setting in values.items():
            kind = type(setting["value"])
            text = other.get(name) or by_kind[setting["kind"]]
            flag = ["--" + name] if kind is bool else ["--" + name, text]
            by_flag = self.settings(*flag)[name]
            by_variable = self.settings(**{setting["variable"]: text})[name]
            toml = text if kind in (bool, int) else json.dumps([text] if kind is list else text)
            by_file = self.settings("--config", self.write("x.toml", "%s = %s\n" % (name, toml)))[name]
            with self.subTest(name=name):
                self.assertEqual(by_flag["value"], by_variable["value"])
                self.assertEqual(by_flag["value"], by_file["value"])
                self.assertNotEqual(by_flag["value"], setting["value"])
                self.assertEqual((by_flag["source"], by_variable["source"]),
                                 ("--" + name, setting["variable"]))
                self.assertTrue(setting["about"])

    def test_every_setting_is_documented(self):
        with open(os.path.join(os.environ["ABIDE_SOURCE_DIR"], "docs", "configuration.md"),
                  encoding="utf-8") as file:
            text = file.read()
        for name, setting in self.settings().items():
            row = [line for line in text.splitlines() if line.startswith("| `%s` |" % name)]
            self.assertEqual(len(row), 1, name)
            self.assertIn("`%s`" % setting["default"] if setting["default"] else "none", row[0])
            self.assertEqual("| reload |" in row[0], setting["reloadable"], row[0])

    def test_durations_and_sizes_take_numbers(self):
        self.write("abide.toml", "drain-timeout = 90\nslow-request = 0.25\nmax-body-size = 65536\n")
        values = self.settings()
        self.assertEqual((values["drain-timeout"]["value"], values["slow-request"]["value"],
                          values["max-body-size"]["value"]), ("90", "0.25", "65536"))

    def test_the_file_is_found_or_named(self):
        self.write("abide.toml", "threads = 3")
        other = self.write("other.toml", "threads = 4")
        self.assertEqual(self.settings()["threads"]["value"], 3)
        self.assertEqual(self.settings(ABIDE_CONFIG=other)["threads"]["value"], 4)
        self.assertEqual(self.settings("--config", "/dev/null")["threads"]["value"], 2)
        self.assertIn("FILE_NOT_READ", self.refused("--config", "missing.toml"))

    def test_mistakes_are_shown_with_their_place(self):
        for text, expected in (
                ("lisen = 1", ["abide.toml:1:1:", 'did you mean "listen"?', "UNKNOWN_SETTING"]),
                ("[log]\nlevl = 'x'", ["abide.toml:2:1:", 'did you mean "log-level"?']),
                ("max_body_size = 1", ["abide.toml:1:1:", 'did you mean "max-body-size"?']),
                ("zzzzzz = 1", ["abide.toml:1:1:", "config print", "UNKNOWN_SETTING"]),
                ("\nthreads = 'x'", ["abide.toml:2:1:", "an integer", "BAD_SETTING"]),
                ("threads = 0", ["abide.toml:1:1:", "between 1 and 64"]),
                ("listen = 1", ["abide.toml:1:1:", "a string"]),
                ("insecure = 'yes'", ["abide.toml:1:1:", "true or false"]),
                ("idle-timeout = 'soon'", ["abide.toml:1:1:", "a duration such as"]),
                ("max-body-size = 'big'", ["abide.toml:1:1:", "a size such as"]),
                ("max-body-size = '1G'", ["abide.toml:1:1:", "between"]),
                ("log-level = 'loud'", ["abide.toml:1:1:", "debug|info|warn|error"]),
                ("cors-origins = 'a.example'", ["abide.toml:1:1:", "an origin such as"]),
                ("cors-origins = ['https://a.example/x']", ["an origin such as"]),
                ("cors-origins = [1]", ["an array of strings"]),
                ("log-level = 'info'\n[log]\nlevel = 'info'", ["abide.toml:3:1:", "twice"]),
                ("run-retention = 1979-05-27", ["abide.toml:1:17:", "dates", "BAD_TOML"]),
                ("listen = ", ["abide.toml:1:10:", "BAD_TOML"])):
            self.write("abide.toml", text)
            said = self.refused()
            for part in expected:
                self.assertIn(part, said, text)

    def test_mistakes_in_variables_and_flags_name_them(self):
        self.assertIn("ABIDE_THREADS: threads", self.refused(ABIDE_THREADS="many"))
        self.assertIn("--max-wait: max-wait", self.refused("--max-wait", "long"))
        done = self.abide("serve", "--max-wait", "long")
        self.assertEqual(done.returncode, 2)
        self.assertIn("BAD_SETTING", done.stderr)

    def test_check_says_good_and_notes_stray_variables(self):
        self.write("abide.toml", "threads = 3")
        done = self.abide("config", "check", ABIDE_LISTN="x", ABIDE_TOKEN="y")
        self.assertEqual((done.returncode, done.stdout), (0, "abide.toml is good\n"))
        self.assertIn("ABIDE_LISTN", done.stderr)
        self.assertNotIn("ABIDE_TOKEN", done.stderr)

    def test_passwords_are_not_shown(self):
        store = "postgres://user:secret@db.example/abide"
        for form in ("toml", "json"):
            done = self.abide("config", "print", "-o", form, "--store", store)
            self.assertNotIn("secret", done.stdout)
            self.assertIn("postgres://user:***@db.example/abide", done.stdout)

    def test_dev_has_the_same_settings(self):
        self.write("abide.toml", "lisen = 1")
        done = self.abide("dev")
        self.assertEqual(done.returncode, 2)
        self.assertIn("abide.toml:1:1:", done.stderr)
        self.write("abide.toml", 'listen = "192.0.2.1:1"')
        done = self.abide("dev")
        self.assertEqual(done.returncode, 1)
        self.assertIn("192.0.2.1", done.stderr)
        self.assertIn("--max-body-size", self.abide("dev", "--help").stdout)

    def test_bad_forms_and_operands(self):
        self.assertEqual(self.abide("config", "print", "-o", "yaml").returncode, 2)
        self.assertEqual(self.abide("config", "print", "extra").returncode, 2)
        self.assertEqual(self.abide("config").returncode, 2)
        self.assertIn("--max-wait", self.abide("serve", "--help").stdout)


class LogTest(Folder):
    def test_text_lines_have_time_and_level(self):
        server = self.server("--log-level", "debug")
        server.get("/v1/stats?x")
        wait_until(lambda: any("/v1/stats" in line for line in server.lines))
        for line in server.lines:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info |warn ) \S")
        self.assertTrue(any(re.search(r"debug GET /v1/stats 400 in \d+ ms", line)
                            for line in server.lines), server.lines)

    def test_json_lines_are_json(self):
        server = self.server("--log-format", "json", "--log-level", "debug")
        server.get("/v1/runs/%22quoted%22%0aline")
        wait_until(lambda: any("quoted" in line for line in server.lines))
        server.stop()
        for line in server.lines:
            self.assertEqual(sorted(json.loads(line)), ["level", "message", "time"])

    def test_slow_requests_are_warnings_and_patient_ones_are_not(self):
        server = self.server("--slow-request", "50ms")
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
            client.sendall(b"POST /v1/events/slow HTTP/1.1\r\nHost: localhost\r\n"
                           b"Content-Length: 4\r\n\r\nnu")
            time.sleep(0.2)
            client.sendall(b"ll")
            client.recv(4096)
        server.claim(wait="200ms")
        wait_until(lambda: any("slow: POST /v1/events/slow 202" in line for line in server.lines),
                   what=server.lines)
        self.assertFalse(any("claim" in line for line in server.lines), server.lines)

    def test_what_is_below_the_level_is_not_logged(self):
        server = self.server("--slow-request", "0")
        server.get("/livez")
        server.stop()
        self.assertFalse(any("livez" in line for line in server.lines), server.lines)


class ReloadTest(Folder):
    def start(self, text, *arguments):
        self.file = self.write("s.toml", text)
        return self.server("--config", self.file, *arguments)

    def reload(self, server, text=None):
        """Answers the lines that were logged meanwhile."""
        if text is not None:
            self.write("s.toml", text)
        before = len(server.lines)
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any("reloaded" in line or "read again" in line
                               for line in server.lines[before:]))
        return server.lines[before:]

    def test_what_can_change_changes_and_what_cannot_is_said(self):
        server = self.start('log-level = "info"\nthreads = 2\n')
        lines = self.reload(server, 'log-level = "debug"\nthreads = 3\nmax-body-size = "1K"\n')
        self.assertTrue(any("log-level: info -> debug" in line for line in lines), lines)
        self.assertTrue(any("threads: 2 -> 3 needs a restart" in line for line in lines), lines)
        answer = server.call("POST", "/v1/events/x", raw=b'"' + b"x" * 2000 + b'"')
        self.assertEqual((answer.status, answer.json["code"]), (413, "BODY_TOO_LARGE"))
        wait_until(lambda: any("POST /v1/events/x 413" in line for line in server.lines))
        lines = self.reload(server)  # the same again: only what needs a restart is repeated
        self.assertFalse(any("log-level" in line for line in lines), lines)
        self.assertTrue(any("threads: 2 -> 3 needs a restart" in line for line in lines), lines)

    def test_bad_settings_change_nothing(self):
        server = self.start('max-body-size = "1M"\n')
        lines = self.reload(server, 'max-body-size = "1K"\nlisen = 1\n')
        self.assertTrue(any("error" in line and "s.toml:2:1" in line for line in lines), lines)
        answer = server.call("POST", "/v1/events/x", raw=b'"' + b"x" * 2000 + b'"')
        self.assertEqual(answer.status, 202)

    def test_origins_can_change(self):
        server = self.start("")
        page = {"Origin": "https://app.example"}
        self.assertEqual(server.call("GET", "/v1/runs", headers=page).status, 403)
        self.reload(server, 'cors-origins = ["https://app.example"]\n')
        answer = server.call("GET", "/v1/runs", headers=page)
        self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]),
                         (200, "https://app.example"))

    def test_what_is_in_force_can_be_asked_for(self):
        server = self.start("", "--task-threads", "3")

        def settings():
            return {item["name"]: item for item in server.get("/v1/settings").json["items"]}
        before = settings()
        self.assertEqual((before["task-threads"]["value"], before["task-threads"]["source"]), (3, "flag"))
        self.assertEqual((before["max-body-size"]["value"], before["max-body-size"]["source"]), ("4160K", "default"))
        self.reload(server, 'max-body-size = "1K"\nlisten = "127.0.0.1:1"\n')
        after = settings()
        self.assertEqual((after["max-body-size"]["value"], after["max-body-size"]["source"]), ("1K", "file"))
        self.assertEqual(after["listen"]["value"], "127.0.0.1:0", "what needs a restart stays")
        self.assertEqual(set(after["store"]), {"name", "value", "source", "description"})
        text = self.abide("settings", "--server", "http://127.0.0.1:%d" % server.port).stdout
        self.assertRegex(text, r'max-body-size +"1K" +file +body of a request')

    def test_tokens_can_be_required(self):
        server = self.start("")
        token = server.post("/v1/tokens", {"name": "a", "scopes": ["read"]}).json["token"]
        self.reload(server, "require-tokens = true\n")
        self.assertEqual(server.get("/v1/runs").status, 401)
        answer = server.call("GET", "/v1/runs", headers={"Authorization": "Bearer " + token})
        self.assertEqual(answer.status, 200)

    def test_the_log_format_can_change(self):
        server = self.start("")
        lines = self.reload(server, 'log-format = "json"\n')
        self.assertEqual(json.loads(lines[-1])["level"], "info")


class CorsTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--cors-origins", "https://app.example",
                            "--cors-origins", "http://localhost:3000")

    def test_preflights_of_configured_origins_are_answered(self):
        answer = self.server.call("OPTIONS", "/v1/runs/x/cancel", headers={
            "Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type"})
        self.assertEqual((answer.status, answer.body), (204, ""))
        self.assertEqual(answer.headers["Access-Control-Allow-Origin"], "http://localhost:3000")
        self.assertEqual(answer.headers["Access-Control-Allow-Methods"], "POST")
        self.assertIn("Authorization", answer.headers["Access-Control-Allow-Headers"])
        self.assertIn("Idempotency-Key", answer.headers["Access-Control-Allow-Headers"])
        self.assertEqual(answer.headers["Vary"], "Origin")
        self.assertNotIn("Access-Control-Allow-Credentials", answer.headers)

    def test_answers_problems_and_streams_can_be_read_by_them(self):
        page = {"Origin": "https://app.example"}
        self.server.deploy("done", "return 1")
        run = self.server.run("done")["id"]
        for path in ("/v1/runs", "/v1/runs/none", "/v1/nothing", "/v1/runs/%s/events" % run):
            answer = self.server.call("GET", path, headers=page)
            self.assertEqual(answer.headers.get("Access-Control-Allow-Origin"),
                             "https://app.example", path)

    def test_others_get_nothing(self):
        answer = self.server.call("OPTIONS", "/v1/runs", headers={
            "Origin": "https://evil.example", "Access-Control-Request-Method": "POST"})
        self.assertEqual(answer.status, 405)
        self.assertNotIn("Access-Control-Allow-Origin", answer.headers)
        answer = self.server.call("GET", "/v1/runs", headers={"Origin": "https://evil.example"})
        self.assert_problem(answer, 403, "ORIGIN_NOT_ALLOWED")


class TlsTest(Folder):
    def certificate(self, name):
        return certificate(self.folder, name)

    def copy(self, pair, name):
        for path, end in zip(pair, (".pem", ".key")):
            with open(path, "rb") as source, open(os.path.join(self.folder, name + end), "wb") as to:
                to.write(source.read())

    def serial(self, server):
        text = ssl.get_server_certificate(("localhost", server.port))
        return text.strip()

    def test_served_and_replaced_while_running(self):
        first, second = self.certificate("first"), self.certificate("second")
        self.copy(first, "live")
        live = os.path.join(self.folder, "live")
        TlsServer.authority = first[0]
        server = self.server("--tls-cert", live + ".pem", "--tls-key", live + ".key", cls=TlsServer)
        self.assertEqual(server.get("/readyz").status, 200)
        with open(first[0], encoding="utf-8") as file:
            self.assertEqual(self.serial(server), file.read().strip())
        held = server.connect()
        held.request("GET", "/livez")
        self.assertEqual(held.getresponse().read() and 200, 200)
        # A key that does not belong to the certificate: the old pair stays.
        self.copy((second[0], first[1]), "live")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any("BAD_CERTIFICATE" in line for line in server.lines))
        self.assertEqual(server.get("/readyz").status, 200)
        self.copy(second, "live")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any("read again" in line for line in server.lines))
        with open(second[0], encoding="utf-8") as file:
            self.assertEqual(self.serial(server), file.read().strip())
        TlsServer.authority = second[0]
        self.assertEqual(server.get("/readyz").status, 200)
        held.request("GET", "/livez")  # a connection that was there goes on
        self.assertEqual(held.getresponse().status, 200)
        held.close()

    def test_versions_before_1_2_are_refused(self):
        pair = self.certificate("a")
        TlsServer.authority = pair[0]
        server = self.server("--tls-cert", pair[0], "--tls-key", pair[1], cls=TlsServer)

        def shake(version):
            context = ssl.create_default_context(cafile=pair[0])
            context.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                context.minimum_version = context.maximum_version = version
            with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as client:
                return context.wrap_socket(client, server_hostname="localhost").version()
        self.assertEqual(shake(ssl.TLSVersion.TLSv1_2), "TLSv1.2")
        self.assertEqual(shake(ssl.TLSVersion.TLSv1_3), "TLSv1.3")
        for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            with self.assertRaises(OSError):
                shake(version)

    def test_plain_http_is_not_answered(self):
        pair = self.certificate("a")
        TlsServer.authority = pair[0]
        server = self.server("--tls-cert", pair[0], "--tls-key", pair[1], cls=TlsServer)
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
            client.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertNotIn(b"HTTP/1.1 200", client.recv(4096))
        self.assertEqual(server.get("/livez").status, 200)

    def test_files_that_cannot_be_used(self):
        one, other = self.certificate("one"), self.certificate("other")
        garbage = self.write("garbage.pem", "not a certificate")
        store = ("serve", "--store", "memory:", "--listen", "127.0.0.1:0")
        for arguments, code in ((("--tls-cert", one[0], "--tls-key", other[1]), "BAD_CERTIFICATE"),
                                (("--tls-cert", garbage, "--tls-key", one[1]), "BAD_CERTIFICATE"),
                                (("--tls-cert", one[0], "--tls-key", garbage), "BAD_CERTIFICATE"),
                                (("--tls-cert", one[0]), "BAD_CERTIFICATE"),
                                (("--tls-key", one[1]), "BAD_CERTIFICATE"),
                                (("--tls-cert", "none.pem", "--tls-key", one[1]), "FILE_NOT_READ")):
            done = self.abide(*store, *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(code, done.stderr)


class ManagerTest(Folder):
    """What systemd says and hears."""

    def setUp(self):
        super().setUp()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)
        self.path = os.path.join(self.folder, "notify")
        self.socket.bind(self.path)
        self.socket.settimeout(PATIENCE)

    def start(self, *arguments, fds=(), prepare=None, **environment):
        process = subprocess.Popen(
            [ABIDE, "serve", "--store", "sqlite:" + self.folder + "/m.db", *arguments],
            env={**os.environ, "NOTIFY_SOCKET": self.path, **environment}, pass_fds=fds,
            preexec_fn=prepare, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def heard(self):
        return self.socket.recv(4096).decode().split("\n")

    def test_ready_reloading_stopping(self):
        process = self.start("--listen", "127.0.0.1:0")
        self.assertEqual(self.heard()[0], "READY=1")
        process.send_signal(signal.SIGHUP)
        reloading = self.heard()
        self.assertEqual(reloading[0], "RELOADING=1")
        self.assertRegex(reloading[1], r"^MONOTONIC_USEC=\d+$")
        self.assertEqual(self.heard()[0], "READY=1")
        process.terminate()
        self.assertEqual(self.heard()[0], "STOPPING=1")
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_the_watchdog_hears_of_us(self):
        self.start("--listen", "127.0.0.1:0", WATCHDOG_USEC="200000")
        self.assertEqual(self.heard()[0], "READY=1")
        for _ in range(3):
            self.assertEqual(self.heard(), ["WATCHDOG=1"])

    def test_a_watchdog_meant_for_another_process_is_ignored(self):
        process = self.start("--listen", "127.0.0.1:0", WATCHDOG_USEC="50000", WATCHDOG_PID="1")
        self.assertEqual(self.heard()[0], "READY=1")
        time.sleep(0.3)
        process.terminate()
        self.assertEqual(self.heard()[0], "STOPPING=1")

    def handed_over(self, listener, *arguments):
        """A server that gets `listener` as its descriptor 3."""
        script = 'exec "$0" "$@" 3<&%d' % listener.fileno()
        process = subprocess.Popen(
            ["/bin/sh", "-c", 'LISTEN_PID=$$; LISTEN_FDS=1; export LISTEN_PID LISTEN_FDS; ' + script,
             ABIDE, "serve", "--store", "sqlite:" + self.folder + "/m.db", *arguments],
            env={**os.environ, "NOTIFY_SOCKET": self.path}, pass_fds=(listener.fileno(),),
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_a_socket_that_is_handed_over_is_used(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            process = self.handed_over(listener, "--listen", "192.0.2.1:1")
            # The connection waits in the socket until the server is there.
            connection = http.client.HTTPConnection("127.0.0.1", listener.getsockname()[1],
                                                    timeout=PATIENCE)
            connection.request("GET", "/readyz")
            self.assertEqual(connection.getresponse().status, 200)
            connection.close()
            process.terminate()
            self.assertEqual(process.wait(PATIENCE), 0)

    def test_one_that_is_reachable_from_outside_needs_tokens(self):
        with socket.create_server(("0.0.0.0", 0)) as listener:
            process = self.handed_over(listener)
            self.assertEqual(process.wait(PATIENCE), 1)
            self.assertIn("NOT_LOOPBACK", process.stderr.read())

    def test_a_descriptor_that_does_not_listen_is_refused(self):
        with socket.socket() as plain:
            process = self.handed_over(plain)
            self.assertEqual(process.wait(PATIENCE), 1)
            self.assertIn("LISTEN_FAILED", process.stderr.read())

    def test_programs_of_tasks_do_not_get_the_managers_variables(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.handed_over(listener, "--allow-exec")
            self.assertEqual(self.heard()[0], "READY=1")
            connection = http.client.HTTPConnection("127.0.0.1", listener.getsockname()[1],
                                                    timeout=PATIENCE)
            connection.request("PUT", "/v1/workflows/env", body='return await Task.run("exec", '
                               '{argv: ["env"]})')
            self.assertEqual(connection.getresponse().read() and 1, 1)
            connection.request("POST", "/v1/runs?wait=20s", body='{"workflow": "env"}')
            run = json.loads(connection.getresponse().read())
            connection.close()
            self.assertEqual(run["status"], "completed", run)
            self.assertNotIn("NOTIFY_SOCKET", json.dumps(run["result"]))
            self.assertNotIn("LISTEN_FDS", json.dumps(run["result"]))


class DrainTest(Folder):
    def begin_slow(self, server):
        """A run with a program that goes on until end_slow(); answers the run's id."""
        self.end = os.path.join(self.folder, "end")
        program = "while ! test -e %s; do sleep 0.02; done" % self.end
        server.deploy("slow", 'return await Task.run("exec", {argv: ["sh", "-c", %s]})'
                      % json.dumps(program))
        run_id = server.post("/v1/runs", {"workflow": "slow"}).json["id"]
        wait_until(lambda: server.get("/v1/stats").json["tasks"]["leased"] == 1)
        return run_id

    def end_slow(self):
        self.write("end", "")

    def begin_to_stop(self, server):
        server.process.terminate()
        wait_until(lambda: any("stopping" in line for line in server.lines))

    def test_running_tasks_are_awaited(self):
        server = self.server("--allow-exec")
        run_id = self.begin_slow(server)
        self.begin_to_stop(server)
        self.assertIsNone(server.process.poll())
        self.end_slow()
        self.assertEqual(server.process.wait(PATIENCE), 0)
        server.start()
        server.wait_for(run_id, "completed")
        tasks = server.get("/v1/tasks").json["items"]
        self.assertEqual([task["attempt"] for task in tasks if task["name"] == "exec"], [1])

    def test_the_drain_timeout_bounds_the_wait_and_hands_tasks_back(self):
        server = self.server("--allow-exec", "--drain-timeout", "200ms")
        mark = os.path.join(self.folder, "mark")
        program = "test -e %s && exit 0; touch %s; exec sleep 600" % (mark, mark)
        server.deploy("slow", 'return await Task.run("exec", {argv: ["sh", "-c", %s]}, '
                              '{retry: {attempts: 1}})' % json.dumps(program))
        run_id = server.post("/v1/runs", {"workflow": "slow"}).json["id"]
        wait_until(lambda: os.path.exists(mark))
        self.assertEqual(server.stop(), 1)
        self.assertTrue(any("SHUTDOWN_TIMEOUT" in line for line in server.lines), server.lines)
        # Does it again, and not because its lease has ended: there is only one attempt.
        server.start()
        server.wait_for(run_id, "completed")

    def test_connections_are_told_to_close(self):
        server = self.server("--allow-exec")
        self.begin_slow(server)
        connection = server.connect()
        connection.request("GET", "/livez")
        connection.getresponse().read()
        self.begin_to_stop(server)

        def refusal():  # it says so a moment before it stops
            connection.request("GET", "/readyz")
            response = connection.getresponse()
            body = json.loads(response.read())
            return response.status == 503 and (body["status"], response.getheader("Connection"))
        self.assertEqual(wait_until(refusal), ("stopping", "close"))
        self.end_slow()
        self.assertEqual(server.process.wait(PATIENCE), 0)

    def test_claims_while_it_stops_hand_out_nothing(self):
        for _ in range(2):
            server = self.server()
            answers, started = [], threading.Barrier(5)

            def claim():
                connection = server.connect()
                body = json.dumps({"worker": "w", "queues": ["nothing"]})
                try:
                    for number in range(100000):
                        connection.request("POST", "/v1/tasks/claim", body=body)
                        response = connection.getresponse()
                        answers.append((response.status, response.read()))
                        if number == 0:
                            started.wait(PATIENCE)
                        if response.getheader("Connection") == "close":
                            return
                except OSError:
                    pass  # it has stopped
                finally:
                    connection.close()
            workers = [threading.Thread(target=claim) for _ in range(4)]
            for worker in workers:
                worker.start()
            started.wait(PATIENCE)
            self.assertEqual(server.stop(), 0)
            for worker in workers:
                worker.join()
            self.assertEqual(set(answers), {(200, b'{"tasks":[]}')})

    def test_a_second_signal_ends_it_at_once(self):
        server = self.server("--allow-exec", "--drain-timeout", "1h")
        self.addCleanup(self.end_slow)
        self.begin_slow(server)
        self.begin_to_stop(server)

        def ended():
            server.process.terminate()
            return server.process.poll() is not None
        wait_until(ended)
        self.assertEqual(server.process.returncode, -signal.SIGTERM)


class LimitTest(Folder):
    def send(self, server, data):
        client = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        self.addCleanup(client.close)
        client.sendall(data)
        return client

    def test_headers_have_a_ceiling(self):
        server = self.server("--max-header-size", "4K")
        client = self.send(server, b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 5000 +
                           b"\r\n\r\n")
        self.assertRegex(client.recv(4096), rb"^HTTP/1.1 (431|413|400|414)")
        large = self.server("--max-header-size", "64K")
        answer = large.call("GET", "/livez", headers={"X": "x" * 20000})
        self.assertEqual(answer.status, 200)

    def test_bodies_have_a_ceiling_told_before_or_after(self):
        server = self.server("--max-body-size", "1K")
        answer = server.call("POST", "/v1/events/x", raw=b'"' + b"x" * 2000 + b'"')
        self.assertEqual((answer.status, answer.json["code"]), (413, "BODY_TOO_LARGE"))
        client = self.send(server, b"POST /v1/events/x HTTP/1.1\r\nHost: localhost\r\n"
                                   b"Content-Length: 999999999999\r\n\r\n")
        self.assertIn(b"413", client.recv(4096).split(b"\r\n")[0])

    def test_connections_have_a_ceiling_and_come_free_again(self):
        server = self.server("--max-connections", "8", "--threads", "1", "--idle-timeout", "1h",
                             "--request-timeout", "1h", "--max-connections-per-address", "0")
        held = [self.send(server, b"GET") for _ in range(8)]
        late = self.send(server, b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        late.settimeout(0.3)
        with self.assertRaises(OSError):  # it waits for a place
            late.recv(4096)
        late.settimeout(PATIENCE)
        for client in held:
            client.close()
        self.assertIn(b" 200 ", late.recv(4096))

    def answers(self, server):
        try:
            return server.get("/livez").status == 200
        except OSError:
            return False

    def test_connections_of_one_address_have_a_ceiling(self):
        server = self.server("--max-connections-per-address", "2", "--idle-timeout", "1h",
                             "--request-timeout", "1h")
        held = [self.send(server, b"GET") for _ in range(2)]
        with self.assertRaises((OSError, http.client.HTTPException)):
            server.get("/livez")
        held[0].close()
        wait_until(lambda: self.answers(server))

    def test_one_address_cannot_take_every_connection(self):
        server = self.server("--max-connections", "8", "--idle-timeout", "1h",
                             "--request-timeout", "1h")
        held = [self.send(server, b"GET") for _ in range(4)]
        with self.assertRaises((OSError, http.client.HTTPException)):
            server.get("/livez")
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE,
                                      source_address=("127.0.0.2", 0)) as other:
            other.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b" 200 ", other.recv(4096))
        held[0].close()
        wait_until(lambda: self.answers(server))

    def test_descriptors_are_kept_for_those_who_are_there(self):
        program = self.write("limited", '#!/bin/sh\nulimit -n 128\nexec %s "$@"\n' % ABIDE)
        os.chmod(program, 0o755)
        with unittest.mock.patch("server.ABIDE", program):
            server = self.server("--idle-timeout", "1h", "--request-timeout", "1h")
        server.said("at most 64 connections")
        first = server.connect()
        first.request("GET", "/livez")
        first.getresponse().read()
        waiting = []
        for number in range(100):  # the last ones wait to be accepted
            source = ("127.0.0.%d" % (2 + number % 4), 0)
            waiting.append(socket.create_connection(("127.0.0.1", server.port), PATIENCE,
                                                    source_address=source))
        for _ in range(20):
            first.request("POST", "/v1/events/many", body="1")
            self.assertEqual(first.getresponse().read()[:1], b"{")
        first.request("GET", "/readyz")
        self.assertEqual(first.getresponse().status, 200)
        first.close()
        for each in waiting:
            each.close()
        wait_until(lambda: self.answers(server))

    def test_silent_connections_are_closed(self):
        server = self.server("--idle-timeout", "1s")
        client = self.send(server, b"GET /livez HTTP/1.1\r\n")
        self.assertEqual(client.recv(4096)[:12] in (b"", b"HTTP/1.1 408"), True)

    def drip(self, client, data):
        """One byte every now and then, until the other side has enough; answers what came back."""
        try:
            for byte in data:
                client.sendall(bytes([byte]))
                time.sleep(0.05)
        except OSError:
            return b""
        try:
            return client.recv(4096)
        except OSError:
            return b""

    def test_slow_senders_are_cut_off(self):
        server = self.server("--request-timeout", "1s", "--threads", "1")
        head = b"POST /v1/events/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
        line = self.drip(self.send(server, b""), b"GET /" + b"x" * 500)
        self.assertEqual(line, b"")
        header = self.drip(self.send(server, b"GET / HTTP/1.1\r\n"), b"X: " + b"y" * 500)
        self.assertEqual(header, b"")
        body = self.drip(self.send(server, head), b"z" * 900)
        self.assertEqual(body, b"")
        # None of them came to its end, which a limit on silence would have let pass.
        self.assertEqual(server.figure("abide_http_connections_cut_total"), 3)
        self.assertEqual(server.get("/livez").status, 200)

    def test_many_slow_senders_hold_no_thread(self):
        server = self.server("--threads", "1")
        held = [self.send(server, b"POST /v1/events/x HTTP/1.1\r\nHost: localhost\r\n"
                                  b"Content-Length: 100\r\n\r\nx") for _ in range(200)]
        self.assertEqual(server.get("/livez").status, 200)
        self.assertEqual(server.post("/v1/events/y", {}).status, 202)
        self.assertEqual(len(held), 200)

    def test_readers_that_take_nothing_are_cut_off_and_hold_no_thread(self):
        server = self.server("--idle-timeout", "2s", "--threads", "1")
        server.deploy("large", 'return "x".repeat(4000000)')
        run_id = server.run("large")["id"]
        readers = []
        for _ in range(10):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(PATIENCE)
            client.connect(("127.0.0.1", server.port))
            self.addCleanup(client.close)
            client.sendall(b"GET /v1/runs/%s/result HTTP/1.1\r\nHost: localhost\r\n\r\n"
                           % run_id.encode())
            readers.append(client)
        self.assertEqual(server.get("/livez").status, 200)
        # Open connections: those of the readers are gone, the one that asks is there.
        wait_until(lambda: server.figure("abide_http_connections") == 1)
        self.assertLess(self.read_all(readers[0]), 4000000)

    def read_all(self, client):
        total = 0
        try:
            while data := client.recv(65536):
                total += len(data)
        except OSError:
            pass
        return total

    def test_long_polls_are_cut_to_the_longest_wait(self):
        server = self.server("--max-wait", "100ms")
        self.assertEqual(server.claim(wait="1h"), [])  # the test waits for no answer so long
        server.deploy("sleeper", "await Timer.delay(3600)")
        run_id = server.post("/v1/runs", {"workflow": "sleeper"}).json["id"]
        self.assertEqual(server.get("/v1/runs/%s/result?wait=1h" % run_id).status, 202)

    def test_a_client_that_waits_by_its_own_wish_is_not_cut_off(self):
        server = self.server("--request-timeout", "1s")
        self.assertEqual(server.claim(wait="1500ms"), [])
        server.deploy("nap", "await Timer.delay(1.5); return 1")
        self.assertEqual(server.run("nap")["result"], 1)
        run_id = server.post("/v1/runs", {"workflow": "nap"}).json["id"]
        status, events = server.stream("/v1/runs/%s/events" % run_id)
        self.assertEqual((status, events[-1][1]), (200, "finished"))

    def test_a_connection_that_is_kept_may_send_again_later(self):
        server = self.server("--request-timeout", "500ms", "--idle-timeout", "5s")
        connection = server.connect()
        for _ in range(3):
            connection.request("GET", "/livez")
            self.assertEqual(connection.getresponse().read() and 1, 1)
            time.sleep(0.7)
        connection.close()


class UnitFileTest(unittest.TestCase):
    def test_the_unit_fits_the_program(self):
        path = os.path.join(os.environ["ABIDE_SOURCE_DIR"], "packaging", "abide.service")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        command = re.search(r"^ExecStart=\S+abide (.*)$", text, re.MULTILINE).group(1).split()
        done = subprocess.run([ABIDE, *command, "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        for line in ("Type=notify", "WatchdogSec=", "ExecReload=/bin/kill -HUP $MAINPID",
                     "NoNewPrivileges=yes", "ProtectSystem=strict", "StateDirectory=abide"):
            self.assertIn(line, text)


if __name__ == "__main__":
    tap.main()
