"""A proxy between a worker and the server, which loses, repeats and delays what the worker commits."""

import contextlib
import http.client
import http.server
import json
import select
import socket
import socketserver
import threading


class Gone(Exception):
    """The connection of the worker is to end without an answer."""


class Proxy:
    """`fault(proxy, number, forward)` is called for each commit, the first is 1: it answers what
    `forward()` answered, once or several times, or raises Gone."""

    def __init__(self, port, fault):
        self.port, self.fault = port, fault
        self.lock = threading.Lock()
        self.commit_count = 0
        self.runs = {}  # token of a turn -> run
        self.claims = None  # what the worker asks for
        self.numbers = {}  # token of a turn -> number of the last commit that was accepted
        self.recorded = {}  # (run, step) -> how often the server has accepted a result of it
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                try:
                    status, kind, answer = proxy.take(self, body)
                except (Gone, OSError, http.client.HTTPException):
                    self.close_connection = True
                    return
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("content-type", kind)
                    self.send_header("content-length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_):
                pass

        class Listener(socketserver.ThreadingTCPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request, client_address):
                pass

        self.http = Listener(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def forward(self, path, body, client=None):
        """To the server, and its answer. The end of the client's connection is passed on."""
        upstream = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            upstream.request("POST", path, body, {"content-type": "application/json"})
            while client is not None:
                ready, _, _ = select.select([upstream.sock, client], [], [])
                if upstream.sock in ready:
                    break
                if not client.recv(1, socket.MSG_PEEK):
                    raise Gone
            answer = upstream.getresponse()
            text = answer.read()
            return answer.status, answer.headers["content-type"], text
        finally:
            upstream.close()

    def take(self, handler, body):
        if handler.path == "/v1/turns/commit":
            with self.lock:
                self.commit_count += 1
                number = self.commit_count
            return self.fault(self, number, lambda: self.commit(body))
        answer = self.forward(handler.path, body, handler.connection)
        if handler.path == "/v1/turns/claim":
            self.claims = json.loads(body)
            self.note_turns(json.loads(answer[2]).get("turns", ()))
        return answer

    def note_turns(self, turns):
        with self.lock:
            self.runs.update((each["turn"], each["run_id"]) for each in turns)

    def commit(self, body):
        """Forwards it, and notes which steps it recorded."""
        request = json.loads(body)
        said = request["turns"]
        with self.lock:
            is_again = all(self.is_again(item) for item in said)
        if is_again and request.pop("claim", None):  # nobody would learn of the turns that it is given
            body = json.dumps(request).encode()
        answer = self.forward("/v1/turns/commit", body)
        verdicts = json.loads(answer[2])
        self.note_turns(verdicts.get("claimed", ()))
        with self.lock:
            for item, verdict in zip(said, verdicts.get("turns", ())):
                if verdict["status"] != "accepted" or self.is_again(item):
                    continue
                self.numbers[item["turn"]] = item.get("number", 0)
                for entry in item.get("entries", ()):
                    if entry["kind"] == "step":
                        key = (self.runs[item["turn"]], entry["name"])
                        self.recorded[key] = self.recorded.get(key, 0) + 1
        return answer

    def is_again(self, item):
        return 0 < item.get("number", 0) <= self.numbers.get(item["turn"], 0)

    def drop(self):
        """Tells the server that the worker is gone, so that nobody waits for its leases: a claim that waits, and ends."""
        register = {"workflows": [{"name": "nobody-starts-this", "version": "1"}]}
        self.forward("/v1/turns/register", json.dumps(register))
        body = json.dumps({**self.claims, **register, "wait": "30s"}).encode()
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(b"POST /v1/turns/claim HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
                               b"content-length: %d\r\n\r\n%s" % (len(body), body))
