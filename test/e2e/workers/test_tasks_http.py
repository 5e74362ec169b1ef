"""The http task against a server that behaves well, badly, and not at all."""
import http.server
import json
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402

ABIDE = os.path.join(BUILD, "abide")
SCALE = int(os.environ.get("ABIDE_TEST_SCALE", "100"))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length).decode()
        self.server.seen.append((self.command, self.path, dict(self.headers), body))
        path, _, rest = self.path.partition("?")
        if path == "/json":
            self.answer(200, b'{"a":[1,2.50]}', Content_Type="application/json; charset=utf-8")
        elif path == "/text":
            self.answer(200, "grüße".encode(), Content_Type="text/plain", X_Two="1")
        elif path == "/bad-json":
            self.answer(200, b"{oops", Content_Type="application/json")
        elif path == "/bytes":
            self.answer(200, b"a\xff\x00b", Content_Type="application/octet-stream")
        elif path == "/echo":
            self.answer(201, json.dumps({"method": self.command, "body": body,
                                         "type": self.headers.get("Content-Type")}).encode(),
                        Content_Type="application/json")
        elif path == "/status":
            self.answer(int(rest), b"because " + b"x" * 5000)
        elif path == "/flaky":
            count = sum(1 for seen in self.server.seen if seen[1] == self.path)
            self.answer(503 if count < 3 else 200, b"%d" % count)
        elif path == "/redirect":
            self.answer(302, Location=rest)
        elif path == "/redirect-with":
            status, _, target = rest.partition("=")
            self.answer(int(status), b"go there" * 100, Location=target)
        elif path == "/repeated":
            self.send_response(200)
            for i in range(int(rest)):
                self.send_header("X-Same", "v%d" % i)
                self.send_header("x-other", "")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif path == "/loop":
            self.answer(302, Location="/loop")
        elif path == "/huge":
            self.send_response(200)
            self.end_headers()  # no length: it goes on and on
            self.close_connection = True
            try:
                for _ in range(4096):
                    self.wfile.write(b"x" * 65536)
            except OSError:
                self.server.cut_off.set()
        elif path == "/slow":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"begun")
            self.wfile.flush()
            self.server.release.wait(30)
            self.close_connection = True
        elif path == "/headers":
            self.send_response(200)
            for i in range(5000):
                self.send_header("X-Long-%d" % i, "y" * 60)
            self.end_headers()
        else:
            self.answer(404, b"nothing here")

    do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_GET

    def log_message(self, *_):
        pass


def hostile_answer(chance):
    """The bytes of an answer that no honest server gives; some are answers all the same."""
    def header():
        name = chance.choice(["X-A", "x-a", "Set-Cookie", "", "X" * chance.randrange(1, 3000),
                              "Content-Length", "Transfer-Encoding", "HTTP/1.1 200", "a b", "\xff"])
        value = chance.choice(["", "v", "v" * chance.randrange(1, 20000), "chunked", "7", "-1", "\x00",
                               "99999999999999999999", "\xff\xfe", "a, b", "\t", "gzip", "\r"])
        return "%s%s %s%s" % (name, chance.choice([":", "", " :", "::"]), value,
                              chance.choice(["\r\n", "\n", "\r\n ", "\r"]))

    status = chance.choice(["HTTP/1.1 200 OK"] * 12 + ["HTTP/1.1 302 Found", "HTTP/1.0 200", "HTTP/9.9 999 x",
                            "HTTP/1.1 -5", "HTTP/1.1 100 Continue", "HTTP/1.1 204", "garbage", ""])
    lines = [status + "\r\n"]
    kind = chance.randrange(6)
    if kind == 0:  # one name again and again
        lines += ["a:b\r\n"] * chance.randrange(1, 60000)
    elif kind == 1:
        lines += ["n%d: v\r\n" % i for i in range(chance.randrange(1, 20000))]
    elif kind == 2:  # heads behind heads
        lines += ["\r\nHTTP/1.1 100 Continue\r\nx: y\r\n"] * chance.randrange(1, 5000)
    elif kind == 3:
        lines += ["Location: %s\r\n" % chance.choice(["/next", "http://[::1", "//", "?", "\x01", ""])]
    if chance.randrange(3) == 0:
        lines += [header() for _ in range(chance.randrange(40))]
    body = chance.choice(["", "body", "5\r\nhello\r\n0\r\nHTTP/1.1 200\r\nx: y\r\n\r\n", "\x1f\x8b\x08",
                          "ffffffffffffffff\r\nx", "x" * chance.randrange(200000)])
    return ("".join(lines) + "\r\n" + body).encode("latin-1")


class HostileServer(threading.Thread):
    """Answers each connection with the next hostile answer, whatever it was asked."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.served = 0

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.settimeout(10)
                    connection.recv(65536)
                    connection.sendall(hostile_answer(random.Random(self.served)))
                except OSError:
                    pass
                self.served += 1


class HostileAnswerTest(unittest.TestCase):
    def test_no_answer_harms(self):
        count = max(1, 100 * SCALE // 100)
        server = HostileServer()
        server.start()
        self.addCleanup(server.socket.close)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script.flow")
            with open(path, "w", encoding="utf-8") as out:
                out.write("const seen = {}\n"
                          "for (let i = 0; i < Inputs.count; i++) {\n"
                          "  const end = await Task.run('http', {url: Inputs.url + i, timeout: '20s',"
                          " maxBytes: 100000}, {retry: {attempts: 1}})"
                          ".then(a => 'answer', e => e.cause.code ?? 'status')\n"
                          "  seen[end] = (seen[end] ?? 0) + 1\n"
                          "}\n"
                          "return seen")
            given = {"url": "http://127.0.0.1:%d/" % server.port, "count": count}
            done = subprocess.run([ABIDE, "run", path, "--input", json.dumps(given),
                                   "--allow-private"], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        seen = json.loads(done.stdout)
        self.assertEqual(sum(seen.values()), count)
        self.assertLessEqual(set(seen), {"answer", "status", "CONNECTION", "BODY_TOO_LARGE",
                                         "HEADERS_TOO_LARGE", "TOO_MANY_REDIRECTS", "TIMEOUT"})
        print("# %d hostile answers: %s" % (count, seen))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        self.assertLess(peak, 1024, "MiB")  # of any program so far; it was 3 GB


class HttpTest(unittest.TestCase):
    def setUp(self):
        self.server = self.serve("127.0.0.1")
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def serve(self, address):
        server = http.server.ThreadingHTTPServer((address, 0), Handler)
        server.daemon_threads = True
        server.seen = []
        server.cut_off = threading.Event()
        server.release = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.release.set)
        return server

    # `private`: True = everywhere, False = nowhere, or one address.
    def flow(self, text, *arguments, private=True, given=None):
        path = os.path.join(self.folder.name, "script.flow")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        value = {"url": self.url} if given is None else given
        allow = {True: ["--allow-private"], False: []}.get(private, ["--allow-address", private])
        done = subprocess.run([ABIDE, "run", path, "--input", json.dumps(value), *allow, *arguments],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def get(self, path, **options):
        return self.flow("return await Task.run('http', {...Inputs.options, url: Inputs.url})",
                         given={"url": self.url + path, "options": options})

    def failure(self, options, private=True, attempts=1):
        """The error of a request that must fail, with the number of attempts made."""
        answer = self.flow(
            "try { return await Task.run('http', Inputs, {retry: {attempts: %d, delay: '1ms'}}) }"
            " catch (e) { return {attempts: e.attempts, ...e.cause, message: e.cause.message} }"
            % attempts, private=private, given=options)
        self.assertIn("message", answer)
        return answer

    def test_json_answers_are_parsed(self):
        answer = self.get("/json")
        self.assertEqual(answer["status"], 200)
        self.assertEqual(answer["json"], {"a": [1, 2.5]})
        self.assertNotIn("body", answer)
        self.assertEqual(answer["headers"]["content-type"], "application/json; charset=utf-8")

    def test_other_answers_are_text(self):
        answer = self.get("/text")
        self.assertEqual((answer["body"], answer["headers"]["x-two"]), ("grüße", "1"))
        self.assertEqual(self.get("/bad-json")["body"], "{oops")
        self.assertEqual(self.get("/bytes")["body"], "a\ufffd\x00b")

    def test_a_body_goes_out_as_json_or_text(self):
        answer = self.get("/echo", json={"n": 1})
        self.assertEqual(answer["status"], 201)
        self.assertEqual(answer["json"], {"method": "POST", "body": '{"n":1}',
                                          "type": "application/json"})
        answer = self.get("/echo", method="put", body="plain")["json"]
        self.assertEqual(answer, {"method": "PUT", "body": "plain",
                                  "type": "text/plain; charset=utf-8"})
        answer = self.get("/echo", method="POST", headers={"Content-Type": "text/csv"}, body="a,b")
        self.assertEqual(answer["json"]["type"], "text/csv")

    def test_head_has_no_body(self):
        self.assertEqual(self.get("/json", method="HEAD")["status"], 200)

    def test_headers_are_sent(self):
        self.get("/json", headers={"X-One": "a b", "X-Empty": ""})
        headers = self.server.seen[-1][2]
        self.assertEqual((headers["X-One"], headers["X-Empty"]), ("a b", ""))
        self.assertTrue(headers["User-Agent"].startswith("abide/"))

    def test_errors_have_status_and_excerpt(self):
        error = self.failure({"url": self.url + "/status?404"}, attempts=3)
        self.assertEqual((error["type"], error["status"], error["attempts"]), ("HttpError", 404, 1))
        self.assertTrue(error["body"].startswith("because x"))
        self.assertLessEqual(len(error["body"]), 1000)

    def test_what_may_get_better_is_tried_again(self):
        for status in (500, 502, 503, 408, 429):
            error = self.failure({"url": self.url + "/status?%d" % status}, attempts=2)
            self.assertEqual((error["status"], error["attempts"]), (status, 2))
        for status in (400, 401, 403, 410, 418):
            error = self.failure({"url": self.url + "/status?%d" % status}, attempts=2)
            self.assertEqual((error["status"], error["attempts"]), (status, 1))
        answer = self.flow("return await Task.run('http', {url: Inputs.url + '/flaky'},"
                           " {retry: {attempts: 3, delay: '1ms'}})")
        self.assertEqual(answer["body"], "3")

    def test_attempts_of_a_change_share_their_key(self):
        self.flow("return await Task.run('http', {url: Inputs.url + '/flaky', method: 'POST'},"
                  " {retry: {attempts: 3, delay: '1ms'}})")
        keys = {seen[2]["Idempotency-Key"] for seen in self.server.seen}
        self.assertEqual((len(self.server.seen), len(keys)), (3, 1))
        self.get("/json")
        self.assertNotIn("Idempotency-Key", self.server.seen[-1][2])
        self.get("/echo", json=1, headers={"idempotency-key": "mine"})
        self.assertEqual(self.server.seen[-1][2]["idempotency-key"], "mine")

    def test_redirects_are_followed_unless_told_not_to(self):
        self.assertEqual(self.get("/redirect?/json")["json"], {"a": [1, 2.5]})
        answer = self.get("/redirect?/json", followRedirects=False)
        self.assertEqual((answer["status"], answer["headers"]["location"]), (302, "/json"))
        self.assertEqual(self.failure({"url": self.url + "/loop"})["code"], "TOO_MANY_REDIRECTS")

    def test_repeated_headers_are_joined(self):
        headers = self.get("/repeated?3")["headers"]
        self.assertEqual((headers["x-same"], headers["x-other"]), ("v0, v1, v2", ", , "))
        same = self.get("/repeated?6000")["headers"]["x-same"]  # some 150 KB
        self.assertEqual(same, ", ".join("v%d" % i for i in range(6000)))

    SECRETS = {"Authorization": "Bearer s", "Cookie": "c=s", "X-Api-Key": "s", "Accept": "text/csv"}

    def test_only_safe_headers_follow_to_another_host(self):
        other = self.serve("127.0.0.2")
        for status, method, body in ((302, "GET", ""), (301, "GET", ""), (303, "GET", ""),
                                     (307, "POST", "text"), (308, "POST", "text")):
            target = "http://127.0.0.2:%d/echo" % other.server_port
            self.get("/redirect-with?%d=%s" % (status, target), method="POST", body="text",
                     headers=self.SECRETS)
            self.assertEqual(self.server.seen[-1][2]["X-Api-Key"], "s")
            seen = other.seen[-1]
            self.assertEqual((seen[0], seen[3]), (method, body))
            self.assertEqual(seen[2]["Accept"], "text/csv")
            for name in ("Authorization", "Cookie", "X-Api-Key"):
                self.assertNotIn(name, seen[2])
            self.assertEqual("Idempotency-Key" in seen[2], method == "POST")
            self.assertEqual("Content-Type" in seen[2], method == "POST")

    def test_headers_stay_behind_when_a_redirect_leads_back(self):
        other = self.serve("127.0.0.2")
        back = "http://127.0.0.2:%d/redirect?%s/json" % (other.server_port, self.url)
        self.get("/redirect?" + back, headers=self.SECRETS)
        path, headers = self.server.seen[-1][1:3]
        self.assertEqual((path, headers["Accept"]), ("/json", "text/csv"))
        self.assertNotIn("X-Api-Key", headers)

    def test_another_port_is_another_server(self):
        other = self.serve("127.0.0.1")
        self.get("/redirect?http://127.0.0.1:%d/json" % other.server_port, headers=self.SECRETS)
        self.assertNotIn("X-Api-Key", other.seen[-1][2])

    def test_headers_stay_on_the_same_server(self):
        self.get("/redirect-with?307=/echo", method="PUT", json=[1], headers=self.SECRETS)
        method, path, headers, body = self.server.seen[-1]
        self.assertEqual((method, path, headers["X-Api-Key"], body), ("PUT", "/echo", "s", "[1]"))
        self.get("/redirect-with?303=/json", method="PUT", json=[1], headers=self.SECRETS)
        method, path, headers, body = self.server.seen[-1]
        self.assertEqual((method, path, headers["X-Api-Key"], body), ("GET", "/json", "s", ""))

    def test_a_redirect_does_not_begin_the_time_anew(self):
        error = self.failure({"url": self.url + "/redirect?/slow", "timeout": "300ms"})
        self.assertEqual(error["code"], "TIMEOUT")

    def test_contradictory_headers_are_refused(self):
        for headers in ({"Content-Length": "3"}, {"transfer-encoding": "chunked"},
                        {"Host": "other.example"}, {"Connection": "close"}, {"TE": "trailers"},
                        {"Content-Type": "text/csv", "content-type": "text/plain"},
                        {"X-A": "1", "x-a": "1"}, {"H%d" % i: "" for i in range(101)},
                        {"X-Long": "x" * 70000}):
            with self.subTest(headers):
                error = self.failure({"url": self.url + "/echo", "body": "a", "headers": headers},
                                     attempts=3)
                self.assertEqual((error["type"], error["attempts"]), ("TaskInputError", 1))
        self.assertEqual(self.server.seen, [])

    def test_private_addresses_are_refused(self):
        port = self.server.server_port
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1",
                     "0.0.0.0", "127.1", "0x7f000001", "017700000001", "LOCALHOST", "[::1]",
                     "[::]", "0"):
            with self.subTest(host):
                error = self.failure({"url": "http://%s:%d/json" % (host, port)}, private=False,
                                     attempts=3)
                self.assertEqual((error["code"], error["attempts"]), ("ADDRESS_REFUSED", 1))
        # Whether these are names of anything depends on the resolver; nobody is called either way.
        for host in ("localhost.", "a.localhost", "127.0.0.1.", "intranet", "127.0.0.1%00.example"):
            with self.subTest(host):
                error = self.failure({"url": "http://%s:%d/json" % (host, port)}, private=False)
                self.assertIn(error["code"], ("ADDRESS_REFUSED", "CONNECTION"))
        error = self.failure({"url": "http://169.254.169.254/latest/meta-data"}, private=False)
        self.assertEqual(error["code"], "ADDRESS_REFUSED")
        self.assertIn("169.254.169.254", error["message"])
        self.assertEqual(self.server.seen, [])

    def test_a_redirect_to_a_private_address_is_refused(self):
        port = self.server.server_port
        start = "http://127.0.0.2:%d/redirect?" % self.serve("127.0.0.2").server_port
        answer = self.flow("return await Task.run('http', Inputs)", private="127.0.0.2",
                           given={"url": start + "/json"})
        self.assertEqual(answer["status"], 200)
        for target in ("http://127.0.0.1:%d/json" % port, "http://localhost:%d/json" % port,
                       "http://[::1]:%d/json" % port):
            error = self.failure({"url": start + target}, private="127.0.0.2", attempts=3)
            self.assertEqual((error["code"], error["attempts"]), ("ADDRESS_REFUSED", 1))
        self.assertEqual(self.server.seen, [])

    def test_a_proxy_of_the_environment_is_not_asked(self):
        os.environ["http_proxy"] = self.url
        self.addCleanup(os.environ.pop, "http_proxy")
        error = self.failure({"url": "http://10.255.255.1/json"}, private=False)
        self.assertEqual(error["code"], "ADDRESS_REFUSED")
        self.assertEqual(self.server.seen, [])

    def test_redirects_do_not_lead_to_other_protocols(self):
        for target in ("file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x"):
            error = self.failure({"url": self.url + "/redirect?" + target})
            self.assertEqual((error["type"], error["code"]), ("HttpError", "CONNECTION"))

    def test_slow_bodies_time_out(self):
        error = self.failure({"url": self.url + "/slow", "timeout": "300ms"})
        self.assertEqual(error["code"], "TIMEOUT")

    def test_huge_bodies_are_cut_off(self):
        error = self.failure({"url": self.url + "/huge", "maxBytes": 100000}, attempts=3)
        self.assertEqual((error["code"], error["attempts"]), ("BODY_TOO_LARGE", 1))
        self.assertTrue(self.server.cut_off.wait(20))
        error = self.failure({"url": self.url + "/headers"}, attempts=3)
        self.assertEqual((error["code"], error["attempts"]), ("HEADERS_TOO_LARGE", 1))

    def test_nobody_there_is_an_error_worth_a_retry(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = "http://127.0.0.1:%d/" % unused.getsockname()[1]
            error = self.failure({"url": url}, attempts=2)
        self.assertEqual((error["code"], error["attempts"]), ("CONNECTION", 2))
        error = self.failure({"url": "http://no-such-host.invalid/"})
        self.assertEqual(error["code"], "CONNECTION")

    def test_bad_input_is_refused_at_once(self):
        url = self.url + "/json"
        for bad in ({}, {"url": 5}, {"url": "ftp://x/"}, {"url": "file:///etc/passwd"},
                    {"url": "http://a b/"}, {"url": url + "\r\nX: y"}, {"url": url, "metod": "GET"},
                    {"url": url, "method": "GET /"}, {"url": url, "method": "CONNECT"},
                    {"url": url, "headers": {"A\nB": "c"}}, {"url": url, "headers": {"A": "b\r\nC: d"}},
                    {"url": url, "headers": {"A": 1}}, {"url": url, "headers": []},
                    {"url": url, "json": 1, "body": "x"}, {"url": url, "timeout": "soon"},
                    {"url": url, "timeout": 0}, {"url": url, "maxBytes": -1},
                    {"url": url, "maxBytes": 10 ** 9}, [], "x"):
            with self.subTest(bad):
                error = self.failure(bad, attempts=3)
                self.assertEqual((error["type"], error["attempts"]), ("TaskInputError", 1))
        self.assertEqual(self.server.seen, [])

    def test_requests_run_side_by_side(self):
        answer = self.flow("const all = await Promise.all([1, 2, 3, 4].map(n =>"
                           " Task.run('http', {url: Inputs.url + '/json?' + n})))\n"
                           "return all.map(a => a.status)")
        self.assertEqual(answer, [200] * 4)


if __name__ == "__main__":
    tap.main()
