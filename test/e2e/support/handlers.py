"""A client of the handler API that takes nothing for granted: it checks what every answer has."""
import http.client
import json
import re

from server import PATIENCE

HANDLER_KEYS = {"handler_id", "workflow_name", "run_id", "error", "result", "status",
                "started_at", "updated_at", "completed_at"}
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$")


class Client:
    def __init__(self, port):
        self.port = port

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def call(self, method, path, body=None):
        """(status, JSON or None); checks what every answer has."""
        connection = self.connect()
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        connection.request(method, path, body=data)
        response = connection.getresponse()
        text = response.read().decode("utf-8")
        connection.close()
        if response.status == 204:
            assert text == "", text
            return 204, None
        assert response.getheader("Content-Length") == str(len(text.encode("utf-8")))
        assert response.getheader("Content-Type") == "application/json", response.getheaders()
        value = json.loads(text)
        assert text == json.dumps(value, separators=(",", ":"), ensure_ascii=False), text
        if response.status >= 400 and "handler_id" not in value and "status" not in value:
            assert set(value) == {"detail"} and isinstance(value["detail"], str), text
        return response.status, value

    def handler(self, method, path, body=None):
        """The same, for answers that are HandlerData."""
        status, value = self.call(method, path, body)
        assert HANDLER_KEYS <= set(value), value
        assert value["status"] in ("running", "completed", "failed", "cancelled"), value
        assert TIME.match(value["started_at"]), value
        for key in ("updated_at", "completed_at"):
            assert value[key] is None or TIME.match(value[key]), value
        return status, value

    def stream(self, path, last_event_id=None):
        """Yields (id, envelope) of an SSE stream until it ends cleanly. Like the protocol's own
        client it says where to begin."""
        if "after_sequence" not in path:
            path += ("&" if "?" in path else "?") + "after_sequence=-1"
        connection = self.connect()
        headers = {} if last_event_id is None else {"Last-Event-ID": str(last_event_id)}
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        assert response.status == 200, response.status
        assert response.getheader("Content-Type") == "text/event-stream; charset=utf-8"
        frame = b""
        while True:
            line = response.readline()
            if not line:
                assert frame == b"", frame
                break
            frame += line
            if line != b"\n":
                continue
            text = frame.decode("utf-8")
            frame = b""
            if text == ": heartbeat\n\n":
                continue
            match = re.fullmatch(r"id: (\d+)\ndata: ([^\n]*)\n\n", text)
            assert match, text
            envelope = json.loads(match.group(2))
            assert set(envelope) == {"value", "qualified_name", "type", "types"}, envelope
            assert isinstance(envelope["value"], dict), envelope
            yield int(match.group(1)), envelope
        connection.close()
