"""Environment: a server, a worker with your workflows, mocks, and a clock.

The worker executes workflows in this process, so tests see what mocks note, and debuggers work. It
can be killed: what it had not committed is lost, and nothing is handed back, as when a process dies.
"""
from __future__ import annotations

import datetime
import logging
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, TypeVar, Union, overload

from ..aio import AsyncTransport
from ..client import Client
from ..errors import AbideError
from ..fields import Duration
from ..handles import RunHandle
from ..voice import least
from ..worker import Worker
from ..workflows.definition import Workflow
from ..workflows.run import Turn
from .server import TestServer

I = TypeVar("I")  # noqa: E741
R = TypeVar("R")
Function = Callable[..., Any]
_TASK_POLL = "100ms"  # so that a mock that is added later is served soon


class Mocks:
    """What is called instead of steps and tasks: env.mock."""

    def __init__(self, env: "Environment"):
        self._env = env
        self.steps: Dict[str, Function] = {}

    def step(self, name: str, function: Function) -> None:
        """Steps of that name call it, with the arguments that they were given."""
        self.steps[name] = function

    def task(self, name: str, function: Function) -> None:
        """Does tasks of that name: function(input), or function(input, context)."""
        self._env.serve_task(name, function)


class Crash:
    """When the worker is to crash: at which commit, before or after the server took it."""

    def __init__(self, at: int = 0, is_after: bool = False):
        self.at = at  # 0 = never
        self.is_after = is_after
        self.commits = 0
        self.has_happened = False


class _WorkflowWorker(Worker):
    """A worker that can be killed, and that can lose its memory at a commit."""

    def __init__(self, env: "Environment", crash: Crash, **options: Any):
        super().__init__(env.server.url, **options)
        self.crash = crash
        self._step_mocks = env.mock.steps

    def _transport_of_workflows(self) -> AsyncTransport:
        transport = _Transport.like(self.client.transport)
        assert isinstance(transport, _Transport)
        transport.worker = self
        return transport

    def kill(self) -> None:
        if self._service is not None:
            self._service.kill()
        self.stop()
        if self._background is not None:
            self._background.join()

    @property
    def is_dead(self) -> bool:
        return self._service is not None and self._service.is_dead

    def lose_memory(self, claimed: Sequence[Turn]) -> None:
        """At a commit, on the thread of the workflows: as a new process would begin."""
        assert self._service is not None
        self.crash.has_happened = True
        self._service.lose_memory(claimed)


class _Transport(AsyncTransport):
    worker: _WorkflowWorker

    async def call(self, method: str, path: str, **options: Any) -> Any:
        crash = self.worker.crash
        if path != "/v1/turns/commit" or '"outcome":"released"' in options["text"]:
            return await super().call(method, path, **options)
        crash.commits += 1
        if crash.commits != crash.at:
            return await super().call(method, path, **options)
        answer = await super().call(method, path, **options) if crash.is_after else {}
        self.worker.lose_memory(answer.get("claimed", ()))
        return {"turns": []}  # nobody is there any more to whom it could be told


class Environment:
    """A server, a worker and a client for one test; use it with `with`.

    definitions  the workflows
    tasks        task functions by name
    server       one that is there already; it is not closed
    binary       of a server of its own, as for TestServer
    options      of the Worker
    """

    def __init__(self, *definitions: Workflow[Any, Any],
                 tasks: Optional[Mapping[str, Function]] = None,
                 server: Optional[TestServer] = None, binary: Optional[str] = None,
                 **options: Any):
        self._definitions = definitions
        self._options = options
        self._own_server = TestServer(binary=binary) if server is None else None
        self._tasks = dict(tasks or {})
        self._crash = Crash()
        self._worker: Optional[_WorkflowWorker] = None
        self._task_worker: Optional[Worker] = None
        self.server = server or self._own_server or TestServer()
        self.mock = Mocks(self)
        self.effects: List[Any] = []
        """What your mocks note by effect()."""

    def __enter__(self) -> "Environment":
        if self._own_server is not None:
            self._own_server.start()
        self.client = Client(self.server.url)
        least.append(logging.WARNING)  # nobody wants to know when these workers come and go
        self._serve_tasks()
        self._begin()
        return self

    def __exit__(self, *_: Any) -> None:
        for worker in (self._worker, self._task_worker):
            if worker is not None and not getattr(worker, "is_dead", False):
                worker.__exit__()
        self.client.close()
        least.remove(logging.WARNING)
        if self._own_server is not None:
            self._own_server.close()

    # ---- what a test does ----

    @overload
    def start(self, workflow: Workflow[I, R], input: I = ..., **options: Any) -> RunHandle[R]: ...
    @overload
    def start(self, workflow: str, input: Any = None, **options: Any) -> RunHandle[Any]: ...

    def start(self, workflow: Union[Workflow[Any, Any], str], input: Any = None,
              **options: Any) -> RunHandle[Any]:
        """Starts a run, as Client.start."""
        return self.client.start(workflow, input, **options)

    def advance(self, by: Duration) -> datetime.datetime:
        """Moves the clock, and answers when all that came due is done."""
        return self.server.advance(by)

    def settle(self) -> datetime.datetime:
        """Waits until nothing is executed any more."""
        return self.server.advance(0)

    def effect(self, what: Any, answer: Any = None) -> Any:
        """For mocks: notes what they did, and answers `answer`."""
        self.effects.append(what)
        return answer

    def kill(self) -> None:
        """The worker dies: what it had not committed is lost."""
        if self._worker is not None:
            self._worker.kill()

    def restart(self) -> None:
        """Another worker, after kill(), takes up what the dead one held."""
        if self._worker is not None and not self._worker.is_dead:
            raise AbideError("the worker is alive: kill() it first")
        self._begin()

    # ---- for mocks and crashes ----

    def _begin(self) -> None:
        if not self._definitions:
            return
        worker = _WorkflowWorker(self, self._crash, **self._options)
        worker.workflow(*self._definitions)
        worker.__enter__()
        self._worker = worker
        if not worker.wait_until_ready():
            raise AbideError("the worker could not ask for turns of its workflows")

    def serve_task(self, name: str, function: Function) -> None:
        self._tasks[name] = function
        if self.server.url:
            self._serve_tasks()

    def _serve_tasks(self) -> None:
        if self._task_worker is not None:
            self._task_worker.__exit__()
            self._task_worker = None
        if self._tasks:
            self._task_worker = Worker(self.server.url, poll=_TASK_POLL)
            for name, function in self._tasks.items():
                self._task_worker.add(name, function)
            self._task_worker.__enter__()

    def crash_at(self, commit: int, is_after: bool) -> Crash:
        """Before the worker begins: it crashes at that commit, counted from 1."""
        self._crash = Crash(commit, is_after)
        return self._crash
