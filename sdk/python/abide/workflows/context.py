"""Context: what an `async def` workflow may ask for. blocking.py is the same for plain functions.

Every call begins an operation at once and answers it; `await` waits for its end. What is begun and
not awaited goes on: a task is queued, a step is executed.
"""
from __future__ import annotations

import asyncio
import datetime
import logging
import random
import threading
import uuid
from dataclasses import dataclass
from time import monotonic, time
from typing import (Any, Awaitable, Callable, Coroutine, Dict, NoReturn, Optional, Sequence,
                    Tuple, Type, TypeVar, Union, overload)

from ..convert import Decoder, annotation, decoder, encode, encode_payload
from ..fields import Duration, Time, given, seconds
from ..voice import say
from .definition import Workflow
from .operation import (Combined, Durable, Operation, Rule, Settled, every, every_end, first,
                        first_success)
from .replay import Replay
from .slips import executing
from .step import ONCE, Retry, StepOperation

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
Filter = Union[str, Dict[str, Any]]
"""Of events: members that the payload must have, or an expression such as "total > 100"."""

_chance = random.Random()  # of its own: the module's functions may be watched


@dataclass(frozen=True)
class RunInfo:
    """What is known of a run."""

    run_id: str
    workflow: str
    version: str
    attempt: int
    """1; one more each time the whole run is retried."""
    tags: Sequence[str]
    parent_id: Optional[str]
    started_at: datetime.datetime
    traceparent: Optional[str]


class ContinueAs(BaseException):
    """Ends the function: the run begins again with another input."""

    def __init__(self, input: str):
        super().__init__("continue as")
        self.input = input


class Clock:
    """The server's clock: what its last answer said, and what has passed since then.

    That of a server for tests stands still until it is moved.
    """

    def __init__(self) -> None:
        self._said, self._heard_at = time(), monotonic()
        self.stands_still = False

    def now(self) -> float:
        return self._said + (0 if self.stands_still else monotonic() - self._heard_at)

    def hear(self, answer: Dict[str, Any]) -> None:
        said = answer.get("now")
        if said is not None:
            self._said = seconds_of(said)
            self._heard_at = monotonic()


def seconds_of(text: str) -> float:
    """Since 1970, of RFC 3339."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def instant(moment: float) -> str:
    """RFC 3339, in milliseconds."""
    when = datetime.datetime.fromtimestamp(round(moment, 3), datetime.timezone.utc)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class RunState:
    """Small values that others can read and search for while the run waits: ctx.state."""

    def __init__(self, replay: Replay):
        self._replay = replay
        self._values: Dict[str, Any] = {}

    def set(self, name: str, value: Any) -> None:
        text = encode(value)
        self._values[name] = value
        # Set again what may not have been committed: nothing that follows it is known.
        if not self._replay.has_commands:
            self._replay.note('{"kind":"state","name":%s,"value":%s}' % (encode(name), text))

    def get(self, name: str, default: Any = None) -> Any:
        """What was last set in this run."""
        return self._values.get(name, default)


class RunLog:
    """A logger that is quiet in a replay: ctx.log. What it says is in the run's log, too."""

    def __init__(self, replay: Replay, info: RunInfo):
        self._replay = replay
        self._info = info

    def _say(self, level: int, message: str, args: Tuple[Any, ...]) -> None:
        if self._replay.is_replaying:
            return
        text = message % args if args else message
        name = logging.getLevelName(level).lower()
        self._replay.note('{"kind":"line","name":"%s","text":%s}' % (name, encode(text)))
        was_on, executing.is_on = executing.is_on, False
        say(level, "%s %s: %s", self._info.workflow, self._info.run_id, text,
            run_id=self._info.run_id, workflow=self._info.workflow)
        executing.is_on = was_on

    def debug(self, message: str, *args: Any) -> None:
        self._say(logging.DEBUG, message, args)

    def info(self, message: str, *args: Any) -> None:
        self._say(logging.INFO, message, args)

    def warning(self, message: str, *args: Any) -> None:
        self._say(logging.WARNING, message, args)

    def error(self, message: str, *args: Any) -> None:
        self._say(logging.ERROR, message, args)


_TASK_OPTIONS = {name: name for name in ("queue", "priority", "delay", "timeout", "key")}
_TASK_OPTIONS.update(schedule_timeout="scheduleTimeout", heartbeat_timeout="heartbeatTimeout",
                     concurrency_key="concurrencyKey")
_RUN_OPTIONS = {name: name for name in ("id", "key", "tags", "delay", "priority", "queue",
                                        "timeout", "ttl")}
_RUN_OPTIONS.update(start_at="startAt", parent_close="parentClose")


def _options(names: Dict[str, str], options: Dict[str, Any], retry: Optional[Retry] = None) -> str:
    """As a member of an entry; an option that does not exist is a TypeError."""
    for name in options:
        if name not in names:
            raise TypeError("there is no option %r; there are %s" % (name, ", ".join(names)))
    checked = {names[name]: value for name, value in given(**options).items()}
    if retry is not None:
        checked["retry"] = retry.options()
    return ',"options":' + encode(checked)


class Context:
    """What a workflow may ask for: the first argument of an `async def` workflow."""

    def __init__(self, replay: Replay, info: RunInfo, clock: Clock):
        self.info = info
        """The run: its id, workflow, version, tags, …"""
        self.log = RunLog(replay, info)
        self.state = RunState(replay)
        self._replay = replay
        self._clock = clock
        self._block: Callable[[Operation[Any]], None] = _must_be_awaited
        self._cancelled: Optional[threading.Event] = None

    # ---- what is executed ----

    @overload
    def step(self, name: str, function: Callable[..., Coroutine[Any, Any, T]], *args: Any,
             retry: Optional[Retry] = None, timeout: Optional[Duration] = None) -> Operation[T]: ...
    @overload
    def step(self, name: str, function: Callable[..., T], *args: Any,
             retry: Optional[Retry] = None, timeout: Optional[Duration] = None) -> Operation[T]: ...

    def step(self, name: str, function: Callable[..., Any], *args: Any,
             retry: Optional[Retry] = None, timeout: Optional[Duration] = None) -> Operation[Any]:
        """Executes function(*args) here, plain or async, and records its result: once recorded it
        is never executed again. `timeout` is for one attempt; without `retry` there is one."""
        if not callable(function):
            raise TypeError("step %r: a function is needed, not %r; its arguments follow it" % (
                name, function))
        limit = None if timeout is None else seconds(timeout, "timeout")
        operation: StepOperation[Any] = StepOperation(
            self._block, name, _result_decoder(function), (function, args), retry or ONCE, limit)
        self._replay.begin(operation)
        return operation

    @overload
    def task(self, name: str, input: Any = None, *, type: Type[T], retry: Optional[Retry] = None,
             queue: Optional[str] = None, priority: Optional[int] = None,
             delay: Optional[Duration] = None, timeout: Optional[Duration] = None,
             schedule_timeout: Optional[Duration] = None,
             heartbeat_timeout: Optional[Duration] = None, key: Optional[str] = None,
             concurrency_key: Optional[str] = None) -> Operation[T]: ...
    @overload
    def task(self, name: str, input: Any = None, *, retry: Optional[Retry] = None,
             queue: Optional[str] = None, priority: Optional[int] = None,
             delay: Optional[Duration] = None, timeout: Optional[Duration] = None,
             schedule_timeout: Optional[Duration] = None,
             heartbeat_timeout: Optional[Duration] = None, key: Optional[str] = None,
             concurrency_key: Optional[str] = None) -> Operation[Any]: ...

    def task(self, name: str, input: Any = None, *, type: Any = None,
             retry: Optional[Retry] = None, **options: Any) -> Operation[Any]:
        """Queues a task for any worker; its result, read as `type`, or a TaskError."""
        text = ',"input":%s%s' % (encode_payload(input), _options(_TASK_OPTIONS, options, retry))
        operation = self._durable("task", name, type)
        self._begun(operation, "task", text)
        operation.wait = '"on":"task"'
        return operation

    @overload
    def child(self, workflow: Workflow[A, T], input: A, *, id: Optional[str] = None,
              key: Optional[str] = None, tags: Optional[Sequence[str]] = None,
              delay: Optional[Duration] = None, start_at: Optional[Time] = None,
              priority: Optional[int] = None, queue: Optional[str] = None,
              timeout: Optional[Duration] = None, ttl: Optional[Duration] = None,
              parent_close: Optional[str] = None) -> Operation[T]: ...
    @overload
    def child(self, workflow: Workflow[None, T], input: None = None, *, id: Optional[str] = None,
              key: Optional[str] = None, tags: Optional[Sequence[str]] = None,
              delay: Optional[Duration] = None, start_at: Optional[Time] = None,
              priority: Optional[int] = None, queue: Optional[str] = None,
              timeout: Optional[Duration] = None, ttl: Optional[Duration] = None,
              parent_close: Optional[str] = None) -> Operation[T]: ...
    @overload
    def child(self, workflow: str, input: Any = None, *, id: Optional[str] = None,
              key: Optional[str] = None, tags: Optional[Sequence[str]] = None,
              delay: Optional[Duration] = None, start_at: Optional[Time] = None,
              priority: Optional[int] = None, queue: Optional[str] = None,
              timeout: Optional[Duration] = None, ttl: Optional[Duration] = None,
              parent_close: Optional[str] = None) -> Operation[Any]: ...

    def child(self, workflow: Union[Workflow[Any, Any], str], input: Any = None,
              **options: Any) -> Operation[Any]:
        """Starts a run and waits for its result; ChildError when it fails or is cancelled."""
        name = workflow if isinstance(workflow, str) else workflow.name
        text = ',"input":%s%s' % (encode_payload(input), _options(_RUN_OPTIONS, options))
        operation: Durable[Any] = Durable(self._block, "child", name, None if isinstance(
            workflow, str) else workflow.read_result)
        self._replay.begin(operation)
        self._begun(operation, "child", text)
        operation.wait = '"on":"child"'
        return operation

    def start(self, workflow: Union[Workflow[A, Any], str], input: Any = None, *,
              id: Optional[str] = None, **options: Any) -> Operation[str]:
        """Starts a run that nobody waits for; answers its id. Options as of child()."""
        name = workflow if isinstance(workflow, str) else workflow.name
        run_id = id or "run_%032x" % _chance.getrandbits(128)
        text = ',"input":%s,"detached":true%s' % (
            encode_payload(input), _options(_RUN_OPTIONS, {"id": run_id, **options}))
        operation: Durable[str] = Durable(self._block, "start", name)
        number = self._replay.begin(operation)
        entry = self._begun(operation, "child", text)
        self._replay.open.pop(number)
        operation.succeed(run_id if entry is None else entry["data"])
        return operation

    # ---- what is waited for ----

    def sleep(self, duration: Duration) -> Operation[None]:
        """Waits that long, in a process or in none."""
        return self._timer(instant(self._clock.now() + seconds(duration)))

    def sleep_until(self, at: Time) -> Operation[None]:
        return self._timer(given(at=at)["at"])

    @overload
    def signal(self, name: str, *, type: Type[T],
               timeout: Optional[Duration] = None) -> Operation[T]: ...
    @overload
    def signal(self, name: str, *, timeout: Optional[Duration] = None) -> Operation[Any]: ...

    def signal(self, name: str, *, type: Any = None,
               timeout: Optional[Duration] = None) -> Operation[Any]:
        """The payload of the next signal of that name, read as `type`; TimeoutError if it does not
        come in time."""
        operation = self._durable("signal", name, type)
        operation.wait = '"on":"signal","name":%s%s' % (encode(name), self._until(operation, timeout))
        return operation

    @overload
    def event(self, topic: str, *, type: Type[T], timeout: Optional[Duration] = None,
              filter: Optional[Filter] = None) -> Operation[T]: ...
    @overload
    def event(self, topic: str, *, timeout: Optional[Duration] = None,
              filter: Optional[Filter] = None) -> Operation[Any]: ...

    def event(self, topic: str, *, type: Any = None, timeout: Optional[Duration] = None,
              filter: Optional[Filter] = None) -> Operation[Any]:
        """The payload of the next event of that topic that fits the filter; else as signal()."""
        operation = self._durable("event", topic, type)
        text = "" if filter is None else ',"filter":' + encode(filter)
        operation.wait = '"on":"event","name":%s%s%s' % (
            encode(topic), self._until(operation, timeout), text)
        return operation

    # ---- several at a time ----

    @overload
    def all(self, __a: Awaitable[A], __b: Awaitable[B]) -> Operation[Tuple[A, B]]: ...
    @overload
    def all(self, __a: Awaitable[A], __b: Awaitable[B],
            __c: Awaitable[C]) -> Operation[Tuple[A, B, C]]: ...
    @overload
    def all(self, __a: Awaitable[A], __b: Awaitable[B], __c: Awaitable[C],
            __d: Awaitable[D]) -> Operation[Tuple[A, B, C, D]]: ...
    @overload
    def all(self, *parts: Awaitable[T]) -> Operation[Tuple[T, ...]]: ...

    def all(self, *parts: Awaitable[Any]) -> Operation[Any]:
        """All values, or the first error. Parts are operations, coroutines and other awaitables."""
        combined = self._combined(every, parts)
        if not parts:
            combined._settle(())
        return combined

    def any(self, *parts: Awaitable[T]) -> Operation[T]:
        """The first value; NoneSucceeded when all fail."""
        return self._combined(first_success, _some(parts))

    def race(self, *parts: Awaitable[T]) -> Operation[T]:
        """Value or error of the first that ends; `is_done` of the parts tells which it was."""
        return self._combined(first, _some(parts))

    def all_settled(self, *parts: Awaitable[T]) -> Operation[Tuple[Settled[T], ...]]:
        """How each ended: `ok`, `value`, `error`."""
        combined = self._combined(every_end, parts)
        if not parts:
            combined._settle(())
        return combined

    # ---- what is said ----

    def emit(self, topic: str, payload: Any = None) -> Operation[None]:
        """Publishes an event. There is nothing to wait for: it is sent with the next commit."""
        written = encode_payload(payload)
        self._replay.command("emit", topic, 0, '{"kind":"emit","name":%s,"payload":%s}' % (
            encode(topic), written))
        done: Operation[None] = Operation()
        done._settle()
        return done

    def stream(self, value: Any, type: str = "message") -> None:
        """Appends to the run's stream, for those who follow it."""
        self._replay.command("stream", type, 0, '{"kind":"stream","name":%s,"value":%s}' % (
            encode(type), encode_payload(value)))

    def continue_as(self, input: Any = None) -> NoReturn:
        """Ends here: the run begins again under the same id, with this input and no journal."""
        raise ContinueAs(encode_payload(input))

    # ---- what is recorded ----

    def now(self) -> datetime.datetime:
        """The time, in UTC; a replay gets the same."""
        moment = self._replay.mark("now", round(self._clock.now(), 6))
        return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc)

    def random(self) -> float:
        """From 0 to 1; a replay gets the same."""
        return float(self._replay.mark("random", _chance.random()))

    def uuid(self) -> uuid.UUID:
        """A random one; a replay gets the same."""
        return uuid.UUID(self._replay.mark("uuid", str(uuid.UUID(
            int=_chance.getrandbits(128), version=4))))

    def changed(self, name: str) -> bool:
        """Whether this run gets here by code that has the change of that name.

        True for runs that get here for the first time, and for their replays; False for runs that
        went by before the change.
        """
        return self._replay.has_mark("changed:" + name)

    # ---- cancellation ----

    @property
    def is_cancelled(self) -> bool:
        """Whether the run was asked to end."""
        return self._replay.is_cancelled

    @property
    def cancelled(self) -> threading.Event:
        """Set when the run was asked to end."""
        if self._cancelled is None:
            self._cancelled = threading.Event()
        if self._replay.is_cancelled:
            self._cancelled.set()
        return self._cancelled

    # ---- making operations ----

    def _durable(self, kind: str, name: str, type: Any) -> Durable[Any]:
        operation: Durable[Any] = Durable(self._block, kind, name,
                                          None if type is None else decoder(type))
        self._replay.begin(operation)
        return operation

    def _begun(self, operation: Durable[Any], kind: str, more: str) -> Optional[Dict[str, Any]]:
        return self._replay.command(kind, operation.name, operation.number,
                                    '{"kind":"%s","op":%d,"name":%s%s}' % (
                                        kind, operation.number, encode(operation.name), more))

    def _timer(self, until: str) -> Operation[None]:
        operation = self._durable("timer", "timer", None)
        at = self._replay.mark("timer", until, operation.number)
        operation.until = at
        operation.wait = '"on":"timer","until":%s' % encode(at)
        return operation

    def _until(self, operation: Durable[Any], timeout: Optional[Duration]) -> str:
        if timeout is None:
            return ""
        until = instant(self._clock.now() + seconds(timeout, "timeout"))
        operation.until = self._replay.mark(operation.kind, until, operation.number)
        return ',"until":' + encode(operation.until)

    def _combined(self, rule: Rule, parts: Sequence[Awaitable[Any]]) -> Combined:
        return Combined([self._part(part) for part in parts], rule, self._block)

    def _part(self, part: Awaitable[Any]) -> Operation[Any]:
        if isinstance(part, Operation):
            return part
        if self._block is not _must_be_awaited:
            raise TypeError("in a plain function, operations come from ctx.begin: not %r" % (part,))
        return _branch(asyncio.ensure_future(part))


def _branch(task: "asyncio.Future[Any]") -> Operation[Any]:
    """A coroutine as an operation."""
    operation: Operation[Any] = Operation()

    def ended(_task: Any) -> None:
        if task.cancelled():
            operation._settle(error=asyncio.CancelledError())
        elif task.exception() is not None:
            operation._settle(error=task.exception())
        else:
            operation._settle(task.result())
    task.add_done_callback(ended)
    return operation


def _must_be_awaited(_operation: Operation[Any]) -> None:
    raise RuntimeError("in an async workflow operations are awaited: await it instead of result()")


def _some(parts: Tuple[Awaitable[Any], ...]) -> Tuple[Awaitable[Any], ...]:
    if not parts:
        raise ValueError("of nothing, nothing comes first")
    return parts


_decoders: Dict[Any, Decoder] = {}


def _result_decoder(function: Callable[..., Any]) -> Optional[Decoder]:
    """By the annotation of what it returns; None when it has none."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        return None
    if code not in _decoders:
        _decoders[code] = decoder(annotation(function, "return"))
    return _decoders[code]
