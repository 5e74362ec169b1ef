"""What a task is to its worker: its context, its lease, and what becomes of it."""
from __future__ import annotations

import inspect
import random
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional

from .errors import TaskCancelled, TaskError
from .transport import to_json

if TYPE_CHECKING:
    from .worker import Worker

_MESSAGE_MAX = 8000  # characters of an error's message
_DETAILS_MAX = 32000
_PROGRESS_MAX = 32000

TaskFunction = Callable[..., Any]


class TaskContext:
    """What a task function may know about its task, as its second argument."""

    def __init__(self, worker: "Worker", task: Dict[str, Any]):
        self.id: str = task["id"]
        self.name: str = task["name"]
        self.queue: str = task["queue"]
        self.attempt: int = task["attempt"]
        self.run_id: Optional[str] = task.get("run_id")
        self.step: Optional[int] = task.get("step")
        self.traceparent: Optional[str] = task.get("traceparent")
        self.tracestate: Optional[str] = task.get("tracestate")
        self.cancelled = threading.Event()
        """Set when the result is not wanted any more; `reason` says why."""
        self.reason: Optional[str] = None
        """"cancelled", "lease lost" or "stopping"."""
        self._worker = worker
        self._token: int = task["token"]

    def progress(self, value: Any) -> None:
        """Tells the server how far the task is (any JSON); sent within about a second."""
        text = to_json(value)
        if len(text) > _PROGRESS_MAX:
            raise ValueError("a progress has at most %d characters" % _PROGRESS_MAX)
        self._worker._note_progress(self._token, text)

    def check(self) -> None:
        """Raises TaskCancelled when the result is not wanted any more."""
        if self.cancelled.is_set():
            raise TaskCancelled(self.reason or "cancelled")


class Job:
    def __init__(self, worker: "Worker", task: Dict[str, Any]):
        self.task = task
        self.context = TaskContext(worker, task)
        # The server may give less than was asked for: the task's own heartbeat time-out.
        lease = min(worker.lease, task.get("lease_ms", worker.lease * 1000) / 1000)
        self.interval = max(0.02, min(worker.heartbeat, lease / 3))
        self.next_heartbeat = time.monotonic() + self.interval * random.uniform(0.5, 1)
        self.last_heartbeat = time.monotonic()
        self.progress: Optional[str] = None

    def give_up(self, reason: str) -> None:
        self.context.reason = self.context.reason or reason
        self.context.cancelled.set()


class Item:
    """Something to be told about a task: a result, an error, or that it is handed back."""

    def __init__(self, task: Dict[str, Any], member: str):
        self.id = task["id"]
        self.token = task["token"]
        self.kind = member[1:member.index('"', 1)]  # result, error or release
        self.text = '{"id":%s,"token":%d,%s}' % (to_json(self.id), self.token, member)


def takes_context(function: TaskFunction) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(places) >= 2 or any(p.kind == p.VAR_POSITIONAL for p in parameters)


def describe(error: BaseException) -> str:
    described: Dict[str, Any] = {"type": getattr(error, "type", None),
                                 "message": str(error)[:_MESSAGE_MAX]}
    if not isinstance(error, TaskError) or not isinstance(described["type"], str):
        described["type"] = error.__class__.__name__
    if getattr(error, "retryable", True) is False:
        described["retryable"] = False
    details = getattr(error, "details", None)
    if details is not None:
        try:
            text = to_json(details)
        except (TypeError, ValueError):
            text = to_json(str(details))
        if len(text) <= _DETAILS_MAX:
            return to_json(described)[:-1] + ',"details":' + text + "}"
    return to_json(described)
