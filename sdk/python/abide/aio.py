"""Requests to the server for asyncio: what transport.py does, without blocking.

The rules [T1] and [T2] of transport.py are the same here.
"""
from __future__ import annotations

import asyncio
import json
import ssl
import time
from typing import Any, AsyncIterator, Callable, Dict, List, Mapping, Optional, Tuple

from .errors import ServerUnreachable
from .fields import Duration
from .transport import Backoff, NotConnected, Transport, problem, to_json

_IDLE_CONNECTIONS_MAX = 16
_BUSY = (502, 503, 504)  # worth another try
_HEAD_MAX = 1 << 20


class Connection:
    """HTTP/1.1, one request after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.reader = reader
        self._writer = writer
        self.is_closing = False

    @property
    def is_usable(self) -> bool:
        return not (self.is_closing or self.reader.at_eof() or self._writer.is_closing())

    def close(self) -> None:
        self._writer.close()

    async def ask(self, head: str, body: Optional[bytes]) -> Tuple[int, Dict[str, str]]:
        """Sends a request; answers status and headers."""
        length = "" if body is None else "Content-Length: %d\r\n" % len(body)
        self._writer.write((head + length + "\r\n").encode("latin-1") + (body or b""))
        await self._writer.drain()
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        self.is_closing = headers.get("connection", "").lower() == "close"
        return int(lines[0].split(" ", 2)[1]), headers

    async def read(self, headers: Mapping[str, str]) -> bytes:
        """The whole body of an answer."""
        if "content-length" in headers:
            return await self.reader.readexactly(int(headers["content-length"]))
        return b"".join([part async for part in self.parts(headers)])

    async def parts(self, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
        """The body of an answer, as it comes."""
        if headers.get("transfer-encoding", "").lower() != "chunked":
            self.is_closing = True
            while True:
                part = await self.reader.read(1 << 16)
                if not part:
                    return
                yield part
        while True:
            size = int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16)
            part = await self.reader.readexactly(size + 2)
            if size == 0:
                return
            yield part[:-2]


class AsyncTransport:
    def __init__(self, server: Optional[str], token: Optional[str], timeout: Duration,
                 retry_for: Duration, ssl_context: Optional[ssl.SSLContext]):
        self.plain = Transport(server, token, timeout, retry_for, ssl_context)
        self._idle: List[Connection] = []

    @classmethod
    def like(cls, plain: Transport) -> "AsyncTransport":
        """To the same server, with the same options."""
        return cls(plain.url, plain.token, plain.timeout, plain.retry_for, plain.ssl_context)

    # ---- connections ----

    async def connect(self, timeout: float) -> Connection:
        try:
            host, port, context = self.plain.address()
            return Connection(*await asyncio.wait_for(asyncio.open_connection(
                host, port, ssl=context, limit=_HEAD_MAX), timeout))
        except (OSError, asyncio.TimeoutError) as error:
            raise NotConnected(str(error) or error.__class__.__name__) from error

    async def _take(self, timeout: float) -> Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_usable:
                return connection
            connection.close()  # the server has closed it meanwhile
        return await self.connect(timeout)

    def _give_back(self, connection: Connection) -> None:
        if connection.is_usable and len(self._idle) < _IDLE_CONNECTIONS_MAX:
            self._idle.append(connection)
        else:
            connection.close()

    async def close(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    # ---- requests ----

    def head(self, method: str, target: str, headers: Mapping[str, Optional[str]],
             has_body: bool) -> str:
        given = {"Host": self.plain.host(), **self.plain.headers(headers)}
        if has_body:
            given.setdefault("Content-Type", "application/json")
        for value in given.values():
            if "\r" in value or "\n" in value:
                raise ValueError("a header must not contain a line break: %r" % value)
        return "%s %s HTTP/1.1\r\n%s" % (method, target, "".join(
            "%s: %s\r\n" % item for item in given.items()))

    async def once(self, method: str, target: str, body: Optional[bytes],
                   headers: Mapping[str, Optional[str]], wait: float,
                   is_repeatable: bool) -> Tuple[int, bytes]:
        """One try. `wait` is how much longer than usual the server may take."""
        timeout = self.plain.timeout
        connection = await (self._take(timeout) if is_repeatable else self.connect(timeout))  # [T2]
        try:
            async def talk() -> Tuple[int, bytes]:
                status, answer = await connection.ask(
                    self.head(method, target, headers, body is not None), body)
                return status, await connection.read(answer)
            status, text = await asyncio.wait_for(talk(), timeout + wait)
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)
        return status, text

    async def send(self, method: str, path: str, *, query: Optional[Mapping[str, Any]] = None,
                   body: Any = None, text: Optional[str] = None, has_body: bool = False,
                   headers: Optional[Mapping[str, Optional[str]]] = None, wait: float = 0,
                   retry_for: Optional[float] = None, is_repeatable: Optional[bool] = None,
                   is_answer: Callable[[int, bytes], bool] = lambda status, _: status < 400
                   ) -> bytes:
        """As Transport.send."""
        target = self.plain.target(path, query)
        if text is None and (body is not None or has_body):
            text = to_json(body)
        data = None if text is None else text.encode("utf-8")
        may_repeat = method != "POST" if is_repeatable is None else is_repeatable
        until = time.monotonic() + (self.plain.retry_for if retry_for is None else retry_for)
        backoff = Backoff()
        was_lost = False  # a try that may have had its effect
        while True:
            failure: Exception
            try:
                status, answer = await self.once(method, target, data, headers or {}, wait,
                                                 may_repeat or retry_for == 0)
                if is_answer(status, answer):
                    return answer
                if method == "DELETE" and status == 404 and was_lost:
                    return b""  # the try before has removed it
                failure = problem(status, answer)
                if status not in _BUSY or not may_repeat:
                    raise failure
                was_lost = True
            except (OSError, EOFError, asyncio.TimeoutError, asyncio.LimitOverrunError) as error:
                failure = ServerUnreachable("%s does not answer: %s" % (
                    self.plain.url, error or error.__class__.__name__))
                failure.__cause__ = error
                was_sent = not isinstance(error, NotConnected)
                if was_sent and not may_repeat:  # [T2]
                    raise failure
                was_lost = was_lost or was_sent
            pause = backoff.pause()
            if time.monotonic() + pause > until:
                raise failure
            await asyncio.sleep(pause)

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """send(), and the JSON of the answer; None when it is empty."""
        text = await self.send(method, path, **options)
        return json.loads(text) if text else None
