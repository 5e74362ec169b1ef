"""BlockingContext: what a workflow that is a plain function may ask for.

Every call blocks until its operation has ended and answers its value. ctx.begin has the same calls
and does not block: it answers operations, for ctx.all, any, race and all_settled.
"""
from __future__ import annotations

import datetime
import threading
import uuid
from typing import Any, Callable, Coroutine, NoReturn, Optional, Tuple, Type, TypeVar, Union, overload

from ..fields import Duration, Time
from .context import Context, Filter, RunInfo, RunLog, RunState
from .definition import Workflow
from .operation import Operation, Settled
from .step import Retry

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


class BlockingContext:
    """The first argument of a workflow that is a plain function. context.py says what each does."""

    def __init__(self, begin: Context):
        self.begin = begin
        """The same calls, which answer operations instead of waiting for them."""
        self.info: RunInfo = begin.info
        self.log: RunLog = begin.log
        self.state: RunState = begin.state

    # ---- what is executed ----

    @overload
    def step(self, name: str, function: Callable[..., Coroutine[Any, Any, T]], *args: Any,
             retry: Optional[Retry] = None, timeout: Optional[Duration] = None) -> T: ...
    @overload
    def step(self, name: str, function: Callable[..., T], *args: Any,
             retry: Optional[Retry] = None, timeout: Optional[Duration] = None) -> T: ...

    def step(self, name: str, function: Callable[..., Any], *args: Any,
             retry: Optional[Retry] = None, timeout: Optional[Duration] = None) -> Any:
        return self.begin.step(name, function, *args, retry=retry, timeout=timeout).result()

    def task(self, name: str, input: Any = None, **options: Any) -> Any:
        return self.begin.task(name, input, **options).result()

    @overload
    def child(self, workflow: Workflow[A, T], input: A = ..., **options: Any) -> T: ...
    @overload
    def child(self, workflow: str, input: Any = None, **options: Any) -> Any: ...

    def child(self, workflow: Union[Workflow[Any, Any], str], input: Any = None,
              **options: Any) -> Any:
        return self.begin.child(workflow, input, **options).result()

    def start(self, workflow: Union[Workflow[A, Any], str], input: Any = None,
              **options: Any) -> str:
        return self.begin.start(workflow, input, **options).result()

    # ---- what is waited for ----

    def sleep(self, duration: Duration) -> None:
        self.begin.sleep(duration).result()

    def sleep_until(self, at: Time) -> None:
        self.begin.sleep_until(at).result()

    @overload
    def signal(self, name: str, *, type: Type[T], timeout: Optional[Duration] = None) -> T: ...
    @overload
    def signal(self, name: str, *, timeout: Optional[Duration] = None) -> Any: ...

    def signal(self, name: str, *, type: Any = None, timeout: Optional[Duration] = None) -> Any:
        return self.begin.signal(name, type=type, timeout=timeout).result()

    @overload
    def event(self, topic: str, *, type: Type[T], timeout: Optional[Duration] = None,
              filter: Optional[Filter] = None) -> T: ...
    @overload
    def event(self, topic: str, *, timeout: Optional[Duration] = None,
              filter: Optional[Filter] = None) -> Any: ...

    def event(self, topic: str, *, type: Any = None, timeout: Optional[Duration] = None,
              filter: Optional[Filter] = None) -> Any:
        return self.begin.event(topic, type=type, timeout=timeout, filter=filter).result()

    # ---- several at a time: operations of ctx.begin ----

    @overload
    def all(self, __a: Operation[A], __b: Operation[B]) -> Tuple[A, B]: ...
    @overload
    def all(self, __a: Operation[A], __b: Operation[B], __c: Operation[C]) -> Tuple[A, B, C]: ...
    @overload
    def all(self, *parts: Operation[T]) -> Tuple[T, ...]: ...

    def all(self, *parts: Operation[Any]) -> Any:
        return self.begin.all(*parts).result()

    def any(self, *parts: Operation[T]) -> T:
        return self.begin.any(*parts).result()

    def race(self, *parts: Operation[T]) -> T:
        return self.begin.race(*parts).result()

    def all_settled(self, *parts: Operation[T]) -> Tuple[Settled[T], ...]:
        return self.begin.all_settled(*parts).result()

    # ---- what does not wait ----

    def emit(self, topic: str, payload: Any = None) -> None:
        self.begin.emit(topic, payload)

    def stream(self, value: Any, type: str = "message") -> None:
        self.begin.stream(value, type)

    def continue_as(self, input: Any = None) -> NoReturn:
        self.begin.continue_as(input)

    def now(self) -> datetime.datetime:
        return self.begin.now()

    def random(self) -> float:
        return self.begin.random()

    def uuid(self) -> uuid.UUID:
        return self.begin.uuid()

    def changed(self, name: str) -> bool:
        return self.begin.changed(name)

    @property
    def is_cancelled(self) -> bool:
        return self.begin.is_cancelled

    @property
    def cancelled(self) -> threading.Event:
        return self.begin.cancelled
