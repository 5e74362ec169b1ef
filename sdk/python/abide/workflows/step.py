"""Steps: what the author of one sees. Who executes them is in steps.py."""
from __future__ import annotations

import contextvars
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, TypeVar

from ..convert import Decoder, encode
from ..errors import StepCancelled
from ..fields import Duration, seconds
from .operation import Durable, Operation

T = TypeVar("T")


@dataclass(frozen=True)
class Retry:
    """When a failed attempt is repeated. Backoffs are durable: they outlive the worker.

    attempts       in total
    delay          before the second attempt
    factor         each delay is this many times the previous one
    max_delay      longest delay
    jitter         0 to 1: each delay is up to this share shorter or longer
    non_retryable  names of errors after which there is no further attempt
    """

    attempts: int = 3
    delay: Duration = 1
    factor: float = 2
    max_delay: Duration = "1h"
    jitter: float = 0
    non_retryable: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.attempts, bool) or not isinstance(self.attempts, int) or self.attempts < 1:
            raise ValueError("attempts: a whole number from 1 on, not %r" % (self.attempts,))
        if not 0 <= self.factor <= 1000:
            raise ValueError("factor: from 0 to 1000, not %r" % (self.factor,))
        if not 0 <= self.jitter <= 1:
            raise ValueError("jitter: from 0 to 1, not %r" % (self.jitter,))
        if isinstance(self.non_retryable, str):
            raise TypeError("non_retryable: must be a list of names, not %r" % self.non_retryable)
        seconds(self.delay, "delay")
        seconds(self.max_delay, "max_delay")

    def pause(self, failed: int, chance: float) -> float:
        """Seconds before the next attempt, after so many; `chance` is from 0 to 1."""
        pause = min(seconds(self.delay) * self.factor ** (failed - 1), seconds(self.max_delay))
        return pause * (1 + self.jitter * (2 * chance - 1))

    def options(self) -> Dict[str, Any]:
        """As the server takes them for tasks."""
        return {"attempts": self.attempts, "delay": self.delay, "factor": self.factor,
                "maxDelay": self.max_delay, "jitter": self.jitter,
                "nonRetryable": list(self.non_retryable)}


ONCE = Retry(attempts=1)


class StepContext:
    """What a step may know about itself: current_step() answers it inside of one."""

    def __init__(self, run_id: str, number: int, name: str, attempt: int,
                 traceparent: Optional[str]):
        self.run_id = run_id
        self.name = name
        self.attempt = attempt
        """1 in the first attempt."""
        self.key = "%s/%d" % (run_id, number)
        """The same for every attempt of this step and for no other step: an idempotency key."""
        self.traceparent = traceparent
        self.cancelled = threading.Event()
        """Set when the result is not wanted any more; `reason` says why."""
        self.reason: Optional[str] = None
        """"cancelled", "timeout", "lease lost" or "stopping"."""

    def check(self) -> None:
        """Raises StepCancelled when the result is not wanted any more."""
        if self.cancelled.is_set():
            raise StepCancelled(self.reason or "cancelled")

    def give_up(self, reason: str) -> None:
        self.reason = self.reason or reason
        self.cancelled.set()


_current: "contextvars.ContextVar[StepContext]" = contextvars.ContextVar("abide_step")


def current_step() -> StepContext:
    """The step that this code is a part of; RuntimeError when it is part of none."""
    try:
        return _current.get()
    except LookupError:
        raise RuntimeError("current_step() is for code that a step executes") from None


def enter_step(step: StepContext) -> None:
    _current.set(step)


class StepOperation(Durable[T]):
    """A step that the function has begun."""

    __slots__ = ("function", "arguments", "retry", "timeout", "attempts", "retry_at", "running")

    def __init__(self, block: Callable[[Operation[Any]], None], name: str,
                 decode: Optional[Decoder], call: Tuple[Callable[..., Any], Tuple[Any, ...]],
                 retry: Retry, timeout: Optional[float]):
        super().__init__(block, "step", name, decode)
        self.function, self.arguments = call
        self.retry = retry
        self.timeout = timeout
        self.attempts = 0  # that have failed
        self.retry_at: Optional[str] = None
        self.running: Optional[StepContext] = None

    @property
    def is_in_backoff(self) -> bool:
        return self.retry_at is not None

    def begin_backoff(self, attempts: int, until: str) -> None:
        self.attempts, self.retry_at, self.until = attempts, until, until
        self.wait = '"on":"retry","until":%s' % encode(until)

    def end_backoff(self) -> None:
        self.retry_at = self.wait = self.until = None
