"""Requests to the server: kept-alive connections, retries, and nothing a caller has to know.

Every request of this library may be sent twice without harm (starts carry an idempotency key,
signals and events an id, results a token), so whatever gets no answer is sent again.
"""
from __future__ import annotations

import http.client
import json
import os
import random
import re
import select
import ssl
import threading
import time
import urllib.parse
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from .errors import ApiError, ServerUnreachable

Duration = Union[int, float, str]
"""Seconds, or text such as "500ms", "2s", "15m", "24h", "30d"."""

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_IDLE_CONNECTIONS_MAX = 16
_BUSY = (502, 503, 504)  # worth another try


def seconds(duration: Duration) -> float:
    if not isinstance(duration, str):
        return float(duration)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", duration.strip())
    if not match:
        raise ValueError("not a duration: %r; write it as in \"500ms\", \"2s\" or \"24h\"" % duration)
    return float(match.group(1)) * _UNITS[match.group(2)]


def in_milliseconds(duration: Duration) -> str:
    return "%dms" % max(0, round(seconds(duration) * 1000))


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def quote(text: str) -> str:
    return urllib.parse.quote(text, safe="")


class Backoff:
    """Pauses that grow from `first` to `most` seconds, each somewhat random."""

    def __init__(self, first: float = 0.05, most: float = 5.0):
        self._first = first
        self._most = most
        self._next = first

    def reset(self) -> None:
        self._next = self._first

    def pause(self) -> float:
        pause = self._next * random.uniform(0.5, 1.0)
        self._next = min(self._most, self._next * 2)
        return pause


class Answer:
    def __init__(self, status: int, text: bytes):
        self.status = status
        self.json = json.loads(text) if text else None


def _problem(status: int, text: bytes) -> ApiError:
    try:
        body = json.loads(text)
        return ApiError(status, body["code"], body["detail"], body)
    except (ValueError, KeyError, TypeError):
        return ApiError(status, "HTTP_%d" % status, text[:200].decode("utf-8", "replace"))


class Transport:
    def __init__(self, server: Optional[str], token: Optional[str], timeout: Duration,
                 retry_for: Duration, ssl_context: Optional[ssl.SSLContext]):
        url = server or os.environ.get("ABIDE_SERVER") or "http://127.0.0.1:7433"
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("not the URL of a server: %r" % url)
        self.url = url
        self._parts = parts
        self._token = token or os.environ.get("ABIDE_TOKEN")
        self._ssl = ssl_context
        self.timeout = seconds(timeout)
        self.retry_for = seconds(retry_for)
        self._lock = threading.Lock()
        self._idle: List[http.client.HTTPConnection] = []

    # ---- connections ----

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        host = self._parts.hostname or ""
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, self._parts.port, timeout=timeout,
                                               context=self._ssl)
        return http.client.HTTPConnection(host, self._parts.port, timeout=timeout)

    def _take(self, timeout: float) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self.connect(timeout)
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                connection.sock.settimeout(timeout)
                return connection
            connection.close()  # the server has closed it meanwhile

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < _IDLE_CONNECTIONS_MAX:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    # ---- requests ----

    def headers(self, more: Optional[Mapping[str, Optional[str]]] = None) -> Dict[str, str]:
        headers = {"Authorization": "Bearer " + self._token} if self._token else {}
        headers.update({key: value for key, value in (more or {}).items() if value is not None})
        return headers

    def target(self, path: str, query: Optional[Mapping[str, Any]] = None) -> str:
        given = [(key, value) for key, value in (query or {}).items() if value is not None]
        text = urllib.parse.urlencode(given)
        return self._parts.path.rstrip("/") + path + ("?" + text if text else "")

    def once(self, method: str, target: str, body: Optional[bytes] = None,
             headers: Optional[Mapping[str, Optional[str]]] = None,
             wait: float = 0) -> Tuple[int, bytes, Any]:
        """One try. `wait` is how much longer than usual the server may take."""
        connection = self._take(self.timeout + wait)
        try:
            connection.request(method, target, body=body, headers=self.headers(headers))
            response = connection.getresponse()
            text = response.read()
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._give_back(connection)
        return response.status, text, response.headers

    def call(self, method: str, path: str, *, query: Optional[Mapping[str, Any]] = None,
             body: Any = None, text: Optional[str] = None, has_body: bool = False,
             headers: Optional[Mapping[str, Optional[str]]] = None, wait: float = 0,
             retry_for: Optional[float] = None) -> Answer:
        """Tries until there is an answer or `retry_for` seconds are over; refusals are raised."""
        target = self.target(path, query)
        if text is None and (body is not None or has_body):
            text = to_json(body)
        data = None if text is None else text.encode("utf-8")
        until = time.monotonic() + (self.retry_for if retry_for is None else retry_for)
        backoff = Backoff()
        while True:
            failure: Exception
            try:
                status, answer, _ = self.once(method, target, data, headers, wait)
                if status < 400:
                    return Answer(status, answer)
                failure = _problem(status, answer)
                if status not in _BUSY:
                    raise failure
            except (OSError, http.client.HTTPException) as error:
                failure = ServerUnreachable("%s does not answer: %s" % (
                    self.url, error or error.__class__.__name__))
                failure.__cause__ = error
            pause = backoff.pause()
            if time.monotonic() + pause > until:
                raise failure
            time.sleep(pause)
