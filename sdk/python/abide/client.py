"""Client: what a program asks of an abide server.

Answers are the JSON of the API as dictionaries (docs/http.md says what is in them).
"""
from __future__ import annotations

import http.client
import json
import ssl
import time
import uuid
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional

from .errors import RunFailed, WaitTimeout
from .transport import (Backoff, Duration, Transport, _problem, in_milliseconds, quote, seconds)

JsonObject = Dict[str, Any]
_WAIT = 25.0  # seconds of one long poll
_SILENCE_MAX = 60.0  # a stream says something every 25 s
_ENDED = ("completed", "failed", "cancelled")


def _given(**fields: Any) -> JsonObject:
    return {key: value for key, value in fields.items() if value is not None}


class Client:
    """Talks to one server; may be shared by threads.

    server       URL; $ABIDE_SERVER or http://127.0.0.1:7433 unless given
    token        bearer token; $ABIDE_TOKEN unless given
    timeout      how long one request may take
    retry_for    how long a request is tried again when the server is away
    ssl_context  for https with certificates of your own
    """

    def __init__(self, server: Optional[str] = None, *, token: Optional[str] = None,
                 timeout: Duration = 30, retry_for: Duration = 30,
                 ssl_context: Optional[ssl.SSLContext] = None):
        self.transport = Transport(server, token, timeout, retry_for, ssl_context)
        self.tasks = Tasks(self)

    def close(self) -> None:
        self.transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def pages(self, path: str, query: Mapping[str, Any]) -> Iterator[JsonObject]:
        """The items of a list, page after page."""
        cursor: Optional[str] = None
        while True:
            page = self.transport.call("GET", path, query={**query, "cursor": cursor}).json
            yield from page["items"]
            cursor = page["next"]
            if cursor is None:
                return

    # ---- workflows ----

    def deploy(self, name: str, source: str) -> JsonObject:
        """Makes `source` the current version of the workflow `name`."""
        return self.transport.call("PUT", "/v1/workflows/" + quote(name), text=source).json

    # ---- runs ----

    def start(self, workflow: str, input: Any = None, *, id: Optional[str] = None,
              key: Optional[str] = None, tags: Optional[Iterable[str]] = None,
              delay: Optional[Duration] = None, start_at: Optional[str] = None,
              priority: Optional[int] = None, queue: Optional[str] = None,
              timeout: Optional[Duration] = None, ttl: Optional[Duration] = None,
              wait: Optional[Duration] = None, traceparent: Optional[str] = None) -> JsonObject:
        """Starts a run and answers it; with `wait`, once it has ended or that long has passed.

        A second start with the same `id` or `key` (an idempotency key) answers the first run.
        """
        body = _given(workflow=workflow, id=id, delay=delay, start_at=start_at, priority=priority,
                      queue=queue, timeout=timeout, ttl=ttl,
                      tags=None if tags is None else list(tags))
        body["input"] = input
        headers = {"Idempotency-Key": key or (None if id else uuid.uuid4().hex),
                   "traceparent": traceparent}
        query = {"wait": in_milliseconds(wait)} if wait else None
        return self.transport.call("POST", "/v1/runs", query=query, body=body, headers=headers,
                                   wait=seconds(wait or 0)).json

    def result(self, run_id: str, *, timeout: Optional[Duration] = None) -> Any:
        """Waits for the end of a run and answers its result.

        Raises RunFailed when it failed or was cancelled, WaitTimeout when `timeout` passed first.
        """
        until = None if timeout is None else time.monotonic() + seconds(timeout)
        while True:
            wait = _WAIT if until is None else max(0.0, min(_WAIT, until - time.monotonic()))
            answer = self.transport.call("GET", "/v1/runs/%s/result" % quote(run_id),
                                         query={"wait": in_milliseconds(wait)}, wait=wait).json
            if answer["status"] == "completed":
                return answer["result"]
            if answer["status"] in _ENDED:
                raise RunFailed(run_id, answer["status"], answer.get("error"))
            if until is not None and time.monotonic() >= until:
                raise WaitTimeout("run %s is still %s" % (run_id, answer["status"]))

    def run(self, workflow: str, input: Any = None, *, result_timeout: Optional[Duration] = None,
            **options: Any) -> Any:
        """start and result in one."""
        return self.result(self.start(workflow, input, **options)["id"], timeout=result_timeout)

    def show(self, run_id: str) -> JsonObject:
        return self.transport.call("GET", "/v1/runs/" + quote(run_id)).json

    def list(self, *, status: Optional[str] = None, workflow: Optional[str] = None,
             tag: Optional[str] = None, parent: Optional[str] = None,
             waiting_on: Optional[str] = None, idle_before: Optional[str] = None,
             created_before: Optional[str] = None, created_after: Optional[str] = None,
             page_size: Optional[int] = None) -> Iterator[JsonObject]:
        """Runs that match, newest first, read page by page as you go on."""
        return self.pages("/v1/runs", _given(
            status=status, workflow=workflow, tag=tag, parent=parent, waiting_on=waiting_on,
            idle_before=idle_before, created_before=created_before, created_after=created_after,
            limit=page_size))

    def cancel(self, run_id: str, *, reason: Optional[str] = None,
               grace: Optional[Duration] = None) -> bool:
        """True when this asked a living run to end; False when it had ended already."""
        return self.transport.call("POST", "/v1/runs/%s/cancel" % quote(run_id),
                                   body=_given(reason=reason, grace=grace)).json["changed"]

    def signal(self, run_id: str, name: str, payload: Any = None, *, id: Optional[str] = None,
               traceparent: Optional[str] = None) -> JsonObject:
        """Sends a signal to one run. It is kept until the run takes it; `id` deduplicates."""
        return self.transport.call(
            "POST", "/v1/runs/%s/signals/%s" % (quote(run_id), quote(name)), body=payload,
            has_body=True, query={"id": id or uuid.uuid4().hex},
            headers={"traceparent": traceparent}).json

    def emit(self, topic: str, payload: Any = None, *, id: Optional[str] = None,
             traceparent: Optional[str] = None) -> JsonObject:
        """Publishes an event to a topic; answers {event_id, resumed, pending, duplicate}."""
        return self.transport.call("POST", "/v1/events/" + quote(topic), body=payload,
                                   has_body=True, query={"id": id or uuid.uuid4().hex},
                                   headers={"traceparent": traceparent}).json

    # ---- streams ----

    def stream(self, run_id: str, *, after: int = 0) -> Iterator[JsonObject]:
        """The entries of a run's log as they are written, until the run has ended.

        A connection that breaks is made again, and the stream goes on after the last entry seen.
        """
        backoff = Backoff()
        until = time.monotonic() + self.transport.retry_for
        while True:
            try:
                for entry in self._entries(run_id, after):
                    if entry is None:
                        return
                    after = entry["seq"]
                    yield entry
                    if entry["kind"] == "finished":
                        return
                    backoff.reset()
                    until = time.monotonic() + self.transport.retry_for
                failure: Exception = ConnectionError("the stream broke off")
            except (OSError, http.client.HTTPException) as error:
                failure = error
            pause = backoff.pause()
            if time.monotonic() + pause > until:
                raise failure
            time.sleep(pause)

    def _entries(self, run_id: str, after: int) -> Iterator[Optional[JsonObject]]:
        """Of one connection; None when nothing will ever come."""
        connection = self.transport.connect(_SILENCE_MAX)
        try:
            target = self.transport.target("/v1/runs/%s/events" % quote(run_id))
            connection.request("GET", target, headers=self.transport.headers(
                {"Last-Event-ID": str(after), "Accept": "text/event-stream"}))
            response = connection.getresponse()
            if response.status == 204:
                yield None
                return
            if response.status in (502, 503, 504):
                raise ConnectionError("HTTP %d" % response.status)
            if response.status != 200:
                raise _problem(response.status, response.read())
            for line in response:
                if line.startswith(b"data:"):
                    yield json.loads(line[5:])
        finally:
            connection.close()


class Tasks:
    """Tasks that belong to no run (client.tasks)."""

    def __init__(self, client: Client):
        self._client = client

    def create(self, name: str, input: Any = None, *, id: Optional[str] = None,
               **options: Any) -> JsonObject:
        """Queues a task. Options: queue, priority, delay, attempts, retry_delay, retry_factor,
        retry_max_delay, timeout, schedule_timeout, heartbeat_timeout, concurrency_key."""
        body = _given(name=name, id=id or "task_" + uuid.uuid4().hex, **options)
        body["input"] = input
        return self._client.transport.call("POST", "/v1/tasks", body=body).json

    def show(self, task_id: str) -> JsonObject:
        return self._client.transport.call("GET", "/v1/tasks/" + quote(task_id)).json

    def list(self, *, status: Optional[str] = None, queue: Optional[str] = None,
             page_size: Optional[int] = None) -> Iterator[JsonObject]:
        return self._client.pages("/v1/tasks", _given(status=status, queue=queue, limit=page_size))

    def retry(self, task_id: str) -> JsonObject:
        """Queues a failed task again."""
        return self._client.transport.call("POST", "/v1/tasks/%s/retry" % quote(task_id),
                                           retry_for=0).json


__all__: List[str] = ["Client", "Tasks"]
