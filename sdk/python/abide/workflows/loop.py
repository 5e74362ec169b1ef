"""WorkflowLoop: the part of asyncio that is the same whenever it is executed again.

Tasks, futures, gather, wait_for, timeout, locks, queues: they need no more than a line of callbacks,
and that line is in the order in which things happened. Time is the server's: a timer of asyncio is a
durable sleep. What would reach outside (sockets, threads, processes) is refused with advice.

One loop serves all runs of a worker: it is empty whenever no function is executing.
"""
from __future__ import annotations

import asyncio
import contextvars
import functools
from asyncio import events
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, Optional, Set

from ..errors import WorkflowMisuse
from .replay import code_place

if TYPE_CHECKING:
    from .context import Context

_OUTSIDE = ("connect_accepted_socket", "create_connection", "create_datagram_endpoint",
            "create_server", "create_unix_connection", "create_unix_server", "getaddrinfo",
            "getnameinfo", "run_in_executor", "sock_accept", "sock_connect", "sock_recv",
            "sock_recv_into", "sock_sendall", "sock_sendfile", "sendfile", "start_tls",
            "subprocess_exec", "subprocess_shell", "connect_read_pipe", "connect_write_pipe",
            "add_reader", "add_writer", "add_signal_handler", "run_forever",
            "run_until_complete", "call_soon_threadsafe")


class Scope:
    """What belongs to one run: its context, and the tasks that its function has made."""

    __slots__ = ("context", "tasks")

    def __init__(self, context: "Context"):
        self.context = context
        self.tasks: "Set[asyncio.Task[Any]]" = set()


class _Timer(asyncio.TimerHandle):
    """A durable sleep that nobody awaits any more once it is cancelled."""

    forget: Callable[[], None]

    def cancel(self) -> None:
        super().cancel()
        self.forget()


class WorkflowLoop(asyncio.AbstractEventLoop):
    def __init__(self) -> None:
        self._ready: Deque[asyncio.Handle] = deque()
        self._scope: Optional[Scope] = None

    def execute(self, scope: Scope, begin: Optional[Callable[[], Any]] = None) -> Any:
        """Until nothing of that run can go on. `begin` is called first."""
        around, self._scope = events._get_running_loop(), scope
        events._set_running_loop(self)
        try:
            answer = begin() if begin is not None else None
            while self._ready:
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()
            return answer
        finally:
            self._scope = None
            events._set_running_loop(around)

    def discard(self) -> None:
        """Callbacks of a function that was let go."""
        self._ready.clear()

    # ---- what asyncio asks of a loop ----

    def call_soon(self, callback: Callable[..., Any], *args: Any,
                  context: Optional[contextvars.Context] = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_later(self, delay: float, callback: Callable[..., Any],
                   *args: Any, context: Optional[contextvars.Context] = None) -> asyncio.TimerHandle:
        if self._scope is None:
            raise RuntimeError("there is no workflow that executes")
        timer = _Timer(0, callback, args, self, context)
        sleep = self._scope.context.sleep(max(0.0, delay))

        def due(_operation: Any) -> None:
            self._ready.append(timer)
        sleep._listen(due)
        timer.forget = lambda: sleep._leave(due)
        return timer

    def call_at(self, when: float, callback: Callable[..., Any],
                *args: Any, context: Optional[contextvars.Context] = None) -> asyncio.TimerHandle:
        return self.call_later(when, callback, *args, context=context)

    def time(self) -> float:
        """Time does not pass while a workflow executes; ctx.now() is what the clock says."""
        return 0.0

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, **options: Any) -> "asyncio.Task[Any]":
        if self._scope is None:
            coro.close()
            raise RuntimeError("there is no workflow that executes")
        task: "asyncio.Task[Any]" = asyncio.Task(coro, loop=self, **options)
        tasks = self._scope.tasks
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    def get_debug(self) -> bool:
        return False

    def get_task_factory(self) -> None:
        return None

    def is_running(self) -> bool:
        return self._scope is not None

    def is_closed(self) -> bool:
        return False

    def call_exception_handler(self, context: Dict[str, Any]) -> None:
        """Tasks that nobody awaits fail silently when their run is let go."""

    async def shutdown_asyncgens(self) -> None:
        pass

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        pass


def _refuse(name: str) -> Callable[..., Any]:
    @functools.wraps(getattr(asyncio.AbstractEventLoop, name))
    def refused(_self: WorkflowLoop, *_args: Any, **_options: Any) -> Any:
        place = code_place()
        raise WorkflowMisuse("a workflow must not reach outside (%s%s): do it in a step, "
                             "await ctx.step(\"name\", function)" % (
                                 name, " at %s:%d" % (place[0].co_filename, place[1]) if place else ""))
    return refused


for _name in _OUTSIDE:
    setattr(WorkflowLoop, _name, _refuse(_name))

