"""Groups of requests: client.tasks, client.schedules, client.queues, …

Answers are the JSON of the API as dictionaries (docs/http.md says what is in them). Options that
are None are not sent. Requests that the server cannot tell from a second one are sent once
(transport.py, [T2]).
"""
from __future__ import annotations

import json
import uuid
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Union

from .fields import Duration, Several, Time, given, path, seconds, several
from .stream import follow
from .transport import Transport

JsonObject = Dict[str, Any]


def pages(transport: Transport, target: str, query: Mapping[str, Any],
          member: str = "items") -> Iterator[JsonObject]:
    """The items of a list, page after page."""
    cursor: Optional[str] = None
    while True:
        page = transport.call("GET", target, query={**query, "cursor": cursor})
        yield from page[member]
        cursor = page.get("next")
        if cursor is None:
            return


class Group:
    def __init__(self, transport: Transport):
        self._transport = transport

    def _call(self, method: str, target: str, **options: Any) -> Any:
        return self._transport.call(method, target, **options)

    def _object(self, method: str, target: str, **options: Any) -> JsonObject:
        return self._transport.object(method, target, **options)

    def _objects(self, member: str, method: str, target: str, **options: Any) -> List[JsonObject]:
        answer: List[JsonObject] = self._transport.call(method, target, **options)[member]
        return answer

    def _changed(self, target: str) -> bool:
        return bool(self._call("POST", target, is_repeatable=True)["changed"])

    def _pages(self, target: str, page_size: Optional[int] = None,
               **query: Any) -> Iterator[JsonObject]:
        return pages(self._transport, target, given(page_size=page_size, **query))


class Workflows(Group):
    """Deployed workflows (client.workflows); Client.deploy and Client.check are about sources."""

    def list(self, *, name: Optional[str] = None,
             page_size: Optional[int] = None) -> Iterator[JsonObject]:
        """The current version of each; with `name`, all versions of that one."""
        return self._pages("/v1/workflows", page_size, name=name)

    def show(self, name: str, *, version: Optional[str] = None) -> JsonObject:
        """With its source; the current version unless given."""
        return self._object("GET", path("/v1/workflows/", name), query=given(version=version))

    def places(self, name: str, *, version: Optional[str] = None) -> JsonObject:
        """Where runs of a version wait and failed, and how many; the current one unless given."""
        return self._object("GET", path("/v1/workflows/", name, "/places"),
                          query=given(version=version))


class Tasks(Group):
    """Tasks, those of runs and those that belong to none (client.tasks)."""

    def create(self, name: str, input: Any = None, *, id: Optional[str] = None,
               queue: Optional[str] = None, priority: Optional[int] = None,
               delay: Optional[Duration] = None, attempts: Optional[int] = None,
               retry_delay: Optional[Duration] = None, retry_factor: Optional[float] = None,
               retry_max_delay: Optional[Duration] = None, timeout: Optional[Duration] = None,
               schedule_timeout: Optional[Duration] = None,
               heartbeat_timeout: Optional[Duration] = None,
               concurrency_key: Optional[str] = None) -> JsonObject:
        """Queues a task that belongs to no run. A second one with the same `id` is the first."""
        body = given(name=name, id=id or "task_" + uuid.uuid4().hex, queue=queue,
                     priority=priority, delay=delay, attempts=attempts, retry_delay=retry_delay,
                     retry_factor=retry_factor, retry_max_delay=retry_max_delay, timeout=timeout,
                     schedule_timeout=schedule_timeout, heartbeat_timeout=heartbeat_timeout,
                     concurrency_key=concurrency_key)
        return self._object("POST", "/v1/tasks", body={**body, "input": input}, is_repeatable=True)

    def show(self, task_id: str) -> JsonObject:
        return self._object("GET", path("/v1/tasks/", task_id))

    def list(self, *, status: Optional[Several] = None, queue: Optional[str] = None,
             name: Optional[str] = None, run: Optional[str] = None,
             page_size: Optional[int] = None) -> Iterator[JsonObject]:
        """Tasks that match; with `run`, those of the run with that id."""
        return pages(self._transport, "/v1/tasks",
                     {"status": several("status", status),
                      **given(queue=queue, name=name, run=run, page_size=page_size)})

    def retry(self, task_id: str) -> JsonObject:
        """Makes the next attempt due now, or queues a failed task of no run again.

        The answer's `changed` is false when it was due already.
        """
        return self._object("POST", path("/v1/tasks/", task_id, "/retry"))

    # ---- for workers; the class Worker does all of this ----

    def claim(self, worker: str, *, queues: Optional[Iterable[str]] = None,
              names: Optional[Iterable[str]] = None, max: Optional[int] = None,
              wait: Optional[Duration] = None,
              lease: Optional[Duration] = None) -> List[JsonObject]:
        """Leases tasks; with `wait`, waits that long for one."""
        body = given(worker=worker, queues=queues, names=names, max=max, wait=wait, lease=lease)
        return self._objects("tasks", "POST", "/v1/tasks/claim", body=body,
                          wait=seconds(wait or 0, "wait"))

    def complete(self, results: Iterable[JsonObject]) -> List[JsonObject]:
        """Says what became of leased tasks: {id, token} with result, error, or release: true."""
        return self._objects("results", "POST", "/v1/tasks/complete", body=given(results=results),
                          is_repeatable=True)

    def complete_and_claim(self, results: Iterable[JsonObject], worker: str, *,
                           queues: Optional[Iterable[str]] = None,
                           names: Optional[Iterable[str]] = None, max: Optional[int] = None,
                           lease: Optional[Duration] = None) -> JsonObject:
        """Both in one request: `results`, and the `tasks` that are there once they are stored."""
        claim = given(worker=worker, queues=queues, names=names, max=max, lease=lease)
        return self._object("POST", "/v1/tasks/complete", body=given(results=results, claim=claim))

    def heartbeat(self, tasks: Iterable[JsonObject], *,
                  lease: Optional[Duration] = None) -> List[JsonObject]:
        """Renews leases: {id, token}, and progress if there is any."""
        return self._objects("tasks", "POST", "/v1/tasks/heartbeat", body=given(tasks=tasks, lease=lease),
                          is_repeatable=True)


class CodeTurns(Group):
    """CodeTurns of workflows that this process executes (client.code_turns); docs/protocol.md."""

    def register(self, workflows: Iterable[JsonObject]) -> List[JsonObject]:
        """Says which workflows this process has: {name, version}, and current: true."""
        return self._objects("workflows", "POST", "/v1/turns/register", body=given(workflows=workflows),
                          is_repeatable=True)

    def claim(self, worker: str, workflows: Iterable[JsonObject], *, max: Optional[int] = None,
              wait: Optional[Duration] = None,
              lease: Optional[Duration] = None) -> List[JsonObject]:
        """Takes turns to be executed; with `wait`, waits that long for one."""
        body = given(worker=worker, workflows=workflows, max=max, wait=wait, lease=lease)
        return self._objects("turns", "POST", "/v1/turns/claim", body=body,
                          wait=seconds(wait or 0, "wait"))

    def commit(self, turns: Iterable[JsonObject], *, claim: Optional[JsonObject] = None) -> Any:
        """Says what turns did: {turn, entries, outcome}, and what the outcome needs.

        Answers a verdict for each. With `claim`, {worker, workflows, max, lease}, the answer is
        {turns, claimed}: turns that are ready by then.
        """
        answer = self._call("POST", "/v1/turns/commit", body=given(turns=turns, claim=claim))
        return answer["turns"] if claim is None else answer

    def heartbeat(self, turns: Iterable[JsonObject], *,
                  lease: Optional[Duration] = None) -> List[JsonObject]:
        """Keeps turns: {turn}."""
        return self._objects("turns", "POST", "/v1/turns/heartbeat", body=given(turns=turns, lease=lease),
                          is_repeatable=True)

    def journal(self, turn: int) -> JsonObject:
        """The turn with its whole journal, for who does not have the run in memory any more."""
        return self._object("POST", "/v1/turns/journal", body=given(turn=turn), is_repeatable=True)


class Topics(Group):
    """Topics and the events that are kept on them (client.topics); Client.emit publishes."""

    def list(self, *, page_size: Optional[int] = None) -> Iterator[JsonObject]:
        return self._pages("/v1/topics", page_size)

    def show(self, topic: str) -> JsonObject:
        """Its policy, how many events are pending, and which runs wait."""
        return self._object("GET", path("/v1/topics/", topic))

    def set(self, topic: str, *, consume: Optional[str] = None, visible: Optional[str] = None,
            expire: Optional[Duration] = None, cap: Optional[int] = None) -> JsonObject:
        """Sets the policy: consume "one" or "all"; visible "all", "after-create", "after-wait"."""
        return self._object("PUT", path("/v1/topics/", topic),
                          body=given(consume=consume, visible=visible, expire=expire, cap=cap),
                          has_body=True)

    def change(self, topic: str, *, consume: Optional[str] = None, visible: Optional[str] = None,
               expire: Optional[Duration] = None, cap: Optional[int] = None) -> JsonObject:
        """Changes those parts of the policy that are given; the others stay."""
        return self._object("PATCH", path("/v1/topics/", topic),
                          body=given(consume=consume, visible=visible, expire=expire, cap=cap),
                          has_body=True)

    def events(self, topic: str, *, page_size: Optional[int] = None) -> Iterator[JsonObject]:
        """Events that are kept, oldest first."""
        return self._pages(path("/v1/topics/", topic, "/events"), page_size)

    def remove_events(self, topic: str) -> int:
        """Removes all that are kept; answers how many."""
        return int(self._call("DELETE", path("/v1/topics/", topic, "/events"),
                              is_repeatable=False)["removed"])

    def remove_event(self, topic: str, event_id: str) -> bool:
        """Removes one, by the `id` that events() shows."""
        answer = self._call("DELETE", path("/v1/topics/", topic, "/events/", event_id))
        return answer is None or answer["removed"] > 0


class DeadLetters(Group):
    """Events and signals that could not be delivered (client.dead_letters)."""

    def list(self, *, page_size: Optional[int] = None) -> Iterator[JsonObject]:
        return self._pages("/v1/dead-letters", page_size)

    def replay(self, letter_id: str) -> JsonObject:
        """Delivers it again, and removes it; answers {resumed}."""
        return self._object("POST", path("/v1/dead-letters/", letter_id, "/replay"))

    def remove(self, letter_id: str) -> None:
        self._call("DELETE", path("/v1/dead-letters/", letter_id))


class Schedules(Group):
    """What is started by the clock (client.schedules)."""

    def list(self, *, page_size: Optional[int] = None) -> Iterator[JsonObject]:
        return self._pages("/v1/schedules", page_size)

    def show(self, name: str) -> JsonObject:
        return self._object("GET", path("/v1/schedules/", name))

    def set(self, name: str, workflow: str, input: Any = None, *, cron: Optional[str] = None,
            every: Optional[Duration] = None, at: Optional[Time] = None,
            timezone: Optional[str] = None, jitter: Optional[Duration] = None,
            overlap: Optional[str] = None, catch_up: Optional[Duration] = None,
            priority: Optional[int] = None, timeout: Optional[Duration] = None,
            ttl: Optional[Duration] = None, tags: Optional[Iterable[str]] = None,
            paused: Optional[bool] = None) -> JsonObject:
        """Makes or replaces one. Exactly one of `cron`, `every` and `at` says when.

        overlap: "skip", "queue", "allow" or "cancel-old", while the run before goes on.
        """
        if sum(when is not None for when in (cron, every, at)) != 1:
            raise ValueError("schedules.set: give one of cron, every and at")
        body = given(workflow=workflow, cron=cron, every=every, at=at, timezone=timezone,
                     jitter=jitter, overlap=overlap, catch_up=catch_up, priority=priority,
                     timeout=timeout, ttl=ttl, tags=tags, paused=paused)
        return self._object("PUT", path("/v1/schedules/", name), body={**body, "input": input})

    def remove(self, name: str) -> None:
        self._call("DELETE", path("/v1/schedules/", name))

    def pause(self, name: str) -> bool:
        """True when it was not paused."""
        return self._changed(path("/v1/schedules/", name, "/pause"))

    def resume(self, name: str) -> bool:
        """True when it was paused."""
        return self._changed(path("/v1/schedules/", name, "/resume"))

    def trigger(self, name: str) -> JsonObject:
        """Starts a run now, out of turn; answers it."""
        return self._object("POST", path("/v1/schedules/", name, "/trigger"))

    def backfill(self, name: str, start: Time, end: Time) -> JsonObject:
        """Starts the runs of past ticks that have none; answers {started, existing}."""
        return self._object("POST", path("/v1/schedules/", name, "/backfill"),
                          body=given(**{"from": start, "to": end}), is_repeatable=True)


class Queues(Group):
    """Depth, limits and pauses of queues (client.queues)."""

    def list(self, *, page_size: Optional[int] = None) -> Iterator[JsonObject]:
        return self._pages("/v1/queues", page_size)

    def show(self, name: str) -> JsonObject:
        return self._object("GET", path("/v1/queues/", name))

    def set(self, name: str, *, max_running: Optional[int] = None,
            max_per_key: Optional[int] = None, rate_count: Optional[int] = None,
            rate_period: Optional[Duration] = None, paused: Optional[bool] = None) -> JsonObject:
        """Replaces all limits at once: what is not given is as for a queue nobody has set."""
        if (rate_count is None) != (rate_period is None):
            raise ValueError("queues.set: rate_count and rate_period go together")
        return self._object("PUT", path("/v1/queues/", name), has_body=True, body=given(
            max_running=max_running, max_per_key=max_per_key, rate_count=rate_count,
            rate_period=rate_period, paused=paused))

    def change(self, name: str, *, max_running: Optional[int] = None,
               max_per_key: Optional[int] = None, rate_count: Optional[int] = None,
               rate_period: Optional[Duration] = None,
               paused: Optional[bool] = None) -> JsonObject:
        """Changes those limits that are given; the others stay."""
        return self._object("PATCH", path("/v1/queues/", name), has_body=True, body=given(
            max_running=max_running, max_per_key=max_per_key, rate_count=rate_count,
            rate_period=rate_period, paused=paused))

    def reset(self, name: str) -> bool:
        """Removes all limits; true when there were any."""
        return bool(self._call("DELETE", path("/v1/queues/", name))["changed"])

    def pause(self, name: str) -> bool:
        """Hands out nothing any more; true when it was not paused."""
        return self._changed(path("/v1/queues/", name, "/pause"))

    def resume(self, name: str) -> bool:
        """True when it was paused."""
        return self._changed(path("/v1/queues/", name, "/resume"))


class Tokens(Group):
    """Tokens of the server (client.tokens); needs the scope admin."""

    def create(self, name: str, scopes: Iterable[str], *,
               expires: Optional[Duration] = None) -> JsonObject:
        """Scopes: read, client, worker, admin. The answer's `token` is shown this once only."""
        return self._object("POST", "/v1/tokens",
                          body=given(name=name, scopes=scopes, expires=expires))

    def list(self, *, page_size: Optional[int] = None) -> Iterator[JsonObject]:
        return self._pages("/v1/tokens", page_size)

    def remove(self, token_id: str) -> None:
        self._call("DELETE", path("/v1/tokens/", token_id))


class ServerInfo(Group):
    """The server itself (client.server)."""

    def live(self) -> JsonObject:
        """Whether it answers at all; asked once, without retries, as are ready and health."""
        return self._object("GET", "/livez", retry_for=0)

    def ready(self) -> JsonObject:
        """Raises ServerError while it cannot serve."""
        return self._object("GET", "/readyz", retry_for=0)

    def health(self) -> JsonObject:
        return self._object("GET", "/healthz", retry_for=0)

    def version(self) -> str:
        return str(self._call("GET", "/version")["version"])

    def stats(self) -> JsonObject:
        """Counters of runs, tasks, events, …"""
        return self._object("GET", "/v1/stats")

    def nodes(self) -> List[JsonObject]:
        """The processes that work on the store, newest first."""
        return self._objects("items", "GET", "/v1/nodes")

    def settings(self) -> List[JsonObject]:
        """What the server was told, and where each value comes from; needs the scope admin."""
        return self._objects("items", "GET", "/v1/settings")

    def workers(self) -> JsonObject:
        """Who asks for tasks (items), what nodes execute themselves (functions), and the tasks
        that nobody asks for (unserved)."""
        return self._object("GET", "/v1/workers")

    def time(self) -> JsonObject:
        """What time it is for runs."""
        return self._object("GET", "/v1/time")

    def advance(self, *, by: Optional[Duration] = None, to: Optional[str] = None,
                wait: Optional[Duration] = None) -> JsonObject:
        """Moves the clock of a server that was started with --virtual-time."""
        return self._object("POST", "/v1/time/advance", body=given(by=by, to=to, wait=wait),
                          wait=seconds(wait or 30, "wait"))

    def rates(self, since: Optional[Duration] = None, step: Optional[Duration] = None) -> JsonObject:
        """How much happened in the last hours, one value per step and series."""
        return self._object("GET", "/v1/rates", query={"since": since, "step": step})

    def attention(self) -> JsonObject:
        """What needs a person, in groups, with what helps."""
        return self._object("GET", "/v1/attention")

    def access(self) -> JsonObject:
        """What this client may do: its scopes, and why."""
        return self._object("GET", "/v1/access")

    def filter(self, text: str, position: Optional[int] = None) -> JsonObject:
        """A filter as it is read: terms, error, and completions at that byte (the end)."""
        return self._object("GET", "/v1/filter", query={"q": text, "at": position})

    def metrics(self) -> str:
        """Figures in the text format of Prometheus."""
        return self._transport.send("GET", "/metrics").decode("utf-8")

    def openapi(self) -> JsonObject:
        """The whole API as an OpenAPI document."""
        return self._object("GET", "/openapi.json")

    def page(self) -> str:
        """The HTML of the dashboard."""
        return self._transport.send("GET", "/").decode("utf-8")


def _is_handler(status: int, text: bytes) -> bool:
    """A handler that failed is answered with 500 and is an answer all the same."""
    if status != 500:
        return status < 400
    try:
        return "handler_id" in json.loads(text)
    except (ValueError, TypeError):
        return False


class Handlers(Group):
    """The handler API (client.handlers; docs/handlers.md): the same runs by another protocol."""

    def list(self, *, handler_id: Optional[Several] = None, status: Optional[Several] = None,
             workflow_name: Optional[Several] = None, idle_before: Optional[Time] = None,
             page_size: Optional[int] = None) -> Iterator[JsonObject]:
        """Oldest first."""
        query = {"handler_id": several("handler_id", handler_id),
                 "status": several("status", status),
                 "workflow_name": several("workflow_name", workflow_name),
                 **given(idle_before=idle_before, page_size=page_size)}
        return pages(self._transport, "/handlers", query, "handlers")

    def show(self, handler_id: str) -> JsonObject:
        return self._object("GET", path("/handlers/", handler_id), is_answer=_is_handler)

    def result(self, handler_id: str) -> JsonObject:
        """The handler, with its bare result; it does not wait."""
        return self._object("GET", path("/results/", handler_id), is_answer=_is_handler)

    def start(self, workflow: str, start_event: Any = None, *,
              kwargs: Optional[Mapping[str, Any]] = None,
              handler_id: Optional[str] = None) -> JsonObject:
        """Starts a run and answers its handler."""
        return self._start(workflow, "/run-nowait", start_event, kwargs, handler_id, 0)

    def run(self, workflow: str, start_event: Any = None, *,
            kwargs: Optional[Mapping[str, Any]] = None, handler_id: Optional[str] = None,
            timeout: Duration = 300) -> JsonObject:
        """The same, and waits up to `timeout` for its end; look at `status`."""
        return self._start(workflow, "/run", start_event, kwargs, handler_id,
                           seconds(timeout, "timeout"))

    def _start(self, workflow: str, how: str, start_event: Any,
               kwargs: Optional[Mapping[str, Any]], handler_id: Optional[str],
               wait: float) -> JsonObject:
        return self._object("POST", path("/workflows/", workflow, how), has_body=True, wait=wait,
                          is_answer=_is_handler,
                          body=given(start_event=start_event, kwargs=kwargs,
                                     handler_id=handler_id))

    def send(self, handler_id: str, event: Any, *, step: Optional[str] = None) -> JsonObject:
        """Posts an event, e.g. {"type": "Approval", "value": {…}}."""
        return self._object("POST", path("/events/", handler_id), body=given(event=event, step=step))

    def stream(self, handler_id: str, *, after: Union[int, str] = -1,
               include_internal: Optional[bool] = None,
               include_qualified_name: Optional[bool] = None) -> Iterator[JsonObject]:
        """Envelopes, each with its `sequence`, until the run has ended.

        `after` is a number, -1 for all, or "now". A connection that breaks is made again.
        """
        query = {"after_sequence": after,
                 **given(include_internal=include_internal,
                         include_qualified_name=include_qualified_name)}
        for number, envelope in follow(self._transport, path("/events/", handler_id), _is_stop,
                                       query=query):
            yield {"sequence": number, **envelope}

    def cancel(self, handler_id: str, *, purge: Optional[bool] = None) -> JsonObject:
        """Cancels it; with `purge`, removes it too."""
        return self._object("POST", path("/handlers/", handler_id, "/cancel"),
                          query=given(purge=purge))

    def release(self, handler_id: str) -> JsonObject:
        """Takes an idle one out of memory."""
        return self._object("POST", path("/handlers/", handler_id, "/release"), is_repeatable=True)

    def health(self) -> JsonObject:
        return self._object("GET", "/health", retry_for=0)

    def workflows(self) -> List[str]:
        return list(self._call("GET", "/workflows")["workflows"])

    def schema(self, workflow: str) -> JsonObject:
        """JSON Schemas of what a run takes (start) and answers (stop)."""
        return self._object("GET", path("/workflows/", workflow, "/schema"))

    def event_schemas(self, workflow: str) -> List[JsonObject]:
        return self._objects("events", "GET", path("/workflows/", workflow, "/events"))

    def graph(self, workflow: str) -> JsonObject:
        return dict(self._call("GET", path("/workflows/", workflow, "/representation"))["graph"])


def _is_stop(envelope: JsonObject) -> bool:
    return "StopEvent" in (envelope.get("type"), *(envelope.get("types") or ()))


__all__: List[str] = ["DeadLetters", "Handlers", "Queues", "Schedules", "ServerInfo", "Tasks",
                      "Tokens", "Topics", "CodeTurns", "Workflows"]
