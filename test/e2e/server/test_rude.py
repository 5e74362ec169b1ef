"""Rude clients against the real server: it stays up, answers the others, and its memory and
descriptors stay bounded."""
import json
import os
import re
import resource
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unicodedata
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import hostile  # noqa: E402
import tap  # noqa: E402
from server import ABIDE, PATIENCE, Server, wait_until  # noqa: E402

SCALE = int(os.environ.get("ABIDE_TEST_SCALE", "100"))
IS_WHOLE = "ABIDE_TEST_SANITIZED" not in os.environ  # no sanitizer
MIB = 1 << 20
SANITIZER_ROOM = 0 if IS_WHOLE else 768 * MIB  # what it keeps of freed memory, its shadow, its margins
HOST = b"Host: localhost\r\n"
BODY_MAX = 4 * MIB + 65536


def lines(*parts):
    return b"\r\n".join(parts) + b"\r\n\r\n"


def post(headers, body=b"", path=b"/v1/events/rude"):
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + headers + b"\r\n" + body


def get(path, headers=b""):
    return b"GET " + path + b" HTTP/1.1\r\n" + HOST + headers + b"\r\n"


CHUNKED = b"Transfer-Encoding: chunked\r\n"
HIDDEN = b"0\r\n\r\nGET /livez HTTP/1.1\r\n" + HOST + b"\r\n"

# name: (bytes, status of the first answer or None for no answer at all, may more answers follow?)
MALFORMED = {
    "a length and chunks": (post(b"Content-Length: 4\r\n" + CHUNKED, HIDDEN), 400, False),
    "chunks and a length": (post(CHUNKED + b"Content-Length: 4\r\n", HIDDEN), 400, False),
    "two lengths": (post(b"Content-Length: 4\r\nContent-Length: 2\r\n", b"1234"), 400, False),
    "a length twice": (post(b"Content-Length: 4\r\nContent-Length: 4\r\n", b"1234"), 400, False),
    "a list of lengths": (post(b"Content-Length: 4, 4\r\n", b"1234"), 400, True),
    "a signed length": (post(b"Content-Length: +4\r\n", b"1234"), 400, True),
    "a negative length": (post(b"Content-Length: -4\r\n", b"1234"), 400, True),
    "a hexadecimal length": (post(b"Content-Length: 0x4\r\n", b"1234"), 400, True),
    "a length over 64 bits": (post(b"Content-Length: " + b"9" * 30 + b"\r\n", b"1"), 413, True),
    "a length of 64 bits": (post(b"Content-Length: 18446744073709551615\r\n", b"1"), 413, False),
    "an unknown coding": (post(b"Transfer-Encoding: xchunked\r\n", b"4\r\n1234\r\n0\r\n\r\n"), 400, False),
    "two codings": (post(b"Transfer-Encoding: gzip, chunked\r\n", HIDDEN), 400, False),
    "a coding twice": (post(CHUNKED + b"Transfer-Encoding: identity\r\n", HIDDEN), 400, False),
    "a space before the colon": (post(b"Transfer-Encoding : chunked\r\n", HIDDEN), 400, False),
    "a name with a space": (get(b"/livez", b"Content Length: 4\r\n"), 400, False),
    "chunks in HTTP/1.0": (b"POST /v1/events/rude HTTP/1.0\r\n" + HOST + CHUNKED + b"\r\n" + HIDDEN, 400, False),
    "a bad chunk size": (post(CHUNKED, b"zz\r\n1234\r\n0\r\n\r\n"), 400, False),
    "a negative chunk size": (post(CHUNKED, b"-4\r\n1234\r\n0\r\n\r\n"), 400, False),
    "a chunk size over 64 bits": (post(CHUNKED, b"1ffffffffffffffff4\r\n1234\r\n0\r\n\r\n"), 413, False),
    "a chunk longer than its size": (post(CHUNKED, b"2\r\n1234\r\n0\r\n\r\n"), 400, False),
    "no host": (lines(b"GET /livez HTTP/1.1"), 400, False),
    "two hosts": (lines(b"GET /livez HTTP/1.1", b"Host: a", b"Host: b"), 400, False),
    "HTTP/0.9": (b"GET /livez\r\n\r\n", 400, False),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, False),
    "HTTP/9.9": (lines(b"GET /livez HTTP/9.9", b"Host: a"), 505, False),
    "every byte": (bytes(range(256)) * 4, 400, False),
    "a header without a colon": (get(b"/livez", b"nothing\r\n"), 400, False),
    "a long target": (get(b"/" + b"a" * 5000), 400, False),
    "a very long target": (get(b"/" + b"a" * 100000), 414, False),
    "a long header": (get(b"/livez", b"X: " + b"a" * 100000 + b"\r\n"), 431, False),
    "many headers": (get(b"/livez", b"X: a\r\n" * 5000), 431, False),
    "a target of another server": (get(b"http://elsewhere/livez"), 404, False),
    "a tunnel": (lines(b"CONNECT elsewhere:80 HTTP/1.1", b"Host: elsewhere"), 404, False),
    "a trace": (lines(b"TRACE /livez HTTP/1.1", b"Host: localhost"), 405, False),
    "an unknown method": (lines(b"A" * 2000 + b" /livez HTTP/1.1", b"Host: localhost"), 405, False),
    "a target without a slash": (get(b"livez"), 404, False),
    "a body for GET": (get(b"/livez", b"Content-Length: 4\r\n") + b"1234" + get(b"/livez"), 400, False),
    "chunks for GET": (get(b"/livez", CHUNKED) + HIDDEN, 400, False),
    "a body for DELETE": (b"DELETE /v1/runs/x HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\n\r\n1234", 400, False),
    "a folded length": (post(b"Content-Length: 1\r\n 0\r\n", b"[1,2,3,4,5]"), 400, False),
    "a length on the next line": (post(b"Content-Length:\r\n 4\r\n", b"1234"), 400, False),
    "a folded header": (get(b"/livez", b"X: a\r\n\tb\r\n"), 400, False),
    "a folded first header": (b"GET /livez HTTP/1.1\r\n X: a\r\n" + HOST + b"\r\n", 400, False),
    "a NUL in a header": (get(b"/livez", b"X: a\0b\r\nY: c\r\n"), 400, False),
    "a NUL in the last header": (get(b"/livez", b"X: a\0b\r\n"), 400, False),
    "NULs behind the last header": (get(b"/livez", b"X: a\0\0\r\n"), 400, False),
    "a NUL that hides a length": (post(b"X: a\0\r\nContent-Length: 4\r\n", b"1234"), 400, False),
    "a NUL in the target": (get(b"/livez\0x"), 400, False),
    "a NUL in the query": (get(b"/v1/runs?limit=1\0&status=failed"), 400, False),
    "lines that end in LF": (b"GET /livez HTTP/1.1\nHost: localhost\n\n", 400, False),
    "one line that ends in LF": (get(b"/livez", b"X: a\nY: b\r\n"), 400, False),
    "an empty line of LF": (b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\n", 400, False),
    "a CR within a line": (get(b"/livez", b"X: a\rTransfer-Encoding: chunked\r\n"), 400, False),
    "an escape in a header": (get(b"/livez", b"X: \x1b[2J\r\n"), 400, False),
    "a coding and a space": (post(b"Transfer-Encoding: chunked \r\n", HIDDEN), 400, False),
    "a space in the target": (get(b"/livez x"), 400, False),
    "an escape in the target": (get(b"/v1/runs/\x1b[2J"), 400, False),
    "a host of two words": (lines(b"GET /livez HTTP/1.1", b"Host: bad host"), 400, False),
    "a host with a user": (lines(b"GET /livez HTTP/1.1", b"Host: user@localhost"), 400, False),
    "a host with a path": (lines(b"GET /livez HTTP/1.1", b"Host: localhost/x"), 400, False),
    "a host with a NUL": (lines(b"GET /livez HTTP/1.1", b"Host: local\0host"), 400, False),
    "a host with a bad port": (lines(b"GET /livez HTTP/1.1", b"Host: localhost:70000"), 400, False),
    "a host that is half an address": (lines(b"GET /livez HTTP/1.1", b"Host: [::1"), 400, False),
}

BOMBS = {
    "deep arrays": (b"[" * 100000, "JSON_TOO_DEEP"),
    "deep closed arrays": (b"[" * 5000 + b"]" * 5000, "JSON_TOO_DEEP"),
    "deep objects": (b'{"a":' * 5000 + b"1" + b"}" * 5000, "JSON_TOO_DEEP"),
    "not UTF-8": (b'{"workflow":"\xff\xfe"}', "BAD_JSON"),
    "an overlong escape": (b'{"workflow":"\xc0\xaf"}', "BAD_JSON"),
    "half a surrogate in UTF-8": (b'{"workflow":"\xed\xa0\x80"}', "BAD_JSON"),
    "a NUL": (b'{"workflow":"a\x00b"}', "BAD_JSON"),
    "a control character": (b'{"workflow":"a\nb"}', "BAD_JSON"),
    "a control character, escaped": (b'{"workflow":"a\\u0000b"}', "BAD_NAME"),
    "no value": (b'{"workflow":', "BAD_JSON"),
    "two values": (b"{}{}", "BAD_JSON"),
    "a trailing comma": (b'{"workflow":"a",}', "BAD_JSON"),
    "NaN": (b'{"workflow":NaN}', "BAD_JSON"),
    "a bare word": (b"nothing", "BAD_JSON"),
    "a leading zero": (b'{"priority":01,"workflow":"a"}', "BAD_JSON"),
    "a byte order mark": (b'\xef\xbb\xbf{"workflow":"a"}', "BAD_JSON"),
    "an array for an object": (b"[]", None),
    "null for an object": (b"null", None),
    "a huge number": (b'{"workflow":"a","priority":1' + b"0" * 5000 + b"}", None),
    "a huge exponent": (b'{"workflow":"a","priority":1e999999999}', None),
    "a fraction": (b'{"workflow":"a","priority":0.5}', None),
    "a duplicate key": (b'{"workflow":"a","workflow":"b"}', None),
    "many members": (b'{"workflow":"a",' + b",".join(b'"k%d":1' % i for i in range(50000)) + b"}", None),
}

PATHS = [b"//livez", b"/livez/", b"/v1/../livez", b"/v1/%2e%2e/livez", b"/./livez", b"/%6civez", b"/livez%20",
         b"/v1/runs/", b"/v1//runs", b"/livez#x", b"/\\livez", b"/v1/runs/..%2f..%2fetc%2fpasswd", b"/etc/passwd",
         b"/v1/runs/a%2fb", b"/v1/runs/%ff%fe", b"/v1/runs/\xff\xfe", b"/v1/workflows/..", b"/v1/workflows/%2e%2e",
         b"/v1/runs/" + b"x" * 3900, b"/v1/runs/" + b"%41" * 1200, b"/v1/tasks/%25", b"/v1/topics/%c3%28"]
BAD_PATHS = [b"/v1/runs/%", b"/v1/runs/%4", b"/v1/runs/%zz", b"/v1/runs/a%00b", b"/v1/runs?status=%",
             b"/v1/runs?%00=1", b"/v1/runs?limit=%zz", b"/v1/runs?" + b"&".join([b"a=1"] * 50)]


class RudeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Long, so that no test passes because time is up, nor fails because the machine is slow.
        cls.server = Server("--request-timeout", "1h", "--idle-timeout", "1h",
                            "--max-connections-per-address", "0")

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def tearDown(self):
        self.assertEqual(self.server.get("/livez").status, 200)

    # ---- looking at the process ----

    def memory(self):
        with open("/proc/%d/status" % self.server.process.pid, encoding="utf-8") as file:
            return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) * 1024

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.server.process.pid))

    def assert_descriptors_return(self, before):
        wait_until(lambda: self.descriptors() <= before + 2, what=lambda:
                   "descriptors leak: %d after %d" % (self.descriptors(), before))

    def received(self):
        """Bytes of bodies that the server has read."""
        return self.server.figure("abide_http_request_body_bytes_total")

    def assert_memory_below(self, limit):
        self.assertLess(self.memory(), limit + SANITIZER_ROOM)

    # ---- talking to it ----

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)

    def exchange(self, data):
        """Sends bytes, ends the sending side, and answers all that comes back."""
        connection = self.connect()
        try:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it has closed already; what it said is still to be read
            answer = b""
            while True:
                try:
                    piece = connection.recv(65536)
                except ConnectionError:
                    return answer
                if not piece:
                    return answer
                answer += piece
        finally:
            connection.close()

    def request(self, data):
        """The status and body of the one answer to a request that is answered and closed."""
        answer = self.exchange(data)
        self.assertTrue(answer, data[:100])
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), body

    def problem(self, data, status):
        got, body = self.request(data)
        self.assertEqual(got, status, (data[:100], body[:200]))
        document = json.loads(body)
        self.assertEqual(document["status"], status)
        return document["code"]


class MalformedTest(RudeTest):
    def test_malformed_requests_are_refused_and_hide_no_other(self):
        for name, (data, status, may_follow) in MALFORMED.items():
            with self.subTest(name):
                answer = self.exchange(data)
                self.assertTrue(answer.startswith(b"HTTP/1.1 %d" % status), (name, answer[:80]))
                self.assertNotIn(b"alive", answer)
                if not may_follow:
                    self.assertEqual(len(re.findall(rb"HTTP/1\.1 \d\d\d ", answer)), 1, (name, answer))

    def test_what_is_not_http_at_all_does_no_harm(self):
        before = self.descriptors()
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300), b"\r\n" * 5000,
                     b"\x00" * 5000, b"SSH-2.0-client\r\n", b" " * 5000):
            connection = self.connect()
            connection.sendall(data)
            self.assertEqual(self.server.get("/livez").status, 200)
            connection.close()
        self.assert_descriptors_return(before)

    def test_more_parameters_than_the_library_has_room_for_do_no_harm(self):
        before = self.descriptors()
        for count in (100, 200, 300, 400, 500):
            connection = self.connect()
            connection.sendall(get(b"/v1/runs?" + b"&".join([b"limit=1"] * count)))
            self.assertEqual(self.server.get("/livez").status, 200)
            connection.close()
        self.assert_descriptors_return(before)

    def test_pipelined_requests_are_answered_in_order(self):
        answer = self.exchange(get(b"/livez") * 50 + get(b"/v1/nothing"))
        self.assertEqual(answer.count(b"HTTP/1.1 200"), 50)
        self.assertTrue(answer.rstrip().endswith(b"}"))
        self.assertEqual(answer.count(b"HTTP/1.1 404"), 1)

    def test_chunks_byte_by_byte_are_a_body(self):
        connection = self.connect()
        for byte in post(CHUNKED, b"4;x=y\r\n[1,2\r\n1\r\n]\r\n0\r\nA: b\r\n\r\n"):
            connection.sendall(bytes([byte]))
        self.assertTrue(connection.recv(65536).startswith(b"HTTP/1.1 202"))
        connection.close()


class HeaderTest(RudeTest):
    """White space around a value is no part of it, whoever asks for the value."""

    def start(self, headers):
        body = json.dumps({"workflow": "one"}).encode()
        status, answer = self.request(post(headers + b"Content-Length:\t%d\r\n" % len(body), body,
                                           b"/v1/runs"))
        return status, json.loads(answer)

    def setUp(self):
        self.server.deploy("one", "return 1")

    def test_an_idempotency_key_is_the_same_with_white_space_around_it(self):
        first = self.start(b"Idempotency-Key: k1\r\n")
        self.assertEqual(first[0], 201)
        for key in (b"k1 ", b"k1\t", b"   k1 \t "):
            status, run = self.start(b"Idempotency-Key:" + key + b"\r\n")
            self.assertEqual((status, run["id"]), (200, first[1]["id"]))

    def test_last_event_id_host_and_origin_likewise(self):
        run = self.server.run("one")["id"].encode()
        path = b"/v1/runs/" + run + b"/events"
        plain = self.request(get(path, b"Last-Event-ID: 1\r\n"))
        self.assertEqual(plain, self.request(get(path, b"Last-Event-ID: 1 \r\n")))
        status, _ = self.request(lines(b"GET /v1/runs HTTP/1.1", b"Host:  localhost \t"))
        self.assertEqual(status, 200)
        own = b"Origin: http://localhost \r\n"
        self.assertEqual(self.request(get(b"/v1/runs", own))[0], 200)

    def test_a_traceparent_counts_when_there_is_one(self):
        one = b"traceparent: 00-%s-00f067aa0ba902b7-01" % (b"4bf92f3577b34da6a3ce929d0e0e4736")
        other = one.replace(b"4bf9", b"aaaa")
        trace = self.start(one + b" \r\n")[1]["traceparent"]
        self.assertEqual(trace.split("-")[1], "4bf92f3577b34da6a3ce929d0e0e4736")
        self.assertIsNone(self.start(one + b"\r\n" + other + b"\r\n")[1]["traceparent"])

    def test_a_tracestate_is_handed_on_with_its_traceparent(self):
        self.server.deploy("ask", "await Workflow.run('one-more', 1)")
        self.server.deploy("one-more", "await Task.run('t', 1, { queue: 'traced' })")
        trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        for headers, state in ((["congo=t61rcWkgMzE ", "rojo=00f067aa0ba902b7"],
                                "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"),
                               (["Not=good"], None), ([], None)):
            lines_of = b"traceparent: %s\r\n" % trace.encode() + b"".join(
                b"tracestate: %s\r\n" % each.encode() for each in headers)
            body = b'{"workflow":"ask"}'
            status, _ = self.request(post(lines_of + b"Content-Length: %d\r\n" % len(body), body, b"/v1/runs"))
            self.assertEqual(status, 201)
            task = self.server.claim(queues=["traced"])[0]
            self.assertEqual(task["tracestate"], state)
            self.assertTrue(task["traceparent"].startswith(trace[:35]))
            self.server.complete(task, 1)


class TextTest(RudeTest):
    """Texts from outside neither forge lines nor steer terminals."""
    NASTY = "x\x1b[31m\ny\x9b2Jz\u202e\u2028w"

    def assert_plain(self, text):
        for character in text:
            self.assertNotIn(unicodedata.category(character), ("Cc", "Zl", "Zp"), repr(text))
            self.assertNotEqual(character, "\u202e")

    def test_log_lines(self):
        for log_format in ("text", "json"):
            server = Server("--log-format", log_format, "--log-level", "debug")
            self.addCleanup(server.close)
            server.deploy("say", "await Task.run('log', Inputs); await Task.run('log', {message: Inputs})")
            self.assertEqual(server.run("say", self.NASTY)["status"], "completed")
            server.call("GET", "/v1/runs/" + urllib.parse.quote(self.NASTY))
            server.claim(wait="0s", worker="w\x9b2J\u2028")
            server.run("say", "last-line")
            wait_until(lambda: sum("last-line" in line for line in server.lines) >= 2)
            self.assertGreaterEqual(sum("2Jz" in line for line in server.lines), 2)
            for line in server.lines:
                self.assert_plain(line)

    def test_ids_of_the_command_line(self):
        run_id = "run-\x9b2J-\u202e-\u2028"
        self.server.deploy("one", "return 1")
        self.server.run("one", id=run_id)
        done = subprocess.run([ABIDE, "wf", "ls", "-o", "ids", "--server",
                               "http://127.0.0.1:%d" % self.server.port],
                              capture_output=True, check=True)
        ids = done.stdout.decode().split("\n")
        self.assertIn("run-?2J-\u202e-?", ids)
        for line in ids:
            self.assert_plain(line.replace("\u202e", "")) # part of the id; cleaned on a terminal

    def test_events_with_line_ends_in_their_payloads(self):
        self.server.deploy("pay", "return await Signal.next('pay')")
        run_id = self.server.post("/v1/runs", {"workflow": "pay"}).json["id"]
        self.server.call("POST", "/v1/runs/%s/signals/pay" % run_id, raw=b'{"a":\n\n1,\r\n"b":\r2}')
        self.server.wait_for(run_id, "completed")
        text = self.request(get(b"/v1/runs/%s/events" % run_id.encode(), b""))[1].decode()
        text = re.sub(r"(?m)^[0-9A-F]+\r\n", "", text.replace("\r\n\r\n", "\r\n"))
        found = []
        for event in re.split(r"\n\n", text):
            lines_of = event.replace("\r\n", "").split("\n")
            data = [line[6:] for line in lines_of if line.startswith("data: ")]
            for line in lines_of:
                self.assertRegex(line, r"^(id: |event: |data: |$)")
            if data:
                found.append(json.loads("\n".join(data)))
        self.assertIn({"a": 1, "b": 2}, [entry.get("data") for entry in found])


class JsonTest(RudeTest):
    def start(self, body):
        return self.request(post(b"Content-Length: %d\r\n" % len(body), body, b"/v1/runs"))

    def test_bombs_are_refused(self):
        for name, (body, code) in BOMBS.items():
            with self.subTest(name):
                status, answer = self.start(body)
                document = json.loads(answer)
                self.assertIn(status, (400, 404, 422), (name, answer[:300]))
                if code is not None:
                    self.assertEqual(document["code"], code)

    def test_payloads_are_checked_like_bodies(self):
        for name, (body, code) in BOMBS.items():
            if code in ("JSON_TOO_DEEP", "BAD_JSON"):
                with self.subTest(name):
                    status = 422 if code == "JSON_TOO_DEEP" else 400
                    self.assertEqual(self.problem(
                        post(b"Content-Length: %d\r\n" % len(body), body), status), code)

    def test_the_largest_payload_is_taken_and_comes_back(self):
        self.server.deploy("echo", "return Inputs")
        text = "x" * (4 * MIB - 2)
        run = self.server.run("echo", text)
        self.assertEqual(run["result"], text)
        answer = self.server.post("/v1/runs", {"workflow": "echo", "input": text + "x"})
        self.assertEqual((answer.status, answer.json["code"]), (413, "PAYLOAD_TOO_LARGE"))


class PathTest(RudeTest):
    def test_tricks_with_paths_find_nothing(self):
        for path in PATHS:
            with self.subTest(path):
                status, body = self.request(get(path))
                self.assertIn(status, (400, 404), body[:200])
                self.assertNotIn(b"alive", body)
                self.assertNotIn(b"root:", body)

    def test_malformed_targets_are_refused(self):
        for path in BAD_PATHS:
            with self.subTest(path):
                self.assertIn(self.problem(get(path), 400), ("BAD_URI", "UNKNOWN_PARAMETER"))

    def test_a_slash_in_an_id_is_part_of_the_id(self):
        self.server.deploy("one", "return 1")
        self.server.run("one", id="../a/b")
        status, body = self.request(get(b"/v1/runs/..%2fa%2fb"))
        self.assertEqual((status, json.loads(body)["id"]), (200, "../a/b"))


class SizeTest(RudeTest):
    def test_a_body_over_the_limit_is_refused(self):
        body = b"1" * (BODY_MAX + 1)
        self.assertEqual(self.problem(
            post(b"Content-Length: %d\r\n" % len(body), body), 413), "BODY_TOO_LARGE")
        chunk = b"%x\r\n%s\r\n" % (len(body), body)
        self.assertEqual(self.problem(post(CHUNKED, chunk + b"0\r\n\r\n"), 413), "BODY_TOO_LARGE")

    def test_a_body_out_of_all_proportion_is_not_read(self):
        connection = self.connect()
        connection.sendall(post(b"Content-Length: 1000000000000\r\n"))
        self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 413"))
        connection.close()

    def test_chunks_without_end_are_broken_off(self):
        before = self.memory()
        connection = self.connect()
        connection.sendall(post(CHUNKED))
        chunk = b"100000\r\n" + b"1" * MIB + b"\r\n"
        sent = 0
        with self.assertRaises(OSError):
            while sent < 200 * MIB:
                connection.sendall(chunk)
                sent += MIB
        connection.close()
        self.assertLess(sent, 100 * MIB)
        self.assert_memory_below(before + 32 * MIB)

    def test_many_large_bodies_do_not_take_all_memory(self):
        if not IS_WHOLE:
            self.skipTest("memory is not measured under sanitizers")
        before, descriptors, received = self.memory(), self.descriptors(), self.received()
        body = b"[" + b"1," * (BODY_MAX // 2 - 100)
        connections = []
        for _ in range(120):  # 480 MiB in all, none of them complete
            connection = self.connect()
            connection.sendall(post(b"Content-Length: %d\r\n" % BODY_MAX, body))
            connections.append(connection)
        # Sent is not yet read: what the system holds for the server counts only when it is.
        wait_until(lambda: self.received() >= received + 120 * len(body), what=lambda:
                   "%d of %d bytes were read" % (self.received() - received, 120 * len(body)))
        self.assert_memory_below(before + 400 * MIB)
        rest = b"1" * (BODY_MAX - len(body))
        connections[-1].sendall(rest)  # the last ones were dropped while they came
        self.assertTrue(connections[-1].recv(65536).startswith(b"HTTP/1.1 503"))
        for connection in connections:
            connection.close()
        self.assert_descriptors_return(descriptors)
        self.assertEqual(self.server.post("/v1/events/rude", [1]).status, 202)

    def test_trees_count_and_are_given_back(self):
        if not IS_WHOLE:
            self.skipTest("memory is not measured under sanitizers")
        self.server.deploy("wide", "return 1")
        wide = b'{"workflow":"wide","input":[' + b",".join([b"1"] * 2000000) + b"]}"
        before = self.memory()
        answers = []

        def start():
            answers.append(self.request(post(b"Content-Length: %d\r\n" % len(wide), wide, b"/v1/runs")))
        starters = [threading.Thread(target=start) for _ in range(8)]
        peak = 0
        for starter in starters:
            starter.start()
        while any(starter.is_alive() for starter in starters):
            peak = max(peak, self.memory())
        # One tree is 200 MiB: two do not fit, whatever the number of those who send one.
        for status, body in answers:
            self.assertIn((status, json.loads(body).get("code")), ((201, None), (503, "SERVER_BUSY")))
        self.assertIn(201, [status for status, _ in answers])
        self.assertLess(peak, before + 450 * MIB)

    def test_strangers_do_not_shut_out_those_with_a_token(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        store = "sqlite:" + os.path.join(folder.name, "tokens.db")
        made = subprocess.run([ABIDE, "token", "create", "--name", "me", "--scope", "admin", "--store",
                               store, "-o", "json"], capture_output=True, text=True, check=True)
        token = json.loads(made.stdout)["token"]
        server = Server("--require-tokens", store=store)
        self.addCleanup(server.close)
        connections = []
        head = b"POST /%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
        for path in (b"v1/events/x", b"livez", b"v1/nothing", b"openapi.json"):
            for _ in range(5):
                connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
                connection.sendall(head % (path, BODY_MAX))
                try:
                    connection.sendall(b"1" * MIB)  # nobody asked for it
                except OSError:
                    pass
                connections.append(connection)
        count = 400 if IS_WHOLE else 40
        for _ in range(count):  # as many as it takes to fill the share of strangers, never read
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", server.port))
            connection.sendall(get(b"/openapi.json") * 2)
            connections.append(connection)
        answer = server.call("POST", "/v1/events/x", raw=b"1" * (3 * MIB),
                             headers={"Authorization": "Bearer " + token})
        self.assertEqual(answer.status, 202, answer.body)
        self.assertEqual(server.get("/livez").status, 200)
        for connection in connections:
            connection.close()

    def test_lists_of_large_things_come_in_pages(self):
        payload = json.dumps({"name": "large", "queue": "nobody", "input": "x" * (3 * MIB)})
        count = 12 if IS_WHOLE else 4
        for _ in range(count):
            self.assertEqual(self.server.call("POST", "/v1/tasks", raw=payload).status, 201)
        seen, cursor, pages = 0, "", 0
        while cursor is not None:
            page = self.server.get("/v1/tasks?queue=nobody&limit=1000" + cursor).json
            seen += len(page["items"])
            pages += 1
            cursor = page["next"] and "&cursor=" + page["next"]
        self.assertEqual(seen, count)
        self.assertGreater(pages, 1)


class ConnectionTest(RudeTest):
    def assert_others_are_served(self):
        for _ in range(20):
            self.assertEqual(self.server.get("/v1/stats").status, 200)
        self.assertEqual(self.server.post("/v1/events/rude-others", 1).status, 202)

    def test_connections_left_in_the_middle_leave_nothing_behind(self):
        before = self.descriptors()
        pieces = [b"", b"G", b"GET /livez HTT", b"GET /livez HTTP/1.1\r\nHo", get(b"/livez")[:-2],
                  post(b"Content-Length: 100\r\n", b"123"), post(CHUNKED, b"ff\r\n12"),
                  post(b"Content-Length: 25\r\n", b'{"worker":"w","wait":0.1}', b"/v1/tasks/claim"),
                  get(b"/v1/runs/none/result?wait=1s"), get(b"/v1/runs?limit=1000")]
        reset = struct.pack("ii", 1, 0)
        for number in range(300):
            connection = self.connect()
            connection.sendall(pieces[number % len(pieces)])
            how = number % 3
            if how == 1:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            elif how == 2:
                connection.shutdown(socket.SHUT_WR)
            connection.close()
        self.assert_others_are_served()
        self.assert_descriptors_return(before)

    def test_slow_senders_hold_nobody_up(self):
        before = self.descriptors()
        data = get(b"/livez", b"X-Slow: " + b"a" * 40 + b"\r\n")
        connections = [self.connect() for _ in range(200 if IS_WHOLE else 40)]
        for at in range(len(data)):
            for connection in connections:
                connection.sendall(data[at:at + 1])
            if at % 20 == 0:
                self.assert_others_are_served()
        for connection in connections:
            self.assertTrue(connection.recv(65536).startswith(b"HTTP/1.1 200"))
            connection.close()
        self.assert_descriptors_return(before)

    def test_ten_thousand_idle_connections(self):
        wanted = 10000 if IS_WHOLE else 500
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        enough = wanted + 500
        if hard != resource.RLIM_INFINITY and hard < enough:
            self.skipTest("the limit on open files is %d (ulimit -Hn), %d are needed"
                          % (hard, enough))
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, enough), hard))
        before, descriptors = self.memory(), self.descriptors()
        connections = []
        try:
            for number in range(wanted):
                connection = self.connect()
                if number % 2:  # half of them have had an answer and stay for another
                    connection.sendall(get(b"/livez"))
                connections.append(connection)
            self.assert_others_are_served()
            self.assertGreater(self.descriptors(), wanted)
            self.assert_memory_below(before + wanted * 20 * 1024)
            for connection in connections[1::2]:
                self.assertTrue(connection.recv(65536).startswith(b"HTTP/1.1 200"))
        finally:
            for connection in connections:
                connection.close()
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.assert_descriptors_return(descriptors)

    def test_waiting_clients_that_went_away_are_forgotten(self):
        before = self.descriptors()
        body = b'{"worker":"gone","queues":["rude-gone"],"wait":"1s"}'
        for _ in range(100):
            connection = self.connect()
            connection.sendall(post(b"Content-Length: %d\r\n" % len(body), body, b"/v1/tasks/claim"))
            connection.close()
        self.assert_descriptors_return(before)
        task = self.server.post("/v1/tasks", {"name": "t", "queue": "rude-gone"}).json
        claimed = self.server.claim(queues=["rude-gone"], wait="40s")
        self.assertEqual([each["id"] for each in claimed], [task["id"]])


class ScriptTest(RudeTest):
    def test_scripts_whose_built_ins_take_long_hold_nobody_up(self):
        server = Server()
        self.addCleanup(server.close)
        server.deploy("hog", """
            export const config = { timeout: "3s" }
            const p = 'a'.repeat(4e6), q = [p + 0, p + 1, p + 2]
            const a = Array.from({ length: 3e5 }, (_, i) => q[i * 7 % 3])
            for (;;) a.toSorted()
            """)
        server.deploy("quick", "return 1")
        hogs = [server.post("/v1/runs", {"workflow": "hog"}).json["id"] for _ in range(16)]
        self.assertEqual(server.run("quick")["status"], "completed")
        for hog in hogs:  # past its time-out a run frees its thread
            server.wait_for(hog, "failed")
        self.assertEqual(server.stop(), 0)


class HostileTest(RudeTest):
    """Inputs of hostile.py, as many as ABIDE_TEST_SCALE wants: 400, 1,000 and more with `make soak`."""

    def send(self, seed):
        """All steps on one connection, which is left in one of three ways."""
        connection = self.connect()
        try:
            for step in hostile.steps(seed):
                connection.sendall(step)
            how = seed % 3
            if how == 0:
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            elif how == 1:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass  # it does not have to listen to this
        finally:
            connection.close()

    def test_hostile_inputs_do_no_harm(self):
        count = int(os.environ.get("ABIDE_HOSTILE", 4 * SCALE))
        first = int(os.environ.get("ABIDE_HOSTILE_FIRST", "0"))
        self.send(0)
        before, descriptors = self.memory(), self.descriptors()
        for seed in range(first, first + count):
            with self.subTest(seed=seed):
                self.send(seed)
                if seed % 20 == 0:
                    self.assertEqual(self.server.get("/livez").status, 200)
        self.assertEqual(self.server.post("/v1/events/after", 1).status, 202)
        self.assert_descriptors_return(descriptors)
        self.assert_memory_below(before + 64 * MIB)
        self.assertIsNone(self.server.process.poll())


class StreamTest(RudeTest):
    def test_a_client_that_reads_nothing_costs_little(self):
        self.server.deploy("flood", """
            for (let round = 0; round < 40; round++) {
              Stream.write("x".repeat(500000))
              await Timer.delay("1ms")
            }
            await Signal.next("end")
            Stream.write("last")
            """)
        self.server.post("/v1/runs", {"workflow": "flood", "id": "flood"})
        self.server.wait_for("flood", "suspended", is_so=lambda run: "signal" in [
            wait["on"] for wait in run["waits"]])  # and not for a timer in between
        before, descriptors = self.memory(), self.descriptors()
        connections = []
        for _ in range(40 if IS_WHOLE else 8):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", self.server.port))
            connection.sendall(get(b"/v1/runs/flood/events"))
            connections.append(connection)
        for connection in connections:
            self.assertTrue(select.select([connection], [], [], PATIENCE)[0])  # it has begun
        self.assertEqual(self.server.get("/v1/runs/flood").status, 200)
        self.assert_memory_below(before + 200 * MIB)
        self.server.post("/v1/runs/flood/signals/end", 1)
        self.server.wait_for("flood", "completed")
        status, events = self.server.stream("/v1/runs/flood/events")
        self.assertEqual(status, 200)
        data = [event[2].get("data") for event in events if event[1] == "stream"]
        self.assertEqual((len(data), data[-1]), (41, "last"))
        for connection in connections:
            connection.close()
        self.assert_descriptors_return(descriptors)

    def test_answers_nobody_reads_do_not_keep_the_server_from_stopping(self):
        server = Server()
        server.deploy("wait", "await Signal.next('never')")
        server.post("/v1/runs", {"workflow": "wait", "id": "w"})
        connections = []
        for path in (b"/v1/runs/w/events", b"/v1/runs/w/result?wait=50s", b"/v1/runs?limit=1000"):
            connection = socket.create_connection(("127.0.0.1", server.port))
            connection.sendall(get(path))
            connections.append(connection)
        server.wait_for("w", "suspended")
        self.assertEqual(server.stop(), 0)
        for connection in connections:
            connection.close()
        server.close()


if __name__ == "__main__":
    tap.main()
