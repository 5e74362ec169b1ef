"""Requests to the server: kept-alive connections, retries, and nothing a caller has to know.

  [T1] A request that may be sent twice without harm is sent again when no answer came: reads,
       replacements (PUT), removals, and whatever carries a key, an id or a token that the server
       knows it by.
  [T2] Any other request goes out on a connection of its own and is sent again only if that
       connection could not be made, because then nobody has seen it.
"""
from __future__ import annotations

import http.client
import json
import os
import random
import select
import ssl
import threading
import time
import urllib.parse
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from .errors import ApiError, ServerUnreachable, api_error
from .fields import Duration, seconds

_IDLE_CONNECTIONS_MAX = 16
_BUSY = (502, 503, 504)  # worth another try
_DEFAULT_SERVER = "http://127.0.0.1:7433"


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


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


class NotConnected(OSError):
    """The connection could not be made, so nothing was sent."""


def problem(status: int, text: bytes) -> ApiError:
    body = None
    try:
        body = json.loads(text)
        return api_error(status, body.get("code", "HTTP_%d" % status), body["detail"], body)
    except (ValueError, KeyError, TypeError, AttributeError):  # not ours: a proxy in between
        return api_error(status, "HTTP_%d" % status, text[:200].decode("utf-8", "replace"), body)


class Transport:
    def __init__(self, server: Optional[str], token: Optional[str], timeout: Duration,
                 retry_for: Duration, ssl_context: Optional[ssl.SSLContext]):
        url = server or os.environ.get("ABIDE_SERVER") or _DEFAULT_SERVER
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("server: not the URL of a server: %r" % url)
        self.url = url
        self._parts = parts
        self.token = token or os.environ.get("ABIDE_TOKEN")
        self.ssl_context = ssl_context
        self.timeout = seconds(timeout, "timeout")
        self.retry_for = seconds(retry_for, "retry_for")
        self._lock = threading.Lock()
        self._idle: List[http.client.HTTPConnection] = []

    @property
    def has_token(self) -> bool:
        return bool(self.token)

    # ---- connections ----

    def address(self) -> Tuple[str, int, Optional[ssl.SSLContext]]:
        """Host, port, and what TLS goes by; None without TLS."""
        if self._parts.scheme == "https":
            return (self._parts.hostname or "", self._parts.port or 443,
                    self.ssl_context or ssl.create_default_context())
        return self._parts.hostname or "", self._parts.port or 80, None

    def host(self) -> str:
        """As a request names it."""
        return self._parts.netloc.rpartition("@")[2]

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        host = self._parts.hostname or ""
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, self._parts.port, timeout=timeout,
                                               context=self.ssl_context)
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
        headers = {"User-Agent": "abide-python"}  # GET /v1/workers shows it
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        headers.update({key: value for key, value in (more or {}).items() if value is not None})
        return headers

    def target(self, path: str, query: Optional[Mapping[str, Any]] = None) -> str:
        given = {key: str(value).lower() if isinstance(value, bool) else value
                 for key, value in (query or {}).items() if value is not None}
        text = urllib.parse.urlencode(given, doseq=True)
        return self._parts.path.rstrip("/") + path + ("?" + text if text else "")

    def _connected(self, timeout: float) -> http.client.HTTPConnection:
        connection = self.connect(timeout)
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            raise NotConnected(str(error) or error.__class__.__name__) from error
        return connection

    def once(self, method: str, target: str, body: Optional[bytes] = None,
             headers: Optional[Mapping[str, Optional[str]]] = None, wait: float = 0,
             is_repeatable: bool = True) -> Tuple[int, bytes]:
        """One try. `wait` is how much longer than usual the server may take."""
        timeout = self.timeout + wait
        connection = self._take(timeout) if is_repeatable else self._connected(timeout)  # [T2]
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
        return response.status, text

    def send(self, method: str, path: str, *, query: Optional[Mapping[str, Any]] = None,
             body: Any = None, text: Optional[str] = None, has_body: bool = False,
             headers: Optional[Mapping[str, Optional[str]]] = None, wait: float = 0,
             retry_for: Optional[float] = None, is_repeatable: Optional[bool] = None,
             is_answer: Callable[[int, bytes], bool] = lambda status, _: status < 400) -> bytes:
        """Tries until there is an answer or `retry_for` seconds are over; refusals are raised.

        `is_repeatable` is true for everything but POST unless given. `is_answer` says what counts
        as an answer.
        """
        target = self.target(path, query)
        if text is None and (body is not None or has_body):
            text = to_json(body)
        data = None if text is None else text.encode("utf-8")
        may_repeat = method != "POST" if is_repeatable is None else is_repeatable
        until = time.monotonic() + (self.retry_for if retry_for is None else retry_for)
        backoff = Backoff()
        was_lost = False  # a try that may have had its effect
        while True:
            failure: Exception
            try:
                status, answer = self.once(method, target, data, headers, wait,
                                           may_repeat or retry_for == 0)
                if is_answer(status, answer):
                    return answer
                if method == "DELETE" and status == 404 and was_lost:
                    return b""  # the try before has removed it
                failure = problem(status, answer)
                if status not in _BUSY or not may_repeat:
                    raise failure
                was_lost = True
            except (OSError, http.client.HTTPException) as error:
                failure = ServerUnreachable("%s does not answer: %s" % (
                    self.url, error or error.__class__.__name__))
                failure.__cause__ = error
                was_sent = not isinstance(error, NotConnected)
                if was_sent and not may_repeat:  # [T2]
                    raise failure
                was_lost = was_lost or was_sent
            pause = backoff.pause()
            if time.monotonic() + pause > until:
                raise failure
            time.sleep(pause)

    def call(self, method: str, path: str, **options: Any) -> Any:
        """send(), and the JSON of the answer; None when it is empty."""
        text = self.send(method, path, **options)
        return json.loads(text) if text else None

    def object(self, method: str, path: str, **options: Any) -> Dict[str, Any]:
        """call(), of what is answered by an object."""
        answer: Dict[str, Any] = self.call(method, path, **options)
        return answer
