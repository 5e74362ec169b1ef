"""Slips: calls that make a workflow differ from its replay, said once for each place.

In development (unless $ABIDE_ENV or $ENV is "production") the clock, random numbers, sleeping and
sockets are watched. A call from the code of a workflow outside of its steps is told with its line and
with what to use instead; it does what it always does. Calls from anywhere else cost one comparison.
"""
from __future__ import annotations

import logging
import os
import random
import socket
import sys
import threading
import time
import uuid
from types import FrameType
from typing import Any, Callable, Optional, Set, Tuple

from ..voice import say
from .replay import PACKAGE

_ADVICE: Tuple[Tuple[Any, str, str, str], ...] = (
    (time, "time", "time.time()", "ctx.now()"),
    (time, "time_ns", "time.time_ns()", "ctx.now()"),
    (time, "monotonic", "time.monotonic()", "ctx.now()"),
    (time, "perf_counter", "time.perf_counter()", "ctx.now()"),
    (time, "sleep", "time.sleep()", "ctx.sleep()"),
    (random, "random", "random.random()", "ctx.random()"),
    (random, "randint", "random.randint()", "ctx.random()"),
    (random, "randrange", "random.randrange()", "ctx.random()"),
    (random, "uniform", "random.uniform()", "ctx.random()"),
    (random, "choice", "random.choice()", "ctx.random()"),
    (random, "shuffle", "random.shuffle()", "ctx.random()"),
    (uuid, "uuid1", "uuid.uuid1()", "ctx.uuid()"),
    (uuid, "uuid4", "uuid.uuid4()", "ctx.uuid()"),
    (os, "urandom", "os.urandom()", "a step"),
)


class Executing(threading.local):
    """Whether this thread executes the code of a workflow."""

    is_on = False

    def enter(self) -> None:
        self.is_on = True

    def leave(self) -> None:
        self.is_on = False

    def __enter__(self) -> None:
        self.is_on = True

    def __exit__(self, *_: Any) -> None:
        self.is_on = False


executing = Executing()
_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
_told: Set[Tuple[str, int]] = set()
_is_watching = False


def _is_of_python(file: str) -> bool:
    return file.startswith(_STANDARD_LIBRARY) and "-packages" not in file


def _tell(what: str, instead: str, must_be_direct: bool) -> None:
    frame: Optional[FrameType] = sys._getframe(2)
    while frame is not None and _is_of_python(frame.f_code.co_filename):
        if must_be_direct:  # logging asks for the time, and may
            return
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(PACKAGE):
        return
    at = (frame.f_code.co_filename, frame.f_lineno)
    if at in _told:
        return
    _told.add(at)
    say(logging.WARNING, "%s:%d calls %s in a workflow: its replay will get something else; "
        "use %s, or do it in a step", at[0], at[1], what, instead)


def _watched(function: Callable[..., Any], what: str, instead: str) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        if executing.is_on:
            _tell(what, instead, True)
        return function(*args, **options)
    call.__name__ = getattr(function, "__name__", what)
    call.__doc__ = function.__doc__
    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call


def watch() -> None:
    """From now on, once for this process. A worker with workflows does it when it begins."""
    global _is_watching
    is_production = "production" in (os.environ.get("ABIDE_ENV"), os.environ.get("ENV"))
    if _is_watching or is_production:
        return
    _is_watching = True
    for module, name, what, instead in _ADVICE:
        setattr(module, name, _watched(getattr(module, name), what, instead))
    connect = socket.socket.connect

    def watched_connect(self: socket.socket, address: Any) -> None:
        if executing.is_on:
            _tell("socket.connect()", "a step", False)
        connect(self, address)
    setattr(socket.socket, "connect", watched_connect)
