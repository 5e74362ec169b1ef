"""Steps: executes attempts of steps, on threads or, `async def` ones, on an event loop of their own.

  [S1] No code of a step is executed on the worker's own thread: one that blocks holds up nothing.
  [S2] An attempt has one outcome. What a function does after its time limit, or after nobody wants
       its result any more, is not heard.
"""
from __future__ import annotations

import asyncio
import inspect
import logging
import queue
import random
import threading
import traceback
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, List, Optional

from ..convert import again, encode, encode_payload
from ..errors import OperationError, OperationTimeout, StepCancelled
from ..voice import say
from .context import Clock, instant
from .step import StepContext, StepOperation, enter_step

if TYPE_CHECKING:
    from .run import Run

_MESSAGE_MAX = 8000  # characters of an error's message, and of its stack
_DETAILS_MAX = 32000


@dataclass
class Attempt:
    """One execution of a step, and what came of it."""

    run: "Run"
    operation: StepOperation[Any]
    step: StepContext
    is_over: bool = False
    entry: str = ""
    kind: str = "step"
    data: Any = None
    timer: Optional[asyncio.TimerHandle] = None
    task: "Optional[asyncio.Future[Any]]" = None


def describe(error: BaseException) -> Dict[str, Any]:
    """An error as the server keeps it."""
    kind = getattr(error, "type", None) if isinstance(error, OperationError) else None
    if isinstance(error, OperationTimeout):
        kind = "TimeoutError"
    described: Dict[str, Any] = {"type": kind or type(error).__name__,
                                 "message": str(error)[:_MESSAGE_MAX]}
    details = getattr(error, "details", None)
    if details is not None:
        try:
            text = encode(details)
        except (TypeError, ValueError):
            text = encode(str(details))
        if len(text) <= _DETAILS_MAX:
            described["details"] = details if text[:1] != '"' else str(details)
    cause = getattr(error, "cause", None) or error.__cause__
    if isinstance(cause, BaseException):
        cause = {"type": type(cause).__name__, "message": str(cause)[:_MESSAGE_MAX]}
    if cause is not None:
        described["cause"] = cause
    if error.__traceback__ is not None:
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        described["stack"] = "".join(lines)[-_MESSAGE_MAX:]
    return described


class Steps:
    def __init__(self, loop: asyncio.AbstractEventLoop, thread_count: int, clock: Clock,
                 ended: Callable[[List[Attempt]], None]):
        self.mocks: Dict[str, Callable[..., Any]] = {}
        self._loop = loop
        self._clock = clock
        self._ended = ended
        self._thread_max = thread_count
        self._thread_count = 0
        self._busy = 0  # attempts that a thread executes, or will
        self._todo: "queue.SimpleQueue[Optional[Attempt]]" = queue.SimpleQueue()
        self._over: Deque[Attempt] = deque()
        self._is_told = False
        self._lock = threading.Lock()
        self._async_loop: Optional[asyncio.AbstractEventLoop] = None

    # ---- on the worker's thread ----

    def begin(self, run: "Run", operation: StepOperation[Any]) -> None:
        step = StepContext(run.info.run_id, operation.number, operation.name,
                           operation.attempts + 1, run.info.traceparent)
        attempt = Attempt(run, operation, step)
        operation.running = step
        if operation.timeout is not None:
            attempt.timer = self._loop.call_later(operation.timeout, self._expire, attempt)
        with self._lock:
            self._busy += 1
            has_none = self._busy > self._thread_count
        self._todo.put(attempt)
        if has_none and self._thread_count < self._thread_max:
            self._thread_count += 1
            threading.Thread(target=self._work, daemon=True, name="abide step").start()

    def _expire(self, attempt: Attempt) -> None:
        self._fail(attempt, OperationTimeout("step %s took longer than %g s" % (
            encode(attempt.operation.name), attempt.operation.timeout or 0)))
        attempt.step.give_up("timeout")
        if attempt.task is not None:
            attempt.task.cancel()

    def _collect(self) -> None:
        self._is_told = False
        batch = []
        while self._over:
            attempt = self._over.popleft()
            if attempt.timer is not None:
                attempt.timer.cancel()
            batch.append(attempt)
        self._ended(batch)

    def close(self) -> None:
        for _ in range(self._thread_count):
            self._todo.put(None)
        if self._async_loop is not None:
            self._async_loop.call_soon_threadsafe(self._async_loop.stop)

    # ---- on any thread ----

    def _work(self) -> None:
        while True:
            attempt = self._todo.get()
            if attempt is None:
                return
            self._perform(attempt)
            with self._lock:
                self._busy -= 1

    def _perform(self, attempt: Attempt) -> None:
        operation = attempt.operation
        function = self.mocks.get(operation.name, operation.function)
        enter_step(attempt.step)
        try:
            value = function(*operation.arguments)
        except BaseException as error:  # SystemExit too: a step does not end the worker
            self._fail(attempt, error)
            return
        if inspect.iscoroutine(value):
            self._run_coroutine(attempt, value)
        else:
            self._succeed(attempt, value)

    def _run_coroutine(self, attempt: Attempt, coroutine: Any) -> None:
        async def perform() -> None:
            enter_step(attempt.step)
            try:
                self._succeed(attempt, await coroutine)
            except BaseException as error:
                self._fail(attempt, error)

        def begin() -> None:
            attempt.task = asyncio.ensure_future(perform())
        self._loop_of_steps().call_soon_threadsafe(begin)

    def _loop_of_steps(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._async_loop is None:
                self._async_loop = asyncio.new_event_loop()
                threading.Thread(target=self._async_loop.run_forever, daemon=True,
                                 name="abide async steps").start()
            return self._async_loop

    def _succeed(self, attempt: Attempt, value: Any) -> None:
        try:
            text = encode_payload(value)
        except (TypeError, ValueError) as error:
            self._fail(attempt, OperationError(
                "the result of step %s cannot be kept: %s" % (encode(attempt.operation.name), error),
                type="ResultError"))
            return
        self._finish(attempt, "step", again(value, text), '"result":' + text)

    def _fail(self, attempt: Attempt, error: BaseException) -> None:
        operation, number = attempt.operation, attempt.step.attempt
        described, kind = describe(error), "step"
        if (getattr(error, "retryable", True) and number < operation.retry.attempts
                and described["type"] not in operation.retry.non_retryable):
            kind = "attempt"
            described["next_at"] = instant(
                self._clock.now() + operation.retry.pause(number, random.random()))
        if not attempt.is_over:
            self._say(attempt, error)
        self._finish(attempt, kind, described, '"error":' + encode(described))

    def _finish(self, attempt: Attempt, kind: str, data: Any, member: str) -> None:
        with self._lock:
            if attempt.is_over:  # [S2]
                return
            attempt.is_over = True
        operation = attempt.operation
        attempt.kind = "error" if kind == "step" and member.startswith('"error"') else kind
        attempt.data = data
        attempt.entry = '{"kind":"%s","op":%d,"name":%s,"attempt":%d,%s}' % (
            kind, operation.number, encode(operation.name), attempt.step.attempt, member)
        self._over.append(attempt)
        if not self._is_told:
            self._is_told = True
            try:
                self._loop.call_soon_threadsafe(self._collect)
            except RuntimeError:  # the worker has ended
                pass

    @staticmethod
    def _say(attempt: Attempt, error: BaseException) -> None:
        run, step = attempt.run, attempt.step
        if isinstance(error, StepCancelled) and step.reason is not None:
            return
        say(logging.ERROR, "step %s of %s (run %s, attempt %d) failed: %s: %s", step.name,
            run.info.workflow, run.info.run_id, step.attempt, type(error).__name__, error,
            error=error, run_id=run.info.run_id, step=step.name, attempt=step.attempt)
