"""Clients that leave while the server has nothing to say to them: it notices at once, whatever they
wait for, over TLS too.

No clock is looked at. A stream that stays open says a heartbeat after 25 seconds; whoever has not
been noticed by then fails, and a server that only finds out by writing does."""
import json
import os
import select
import socket
import ssl
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import PATIENCE, Server, TlsServer, certificate, wait_until  # noqa: E402

IS_WHOLE = "ABIDE_TEST_SANITIZED" not in os.environ


def get(path):
    return b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"


def post(path, body):
    text = json.dumps(body).encode()
    return (b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
            % len(text)) + text


STREAMS = {
    "server-sent events of the log": b"/v1/runs/%s/events",
    "server-sent events of a handler": b"/events/%s?sse=true",
    "NDJSON": b"/events/%s?sse=false&include_internal=true",
}
CLAIM = post(b"/v1/tasks/claim", {"worker": "gone", "queues": ["left"], "wait": "60s"})
POLL = b"/v1/runs/%s/result?wait=60s"
WAITS = {
    "a start that waits": post(b"/v1/runs?wait=60s", {"workflow": "wait"}),
    "a run of the handler API": post(b"/workflows/wait/run", {"start_event": {}}),
    "a claim": CLAIM,
}


class LeavingTest(unittest.TestCase):
    """The same tests over plain HTTP and over TLS."""

    @classmethod
    def setUpClass(cls):
        cls.server = cls.open_server()
        cls.server.deploy("wait", "await Signal.next('end')")
        cls.server.post("/v1/runs", {"workflow": "wait", "id": "other"})
        cls.server.wait_for("other", "suspended")

    @classmethod
    def open_server(cls):
        return Server("--idle-timeout", "1h")

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        self.run_id = self.server.post("/v1/runs", {"workflow": "wait"}).json["id"]
        self.server.wait_for(self.run_id, "suspended")

    def path(self, pattern):
        return get(pattern % self.run_id.encode())

    def call_run(self, verb, body=None):
        return self.server.post("/v1/runs/%s/%s" % (self.run_id, verb), body)

    # ---- talking to it ----

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)

    def send(self, data):
        connection = self.connect()
        connection.sendall(data)
        return connection

    def leave(self, connection):
        connection.close()

    def assert_noticed(self, condition, what):
        """`condition` holds before a stream that is opened now says its heartbeat."""
        clock = self.send(get(b"/events/other?sse=true&after_sequence=now"))
        seen = b""

        def look():
            nonlocal seen
            if condition():
                return True
            if select.select([clock], [], [], 0)[0]:
                seen += clock.recv(65536)
            self.assertNotIn(b": heartbeat", seen, what + " was not noticed")
            return False
        wait_until(look, what=what + " was not noticed")
        clock.close()
        wait_until(lambda: self.server.figure("abide_sse_connections") == 0)


class StreamTest(LeavingTest):
    def test_readers_that_left_are_noticed_and_their_run_can_be_released(self):
        for name, path in STREAMS.items():
            for how in ("close", "reset"):
                with self.subTest(name, how=how):
                    reader = self.send(self.path(path))
                    self.assertTrue(reader.recv(1).startswith(b"H"))
                    wait_until(lambda: self.server.figure("abide_sse_connections") == 1)
                    refused = self.call_run("release")
                    self.assertEqual(refused.json["code"], "RUN_HAS_READER")
                    if how == "reset":
                        reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0" + bytes(4))
                        reader.close()
                    else:
                        self.leave(reader)
                    self.assert_noticed(lambda: self.call_run("release").status == 200, name)
                    self.setUp()

    def test_a_reader_that_has_ended_its_side_gets_what_there_is(self):
        reader = self.send(self.path(b"/v1/runs/%s/events"))
        reader.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := reader.recv(65536):
            answer += piece
        reader.close()
        self.assertIn(b"event: started", answer)
        self.assertFalse(answer.endswith(b"0\r\n\r\n"))  # it was not the end of the log


class WaitTest(LeavingTest):
    def test_those_who_wait_and_left_are_noticed(self):
        # Those of the tests before may be on their way out still; who asks is one itself.
        wait_until(lambda: self.server.figure("abide_http_connections") <= 1)
        before = 1
        for name, data in {**WAITS, "a long poll": self.path(POLL)}.items():
            with self.subTest(name):
                waiting = self.send(data)
                wait_until(lambda: self.server.figure("abide_http_connections") > before)
                self.leave(waiting)
                self.assert_noticed(lambda: self.server.figure("abide_http_connections") <= before + 1, name)

    def test_a_client_that_has_ended_its_side_is_answered_at_once(self):
        for data, status in ((self.path(POLL), b"HTTP/1.1 202"),
                             (CLAIM, b"HTTP/1.1 200")):
            waiting = self.send(data)
            waiting.shutdown(socket.SHUT_WR)
            self.assertTrue(waiting.recv(65536).startswith(status))
            waiting.close()

    def test_no_task_goes_to_a_worker_that_has_left(self):
        for number in range(20 if IS_WHOLE else 5):
            workers = [self.send(CLAIM) for _ in range(5)]
            for worker in workers:
                self.leave(worker)
            task = self.server.post("/v1/tasks", {"name": "t", "queue": "left"}).json
            # Its lease is 30 seconds: one that went to nobody would come with a second attempt.
            claimed = self.server.claim(queues=["left"], wait="60s")
            self.assertEqual([(each["id"], each["attempt"]) for each in claimed],
                             [(task["id"], 1)], number)
            self.server.complete(claimed[0], 1)

    def test_bytes_of_the_next_request_are_no_end(self):
        waiting = self.send(self.path(POLL) + get(b"/livez"))
        self.assertEqual(self.server.get("/readyz").status, 200)
        self.assertFalse(select.select([waiting], [], [], 0)[0])
        self.call_run("signals/end", 1)
        answer = b""
        while b"alive" not in answer:
            answer += waiting.recv(65536)
        waiting.close()
        self.assertLess(answer.index(b'"completed"'), answer.index(b"alive"))

    def test_ends_and_departures_at_the_same_time(self):
        for _ in range(10 if IS_WHOLE else 3):
            self.setUp()
            waiting = [self.send(self.path(POLL)) for _ in range(40)]
            stays = self.send(self.path(POLL))
            ender = threading.Thread(target=self.call_run, args=("signals/end", 1))
            ender.start()
            for each in waiting:
                self.leave(each)
            ender.join()
            self.assertTrue(stays.recv(65536).startswith(b"HTTP/1.1 200"))
            stays.close()


class Tls:
    @classmethod
    def open_server(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        pair = certificate(cls.folder.name, "one")
        TlsServer.authority = pair[0]
        cls.context = ssl.create_default_context(cafile=pair[0])
        return TlsServer("--idle-timeout", "1h", "--tls-cert", pair[0], "--tls-key", pair[1])

    def connect(self):
        return self.context.wrap_socket(super().connect(), server_hostname="localhost")

    def leave(self, connection):
        """As TLS wants it: says goodbye first, which the server has not read when the end comes."""
        connection.setblocking(False)
        try:
            connection.unwrap()
        except OSError:
            pass  # it does not wait for the server's
        connection.close()


class TlsStreamTest(Tls, StreamTest):
    test_a_reader_that_has_ended_its_side_gets_what_there_is = None  # no TLS library lets it read on


class TlsWaitTest(Tls, WaitTest):
    test_a_client_that_has_ended_its_side_is_answered_at_once = None


if __name__ == "__main__":
    tap.main()
