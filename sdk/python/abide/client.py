"""Client: what a program asks of an abide server.

Answers are the JSON of the API as dictionaries (docs/http.md says what is in them). Runs are asked
about here; everything else has a group of its own (resources.py).
"""
from __future__ import annotations

import ssl
import time
import uuid
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, TypeVar, Union, overload

from .convert import encode
from .errors import RunFailed, WaitTimeout
from .fields import Duration, Several, Time, given, in_milliseconds, path, seconds, several
from .handles import RunHandle
from .resources import (DeadLetters, Handlers, JsonObject, Queues, Schedules, ServerInfo, Tasks,
                        Tokens, Topics, CodeTurns, Workflows, pages)
from .stream import follow
from .transport import Transport
from .workflows.definition import Workflow

I = TypeVar("I")  # noqa: E741
R = TypeVar("R")
_WAIT = 25.0  # seconds of one long poll
_ENDED = ("completed", "failed", "cancelled")


def _run_path(run_id: str) -> str:
    return path("/v1/runs/", run_id)


def starting(workflow: Union[Workflow[Any, Any], str], input: Any,
             options: Dict[str, Any]) -> Dict[str, Any]:
    """A request that starts a run: what to pass to call("POST", "/v1/runs", …)."""
    name = workflow if isinstance(workflow, str) else workflow.name
    wait = options.pop("wait")
    head = given(**{each: options.pop(each) for each in ("key", "traceparent", "tracestate")})
    body = given(workflow=name, **options)
    key = head.pop("key", None if "id" in body else uuid.uuid4().hex)
    return {"query": {} if wait is None else {"wait": in_milliseconds(wait, "wait")},
            "text": '%s,"input":%s}' % (encode(body)[:-1], encode(input)),
            "headers": {"Idempotency-Key": key, **head}, "wait": seconds(wait or 0, "wait"),
            "is_repeatable": True}


def reader(workflow: Union[Workflow[Any, Any], str, None]) -> Callable[[Any], Any]:
    """What makes a result of JSON."""
    return workflow.read_result if isinstance(workflow, Workflow) else _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


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
        self.dead_letters = DeadLetters(self.transport)
        self.handlers = Handlers(self.transport)
        self.queues = Queues(self.transport)
        self.schedules = Schedules(self.transport)
        self.server = ServerInfo(self.transport)
        self.tasks = Tasks(self.transport)
        self.tokens = Tokens(self.transport)
        self.topics = Topics(self.transport)
        self.code_turns = CodeTurns(self.transport)
        self.workflows = Workflows(self.transport)

    def close(self) -> None:
        self.transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- sources ----

    def deploy(self, name: str, source: str, *, file: Optional[str] = None) -> JsonObject:
        """Makes `source` the current version of the workflow `name`. `file` is its name in errors."""
        return self.transport.object("PUT", path("/v1/workflows/", name), query=given(file=file),
                                   text=source)

    def plan(self, name: str, source: str, *, file: Optional[str] = None) -> JsonObject:
        """What deploying `source` would mean for the runs that wait or failed; deploys nothing."""
        return self.transport.object("PUT", path("/v1/workflows/", name),
                                   query={**given(file=file), "plan": "true"}, text=source)

    def check(self, source: str, *, file: Optional[str] = None) -> JsonObject:
        """Looks for mistakes without deploying: {ok, workflows, findings}. `file` is its name."""
        return self.transport.object("POST", "/v1/check", query=given(file=file), text=source,
                                   is_repeatable=True)

    # ---- runs ----

    @overload
    def start(self, workflow: Workflow[I, R], input: I, *, id: Optional[str] = None,
              key: Optional[str] = None, tags: Optional[Iterable[str]] = None,
              delay: Optional[Duration] = None, start_at: Optional[Time] = None,
              priority: Optional[int] = None, queue: Optional[str] = None,
              timeout: Optional[Duration] = None, ttl: Optional[Duration] = None,
              leftover_signals: Optional[str] = None, leftover_topic: Optional[str] = None,
              wait: Optional[Duration] = None, traceparent: Optional[str] = None,
              tracestate: Optional[str] = None) -> RunHandle[R]: ...
    @overload
    def start(self, workflow: Workflow[None, R], input: None = None, *, id: Optional[str] = None,
              key: Optional[str] = None, tags: Optional[Iterable[str]] = None,
              delay: Optional[Duration] = None, start_at: Optional[Time] = None,
              priority: Optional[int] = None, queue: Optional[str] = None,
              timeout: Optional[Duration] = None, ttl: Optional[Duration] = None,
              leftover_signals: Optional[str] = None, leftover_topic: Optional[str] = None,
              wait: Optional[Duration] = None, traceparent: Optional[str] = None,
              tracestate: Optional[str] = None) -> RunHandle[R]: ...
    @overload
    def start(self, workflow: str, input: Any = None, *, id: Optional[str] = None,
              key: Optional[str] = None, tags: Optional[Iterable[str]] = None,
              delay: Optional[Duration] = None, start_at: Optional[Time] = None,
              priority: Optional[int] = None, queue: Optional[str] = None,
              timeout: Optional[Duration] = None, ttl: Optional[Duration] = None,
              leftover_signals: Optional[str] = None, leftover_topic: Optional[str] = None,
              wait: Optional[Duration] = None, traceparent: Optional[str] = None,
              tracestate: Optional[str] = None) -> RunHandle[Any]: ...

    def start(self, workflow: Union[Workflow[Any, Any], str], input: Any = None, *,
              id: Optional[str] = None,
              key: Optional[str] = None, tags: Optional[Iterable[str]] = None,
              delay: Optional[Duration] = None, start_at: Optional[Time] = None,
              priority: Optional[int] = None, queue: Optional[str] = None,
              timeout: Optional[Duration] = None, ttl: Optional[Duration] = None,
              leftover_signals: Optional[str] = None, leftover_topic: Optional[str] = None,
              wait: Optional[Duration] = None, traceparent: Optional[str] = None,
              tracestate: Optional[str] = None) -> RunHandle[Any]:
        """Starts a run and answers it; with `wait`, once it has ended or that long has passed.

        A second start with the same `id` or `key` (an idempotency key) answers the first run.
        leftover_signals: "discard", "topic" (leftover_topic) or "dead_letter".
        """
        request = starting(workflow, input, dict(
            id=id, key=key, tags=tags, delay=delay, start_at=start_at, priority=priority,
            queue=queue, timeout=timeout, ttl=ttl, leftover_signals=leftover_signals,
            leftover_topic=leftover_topic, wait=wait, traceparent=traceparent,
            tracestate=tracestate))
        return RunHandle(self, self.transport.call("POST", "/v1/runs", **request), reader(workflow))

    def handle(self, run_id: str, workflow: Optional[Workflow[Any, R]] = None) -> RunHandle[R]:
        """A run that exists; with its workflow, its result is read as that says."""
        return RunHandle(self, self.show(run_id), reader(workflow))

    def result(self, run_id: str, *, timeout: Optional[Duration] = None) -> Any:
        """Waits for the end of a run and answers its result.

        Raises RunFailed when it failed or was cancelled, WaitTimeout when `timeout` passed first.
        """
        until = None if timeout is None else time.monotonic() + seconds(timeout, "timeout")
        while True:
            wait = _WAIT if until is None else max(0.0, min(_WAIT, until - time.monotonic()))
            answer = self.transport.call("GET", path("/v1/runs/", run_id, "/result"),
                                         query={"wait": in_milliseconds(wait)}, wait=wait)
            if answer["status"] == "completed":
                return answer["result"]
            if answer["status"] in _ENDED:
                raise RunFailed(run_id, answer["status"], answer.get("error"))
            if until is not None and time.monotonic() >= until:
                raise WaitTimeout("run %s is still %s" % (run_id, answer["status"]))

    def wait(self, run_id: str, *, timeout: Optional[Duration] = None) -> bool:
        """Waits for the end of a run, whatever it is; False when `timeout` passed first."""
        try:
            self.result(run_id, timeout=timeout)
        except RunFailed:
            return True
        except WaitTimeout:
            return False
        return True

    @overload
    def run(self, workflow: Workflow[I, R], input: I = ..., *,
            result_timeout: Optional[Duration] = None, **options: Any) -> R: ...
    @overload
    def run(self, workflow: str, input: Any = None, *,
            result_timeout: Optional[Duration] = None, **options: Any) -> Any: ...

    def run(self, workflow: Union[Workflow[Any, Any], str], input: Any = None, *,
            result_timeout: Optional[Duration] = None, **options: Any) -> Any:
        """start and result in one."""
        handle: RunHandle[Any] = self.start(workflow, input, **options)
        return handle.result(timeout=result_timeout)

    def show(self, run_id: str) -> JsonObject:
        return self.transport.object("GET", path("/v1/runs/", run_id))

    def list(self, *, q: Optional[str] = None, status: Optional[Several] = None, workflow: Optional[Several] = None,
             tag: Optional[str] = None, parent: Optional[str] = None,
             waiting_on: Optional[str] = None, state: Optional[str] = None,
             idle_before: Optional[Time] = None, created_before: Optional[Time] = None,
             created_after: Optional[Time] = None, where: Optional[str] = None,
             page_size: Optional[int] = None) -> Iterator[JsonObject]:
        """Runs that match, newest first, read page by page as you go on.

        `q` is a filter such as "status:failed age>2h"; `state` is KEY=VALUE,
        `where` an expression that is true where a run waits, such as "order.total > 100".
        """
        return pages(self.transport, "/v1/runs", {
            "status": several("status", status), "workflow": several("workflow", workflow),
            **given(q=q, tag=tag, parent=parent, waiting_on=waiting_on, state=state,
                    idle_before=idle_before, created_before=created_before,
                    created_after=created_after, where=where, page_size=page_size)})

    def changes(self, *, kind: Optional[Several] = None, run: Optional[str] = None,
                after: Optional[int] = None) -> Iterator[JsonObject]:
        """What changes on the server, as it happens, without an end.

        Each answer names things by kind ({"runs": [{"id", "workflow", "status"}], …}); one with a
        `reason` says that more changed than is told. A connection that breaks is made again.
        """
        for _, data in follow(self.transport, "/v1/changes", lambda data: False,
                              query={"kind": several("kind", kind), **given(run=run)},
                              after=given(after=after).get("after")):
            yield data

    def change_many(self, verb: str, *, ids: Optional[Iterable[str]] = None,
                    q: Optional[str] = None, dry_run: Optional[bool] = None,
                    page_size: Optional[int] = None, cursor: Optional[str] = None,
                    reason: Optional[str] = None, grace: Optional[Duration] = None,
                    version: Optional[str] = None, step: Optional[str] = None,
                    iteration: Optional[int] = None) -> JsonObject:
        """Cancels, pauses, resumes, releases, retries, removes, moves or rewinds (`verb`) up to 1000
        runs at once; `version` is for retry and move, `step` and `iteration` are for rewind.

        `ids`, or a filter `q`, of which one call changes `page_size` runs: go on with `cursor` and
        the answer's `next`. `dry_run` changes nothing and says what would happen.
        """
        return self.transport.object("POST", "/v1/runs/bulk", body=given(
            verb=verb, ids=ids, q=q, dry_run=dry_run, page_size=page_size, cursor=cursor,
            reason=reason, grace=grace, version=version, step=step, iteration=iteration))

    def remove(self, run_id: str) -> None:
        """Removes an ended run and all that belongs to it."""
        self.transport.call("DELETE", path("/v1/runs/", run_id))

    # ---- changing a run; answers say whether anything changed ----

    def _change(self, run_id: str, how: str, **body: Any) -> bool:
        return bool(self.transport.call("POST", path("/v1/runs/", run_id, how), body=body,
                                        is_repeatable=True)["changed"])

    def cancel(self, run_id: str, *, reason: Optional[str] = None,
               grace: Optional[Duration] = None) -> bool:
        """True when this asked a living run to end; False when it had ended already."""
        return self._change(run_id, "/cancel", **given(reason=reason, grace=grace))

    def pause(self, run_id: str) -> bool:
        return self._change(run_id, "/pause")

    def resume(self, run_id: str) -> bool:
        return self._change(run_id, "/resume")

    def release(self, run_id: str) -> bool:
        """Takes a waiting run out of memory."""
        return self._change(run_id, "/release")

    def load(self, run_id: str) -> bool:
        """Takes a waiting run into memory."""
        return self._change(run_id, "/load")

    def rewind(self, run_id: str, step: str, *, iteration: Optional[int] = None) -> JsonObject:
        """Goes back to a step, the last one of that name unless `iteration` (from 0) is given."""
        return self.transport.object("POST", path("/v1/runs/", run_id, "/rewind"),
                                   body=given(step=step, iteration=iteration))

    def fork(self, run_id: str, *, step: Optional[str] = None, iteration: Optional[int] = None,
             id: Optional[str] = None, version: Optional[str] = None,
             dry_run: Optional[bool] = None) -> JsonObject:
        """A new run from a step of this one, or from its start; answers it. With `version` it goes
        on there in another version of the script."""
        body = given(step=step, iteration=iteration, id=id, version=version, dry_run=dry_run)
        return self.transport.object("POST", path("/v1/runs/", run_id, "/fork"), body=body,
                                   has_body=True)

    def move(self, run_id: str, *, version: Optional[str] = None,
             dry_run: Optional[bool] = None) -> JsonObject:
        """Puts a waiting run on another version of its script, the current one unless given."""
        return self.transport.object("POST", path("/v1/runs/", run_id, "/move"),
                                   body=given(version=version, dry_run=dry_run), has_body=True)

    def set(self, run_id: str, values: Iterable[JsonObject], *,
            dry_run: Optional[bool] = None) -> JsonObject:
        """Gives variables of a waiting run other values, all or none: [{"path", "value"}]."""
        return self.transport.object("POST", path("/v1/runs/", run_id, "/set"),
                                   body={"values": list(values), **given(dry_run=dry_run)})

    def retry(self, run_id: str, *, id: Optional[str] = None, version: Optional[str] = None,
              dry_run: Optional[bool] = None) -> JsonObject:
        """Takes up a failed run at its last good place, by a new run; answers it. With `version`
        it goes on in another version of the script."""
        return self.transport.object("POST", path("/v1/runs/", run_id, "/retry"),
                                   body=given(id=id, version=version, dry_run=dry_run),
                                   has_body=True)

    # ---- looking into a run ----

    def steps(self, run_id: str, *, name: Optional[str] = None, iteration: Optional[int] = None,
              page_size: Optional[int] = None) -> Iterator[JsonObject]:
        """Its checkpoints in order."""
        return pages(self.transport, path("/v1/runs/", run_id, "/steps"),
                     given(name=name, iteration=iteration, page_size=page_size))

    def log(self, run_id: str, *, after: int = 0,
            page_size: Optional[int] = None) -> Iterator[JsonObject]:
        """Its history so far; stream() goes on as it is written."""
        query = given(after=after, page_size=page_size)
        while True:
            page = self.transport.call("GET", path("/v1/runs/", run_id, "/log"), query=query)
            yield from page["items"]
            if page["next"] is None:
                return
            query["after"] = page["next"]

    def stream(self, run_id: str, *, after: int = 0) -> Iterator[JsonObject]:
        """The entries of a run's log as they are written, until the run has ended.

        A connection that breaks is made again, and the stream goes on after the last entry seen.
        """
        for _, entry in follow(self.transport, path("/v1/runs/", run_id, "/events"),
                               lambda entry: bool(entry["kind"] == "finished"),
                               after=given(after=after)["after"]):
            yield entry

    def turns(self, run_id: str, *, page_size: Optional[int] = None) -> Iterator[JsonObject]:
        """Its turns whose beginning is kept, oldest first."""
        return pages(self.transport, path("/v1/runs/", run_id, "/turns"), given(page_size=page_size))

    def diff(self, run_id: str, from_turn: Optional[int] = None,
             to_turn: Optional[int] = None) -> JsonObject:
        """What changed in its variables between two kept turns; one that is not given is now."""
        turns = {"from": from_turn, "to": to_turn}
        return self.transport.object("GET", path("/v1/runs/", run_id, "/diff"), query=turns)

    def snapshot(self, run_id: str, *, depth: Optional[int] = None, path: Optional[str] = None,
                 turn: Optional[int] = None) -> JsonObject:
        """Where its script stands: frames with variables, waits, bytes; how it looked when it failed."""
        return self.transport.object("GET", "%s/snapshot" % _run_path(run_id),
                                   query=given(depth=depth, path=path, turn=turn))

    def try_run(self, run_id: str, *, tasks: Optional[Iterable[JsonObject]] = None,
                children: Optional[Iterable[JsonObject]] = None,
                signals: Optional[Iterable[JsonObject]] = None,
                events: Optional[Iterable[JsonObject]] = None,
                time: Optional[Duration] = None, turn: Optional[int] = None,
                version: Optional[str] = None, source: Optional[str] = None) -> JsonObject:
        """What it would do with these answers; nothing is written and nothing leaves.

        tasks, children: {"name", "result"} or {"name", "error"}; signals: {"name", "payload"};
        events: {"topic", "payload"}; time: how much may pass. turn: begin as that kept turn began;
        version or source: put the copy on that version first ("current", or one that is not
        deployed).
        """
        return self.transport.object("POST", path("/v1/runs/", run_id, "/try"), is_repeatable=True,
                                   body=given(tasks=tasks, children=children, signals=signals,
                                              events=events, time=time, turn=turn,
                                              version=version, source=source))

    def copy(self, run_id: str, *, turn: Optional[int] = None,
             secrets: Optional[bool] = None) -> JsonObject:
        """What a debugger needs to go on with a copy of it: script, snapshot, deliveries.

        secrets: with the data that config.secret hides; for admins, and logged.
        """
        return self.transport.object("GET", "%s/copy" % _run_path(run_id),
                                     query=given(turn=turn, secrets=secrets))

    # ---- signals and events ----

    def signal(self, run_id: str, name: str, payload: Any = None, *, id: Optional[str] = None,
               traceparent: Optional[str] = None) -> JsonObject:
        """Sends a signal to one run. It is kept until the run takes it; `id` deduplicates."""
        return self._publish(path("/v1/runs/", run_id, "/signals/", name), payload, id, traceparent)

    def emit(self, topic: str, payload: Any = None, *, id: Optional[str] = None,
             traceparent: Optional[str] = None) -> JsonObject:
        """Publishes an event to a topic; answers {event_id, resumed, pending, duplicate}."""
        return self._publish(path("/v1/events/", topic), payload, id, traceparent)

    def _publish(self, target: str, payload: Any, id: Optional[str],
                 traceparent: Optional[str]) -> JsonObject:
        return self.transport.object("POST", target, text=encode(payload),
                                   query=given(id=id or uuid.uuid4().hex), is_repeatable=True,
                                   headers=given(traceparent=traceparent))

    def signals(self, run_id: str, *, page_size: Optional[int] = None) -> Iterator[JsonObject]:
        """Signals that the run has not taken, oldest first."""
        return pages(self.transport, path("/v1/runs/", run_id, "/signals"), given(page_size=page_size))

    def remove_signals(self, run_id: str, *, name: Optional[str] = None,
                       id: Optional[str] = None) -> int:
        """Removes those of a name, one by the `id` that signals() shows, or all."""
        return int(self.transport.call("DELETE", path("/v1/runs/", run_id, "/signals"),
                                       query=given(name=name, id=id),
                                       is_repeatable=id is not None)["removed"])


__all__: List[str] = ["Client"]
