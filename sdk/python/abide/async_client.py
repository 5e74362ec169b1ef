"""AsyncClient: what a program on asyncio asks of an abide server. Standard library only.

Runs, signals, events and streams are here, without threads. What operates a server (schedules,
queues, tokens, …) is asked of `blocking`, a Client with the same options:

    await asyncio.to_thread(client.blocking.queues.set, "default", max_running=50)
"""
from __future__ import annotations

import asyncio
import json
import ssl
import time
import uuid
from typing import (Any, AsyncIterator, Callable, Dict, Generic, Mapping, Optional,
                    TypeVar, Union, overload)

from .aio import AsyncTransport, Connection
from .client import Client, reader, starting
from .convert import encode
from .errors import RunFailed, ServerUnreachable, WaitTimeout
from .fields import Duration, Several, Time, given, in_milliseconds, path, seconds, several
from .transport import Backoff, problem
from .workflows.definition import Workflow

I = TypeVar("I")  # noqa: E741
R = TypeVar("R")
JsonObject = Dict[str, Any]

_WAIT = 25.0  # seconds of one long poll
_SILENCE_MAX = 60.0  # a stream says something every 25 s
_START_OPTIONS = ("id", "key", "tags", "delay", "start_at", "priority", "queue", "timeout", "ttl",
                  "leftover_signals", "leftover_topic", "wait", "traceparent", "tracestate")


class AsyncRunHandle(Dict[str, Any], Generic[R]):
    """A run, as the dictionary that the server answered; RunHandle for asyncio."""

    def __init__(self, client: "AsyncClient", run: JsonObject, read: Callable[[Any], Any]):
        super().__init__(run)
        self._client = client
        self._read = read

    @property
    def id(self) -> str:
        return str(self["id"])

    @property
    def status(self) -> str:
        """When it was asked for last."""
        return str(self["status"])

    async def result(self, *, timeout: Optional[Duration] = None) -> R:
        """Waits for the end, and answers the result as the workflow's annotation says.

        Raises RunFailed when it failed or was cancelled, WaitTimeout when `timeout` passed first.
        """
        answer: R = self._read(await self._client.result(self.id, timeout=timeout))
        return answer

    async def wait(self, *, timeout: Optional[Duration] = None) -> "AsyncRunHandle[R]":
        """Waits for the end, whatever it is, or until `timeout` has passed; then see `status`."""
        await self._client.wait(self.id, timeout=timeout)
        return await self.refresh()

    async def refresh(self) -> "AsyncRunHandle[R]":
        run = await self._client.show(self.id)
        self.clear()
        self.update(run)
        return self

    async def signal(self, name: str, payload: Any = None, *, id: Optional[str] = None) -> JsonObject:
        """Sends a signal. It is kept until the run takes it; `id` deduplicates."""
        return await self._client.signal(self.id, name, payload, id=id)

    def events(self, *, after: int = 0) -> AsyncIterator[JsonObject]:
        """The entries of the run's log as they are written, until it has ended."""
        return self._client.stream(self.id, after=after)

    async def messages(self, type: Optional[str] = None, *, after: int = 0) -> AsyncIterator[Any]:
        """What the workflow streams (ctx.stream), as it comes; those of one type, or all."""
        async for entry in self.events(after=after):
            if entry["kind"] == "stream" and type in (None, entry["name"]):
                yield entry["data"]

    async def cancel(self, *, reason: Optional[str] = None,
                     grace: Optional[Duration] = None) -> bool:
        """True when this asked a living run to end; False when it had ended already."""
        return await self._client.cancel(self.id, reason=reason, grace=grace)


class AsyncClient:
    """Talks to one server; options as of Client. It belongs to the event loop that uses it first."""

    def __init__(self, server: Optional[str] = None, *, token: Optional[str] = None,
                 timeout: Duration = 30, retry_for: Duration = 30,
                 ssl_context: Optional[ssl.SSLContext] = None):
        self.transport = AsyncTransport(server, token, timeout, retry_for, ssl_context)
        self.blocking = Client(server, token=token, timeout=timeout, retry_for=retry_for,
                               ssl_context=ssl_context)

    async def close(self) -> None:
        await self.transport.close()
        self.blocking.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    # ---- runs ----

    @overload
    async def start(self, workflow: Workflow[I, R], input: I, **options: Any
                    ) -> AsyncRunHandle[R]: ...
    @overload
    async def start(self, workflow: Workflow[None, R], input: None = None, **options: Any
                    ) -> AsyncRunHandle[R]: ...
    @overload
    async def start(self, workflow: str, input: Any = None, **options: Any
                    ) -> AsyncRunHandle[Any]: ...

    async def start(self, workflow: Union[Workflow[Any, Any], str], input: Any = None,
                    **options: Any) -> AsyncRunHandle[Any]:
        """Starts a run; options as of Client.start."""
        for name in options:
            if name not in _START_OPTIONS:
                raise TypeError("start() has no option %r; there are %s" % (
                    name, ", ".join(_START_OPTIONS)))
        request = starting(workflow, input, {**dict.fromkeys(_START_OPTIONS), **options})
        return AsyncRunHandle(self, await self.transport.call("POST", "/v1/runs", **request),
                              reader(workflow))

    async def handle(self, run_id: str, workflow: Optional[Workflow[Any, R]] = None
                     ) -> AsyncRunHandle[R]:
        """A run that exists; with its workflow, its result is read as that says."""
        return AsyncRunHandle(self, await self.show(run_id), reader(workflow))

    async def result(self, run_id: str, *, timeout: Optional[Duration] = None) -> Any:
        """Waits for the end of a run and answers its result; raises as Client.result."""
        until = None if timeout is None else time.monotonic() + seconds(timeout, "timeout")
        while True:
            wait = _WAIT if until is None else max(0.0, min(_WAIT, until - time.monotonic()))
            answer = await self.transport.call("GET", path("/v1/runs/", run_id, "/result"),
                                               query={"wait": in_milliseconds(wait)}, wait=wait)
            if answer["status"] == "completed":
                return answer["result"]
            if answer["status"] in ("failed", "cancelled"):
                raise RunFailed(run_id, answer["status"], answer.get("error"))
            if until is not None and time.monotonic() >= until:
                raise WaitTimeout("run %s is still %s" % (run_id, answer["status"]))

    async def wait(self, run_id: str, *, timeout: Optional[Duration] = None) -> bool:
        """Waits for the end of a run, whatever it is; False when `timeout` passed first."""
        try:
            await self.result(run_id, timeout=timeout)
        except RunFailed:
            return True
        except WaitTimeout:
            return False
        return True

    @overload
    async def run(self, workflow: Workflow[I, R], input: I = ..., *,
                  result_timeout: Optional[Duration] = None, **options: Any) -> R: ...
    @overload
    async def run(self, workflow: str, input: Any = None, *,
                  result_timeout: Optional[Duration] = None, **options: Any) -> Any: ...

    async def run(self, workflow: Union[Workflow[Any, Any], str], input: Any = None, *,
                  result_timeout: Optional[Duration] = None, **options: Any) -> Any:
        """start and result in one."""
        handle: AsyncRunHandle[Any] = await self.start(workflow, input, **options)
        return await handle.result(timeout=result_timeout)

    async def show(self, run_id: str) -> JsonObject:
        answer: JsonObject = await self.transport.call("GET", path("/v1/runs/", run_id))
        return answer

    async def list(self, *, q: Optional[str] = None, status: Optional[Several] = None,
                   workflow: Optional[Several] = None, tag: Optional[str] = None,
                   parent: Optional[str] = None, state: Optional[str] = None,
                   created_before: Optional[Time] = None, created_after: Optional[Time] = None,
                   page_size: Optional[int] = None) -> AsyncIterator[JsonObject]:
        """Runs that match, newest first, read page by page as you go on; as Client.list."""
        query: Dict[str, Any] = {
            "status": several("status", status), "workflow": several("workflow", workflow),
            **given(q=q, tag=tag, parent=parent, state=state, created_before=created_before,
                    created_after=created_after, page_size=page_size)}
        while True:
            page = await self.transport.call("GET", "/v1/runs", query=query)
            for run in page["items"]:
                yield run
            query["cursor"] = page.get("next")
            if query["cursor"] is None:
                return

    async def steps(self, run_id: str, *, name: Optional[str] = None) -> AsyncIterator[JsonObject]:
        """Its checkpoints in order."""
        query = given(name=name)
        while True:
            page = await self.transport.call("GET", path("/v1/runs/", run_id, "/steps"), query=query)
            for step in page["items"]:
                yield step
            query["cursor"] = page.get("next")
            if query["cursor"] is None:
                return

    async def _change(self, run_id: str, how: str, **body: Any) -> bool:
        answer = await self.transport.call("POST", path("/v1/runs/", run_id, how), body=body,
                                           is_repeatable=True)
        return bool(answer["changed"])

    async def cancel(self, run_id: str, *, reason: Optional[str] = None,
                     grace: Optional[Duration] = None) -> bool:
        """True when this asked a living run to end; False when it had ended already."""
        return await self._change(run_id, "/cancel", **given(reason=reason, grace=grace))

    async def pause(self, run_id: str) -> bool:
        return await self._change(run_id, "/pause")

    async def resume(self, run_id: str) -> bool:
        return await self._change(run_id, "/resume")

    # ---- signals and events ----

    async def signal(self, run_id: str, name: str, payload: Any = None, *,
                     id: Optional[str] = None, traceparent: Optional[str] = None) -> JsonObject:
        """Sends a signal to one run. It is kept until the run takes it; `id` deduplicates."""
        return await self._publish(path("/v1/runs/", run_id, "/signals/", name), payload, id,
                                   traceparent)

    async def emit(self, topic: str, payload: Any = None, *, id: Optional[str] = None,
                   traceparent: Optional[str] = None) -> JsonObject:
        """Publishes an event to a topic; answers {event_id, resumed, pending, duplicate}."""
        return await self._publish(path("/v1/events/", topic), payload, id, traceparent)

    async def _publish(self, target: str, payload: Any, id: Optional[str],
                       traceparent: Optional[str]) -> JsonObject:
        answer: JsonObject = await self.transport.call(
            "POST", target, text=encode(payload), query=given(id=id or uuid.uuid4().hex),
            is_repeatable=True, headers=given(traceparent=traceparent))
        return answer

    async def stream(self, run_id: str, *, after: int = 0) -> AsyncIterator[JsonObject]:
        """The entries of a run's log as they are written, until the run has ended.

        A connection that breaks is made again, and the stream goes on after the last entry seen.
        """
        target = path("/v1/runs/", run_id, "/events")
        backoff, plain = Backoff(), self.transport.plain
        until = time.monotonic() + plain.retry_for
        while True:
            failure: Exception = ConnectionError("the stream broke off")
            try:
                async for number, entry in self._entries(target, after):
                    if entry is None:
                        return
                    after = number
                    yield entry
                    if entry["kind"] == "finished":
                        return
                    backoff.reset()
                    until = time.monotonic() + plain.retry_for
            except (OSError, EOFError, asyncio.TimeoutError, ServerUnreachable) as error:
                failure = error
            pause = backoff.pause()
            if time.monotonic() + pause > until:
                raise ServerUnreachable("the stream %s of %s cannot go on: %s" % (
                    target, plain.url, failure)) from failure
            await asyncio.sleep(pause)

    async def _entries(self, target: str, after: int) -> AsyncIterator[Any]:
        """(number, entry) of one connection; (0, None) when nothing will ever come."""
        connection = await self.transport.connect(self.transport.plain.timeout)
        try:
            status, headers = await connection.ask(self.transport.head(
                "GET", self.transport.plain.target(target), {
                    "Last-Event-ID": str(after), "Accept": "text/event-stream"}, False), None)
            if status == 204:
                yield 0, None
                return
            if status != 200:
                body = await connection.read(headers)
                if status in (502, 503, 504):
                    raise ConnectionError("HTTP %d" % status)
                raise problem(status, body)
            number = None
            async for line in _lines(connection, headers):
                if line.startswith(b"id:"):
                    number = int(line[3:])
                elif line.startswith(b"data:") and number is not None:
                    yield number, json.loads(line[5:])
        finally:
            connection.close()


async def _lines(connection: Connection, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
    rest = b""
    parts = connection.parts(headers)
    while True:
        try:
            part = await asyncio.wait_for(parts.__anext__(), _SILENCE_MAX)
        except StopAsyncIteration:
            return
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line
