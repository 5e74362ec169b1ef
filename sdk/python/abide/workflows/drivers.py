"""Drivers: let the function of a run go on until it can go on no more.

  [D1] While a function executes, nobody else looks at its replay.
  [D2] A driver that was closed executes nothing of its function any more but what unwinds it.
"""
from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any, Callable, Coroutine, Optional

from .loop import Scope, WorkflowLoop
from .operation import Operation
from .replay import Stop
from .slips import executing


class Outcome:
    """How a function ended."""

    __slots__ = ("value", "error")

    def __init__(self, value: Any = None, error: Optional[BaseException] = None):
        self.value = value
        self.error = error


class CoroutineDriver:
    """Of an `async def` function: on the thread of the worker, by the WorkflowLoop."""

    __slots__ = ("_loop", "_scope", "_coroutine", "_task")

    def __init__(self, loop: WorkflowLoop, scope: Scope, coroutine: Coroutine[Any, Any, Any]):
        self._loop = loop
        self._scope = scope
        self._coroutine = coroutine
        self._task: "Optional[asyncio.Task[Any]]" = None

    def resume(self) -> bool:
        """True: it can go on no more."""
        with executing:
            if self._task is None:
                self._task = self._loop.execute(
                    self._scope, lambda: asyncio.Task(self._coroutine, loop=self._loop))
            else:
                self._loop.execute(self._scope)
        return True

    @property
    def outcome(self) -> Optional[Outcome]:
        if self._task is None or not self._task.done():
            return None
        if self._task.cancelled():
            return Outcome(error=asyncio.CancelledError())
        error = self._task.exception()
        return Outcome(error=error) if error is not None else Outcome(self._task.result())

    def stuck_at(self) -> str:
        """The line of the function that awaits what will not come."""
        inner: Any = self._coroutine
        place = ""
        while inspect.iscoroutine(inner) and inner.cr_frame is not None:
            place = "%s:%d" % (inner.cr_code.co_filename, inner.cr_frame.f_lineno)
            inner = inner.cr_await
        return place

    def close(self) -> None:  # [D2]
        tasks = [self._task] if self._task is not None else []
        for task in [*self._scope.tasks, *tasks]:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            _unwind(task.get_coro())
        _unwind(self._coroutine)
        self._loop.discard()


def _unwind(coroutine: Any) -> None:
    try:
        coroutine.close()
    except (Exception, asyncio.CancelledError):  # of the user's own cleaning up
        pass
    except BaseException as error:  # Stop, which it met while it cleaned up
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise


class ThreadDriver:
    """Of a plain function: on a thread of its own, which blocks where it awaits."""

    def __init__(self, function: Callable[[], Any], when_idle: Callable[[], None]):
        self._function = function
        self._when_idle = when_idle
        self._baton = threading.Semaphore(0)
        self._thread: Optional[threading.Thread] = None
        self._awaited: Optional[Operation[Any]] = None
        self._is_closed = False
        self.outcome: Optional[Outcome] = None

    def resume(self) -> bool:
        """False: when_idle() will be called, on the function's thread."""
        if self.outcome is not None or self._awaited is not None and not self._awaited.is_done:
            return True
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True, name="abide workflow")
            self._thread.start()
        else:
            self._baton.release()
        return False

    def block(self, operation: Operation[Any]) -> None:
        """On the function's thread: until that has ended."""
        self._awaited = operation
        operation._listen(_nothing)
        self._when_idle()
        executing.leave()
        self._baton.acquire()
        executing.enter()
        operation._leave(_nothing)
        self._awaited = None
        if self._is_closed:
            raise Stop()

    def _run(self) -> None:
        executing.enter()
        try:
            self.outcome = Outcome(self._function())
        except BaseException as error:  # Stop and SystemExit too: they end the run, not the worker
            self.outcome = Outcome(error=error)
        executing.leave()
        if not self._is_closed:
            self._when_idle()

    def stuck_at(self) -> str:
        return ""

    def close(self) -> None:  # [D2]
        self._is_closed = True
        if self._thread is not None and self.outcome is None:
            self._baton.release()


def _nothing(_operation: Operation[Any]) -> None:
    pass
