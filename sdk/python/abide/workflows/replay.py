"""Replay: the journal of one run beside what its function asks for.

The journal is a line of commands (a task, a child, an event, a mark) and completions (what was
awaited has ended). The function is executed from its beginning; docs/protocol.md has the idea.

  [R1] Commands are matched in order: the n-th that the function gives is the n-th of the journal,
       kind, name and operation alike. Behind the last one of the journal they are new.
  [R2] Completions settle operations in their order, one at a time, each when the function can go
       on no more. Before one is settled, every command before it in the journal must be given.
  [R3] Completions that came together are settled before what the function did between them stands
       in the journal. Otherwise no completion stands between the place where the function is and
       the command that it gives: none before the first one, and no step behind a wait.
  [R4] Whatever does not fit stops the function for good: no code of it runs after a mismatch.
"""
from __future__ import annotations

import os
import sys
from types import CodeType
from typing import Any, Dict, List, Optional, Tuple, Type

from ..convert import encode
from ..errors import CancelledError, ChildError, OperationError, OperationTimeout, StepError, TaskError
from .operation import Durable
from .step import StepOperation

Entry = Dict[str, Any]
Place = Tuple[CodeType, int]

_COMMANDS = frozenset(("task", "child", "emit", "stream", "mark"))
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_ASYNCIO = os.path.dirname(os.__file__) + os.sep + "asyncio" + os.sep


class Stop(BaseException):
    """Ends a function that must not go on: it does not fit its journal, or its run was let go."""


class Mismatch(Exception):
    """What the journal has and what the code asks for."""

    def __init__(self, position: int, expected: str, found: str, place: Optional[Place]):
        self.position, self.expected, self.found = position, expected, found
        self.at = "%s:%d" % (place[0].co_filename, place[1]) if place else None
        super().__init__("entry %d of the journal is %s, but the code %s%s" % (
            position, expected, found, " at " + self.at if self.at else ""))

    def describe(self) -> Dict[str, Any]:
        return {"type": "NondeterminismError", "message": "%s; deploy the code that this run began "
                "with and resume it, or guard the change with ctx.changed(…)" % self,
                "position": self.position, "expected": self.expected, "found": self.found,
                "at": self.at}


def code_place() -> Optional[Place]:
    """Where the code outside of this library is, that called it."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(PACKAGE) and not name.startswith(_ASYNCIO):
            return frame.f_code, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return None


def failure_of(operation: Durable[Any], data: Any) -> BaseException:
    """The error that a failed operation raises, from the error object of the journal."""
    error = data if isinstance(data, dict) else {"message": str(data)}
    kinds: Dict[str, Type[OperationError]] = {
        "step": StepError, "task": TaskError, "child": ChildError}
    kind = kinds.get(operation.kind, OperationError)
    message = str(error.get("message", "it failed"))
    if error.get("type") == "TimeoutError" and operation.kind == "step":
        return OperationTimeout(message)
    return kind(message, type=error.get("type") or error.get("name"),
                details=error.get("details"), cause=error.get("cause"))


def _named(kind: str, name: str) -> str:
    return "%s %s" % (kind, encode(name))


class Replay:
    """Of one run: operations by number, new entries, and how far the journal was walked."""

    __slots__ = ("journal", "place", "commands", "walked", "news", "last", "open", "count",
                 "entries", "halt", "is_cancelled")

    def __init__(self) -> None:
        self.journal: List[Entry] = []
        self.place = 0  # what was walked of it
        self.commands = 0  # before it, all commands were given [R1]
        self.walked = 0  # entries that were walked and forgotten
        self.news = 0  # from this place on, the journal has what nobody has seen
        self.last: Optional[str] = None  # kind of what was settled last
        self.open: Dict[int, Durable[Any]] = {}
        self.count = 0
        self.entries: List[str] = []  # new ones, as JSON text
        self.halt: Optional[BaseException] = None  # [R4]: a Mismatch, or a Stop
        self.is_cancelled = False

    # ---- what the function asks for ----

    def begin(self, operation: Durable[Any]) -> int:
        if self.halt is not None:
            raise Stop()
        self.count += 1
        operation.number = self.count
        operation.place = code_place()
        self.open[self.count] = operation
        return self.count

    def command(self, kind: str, name: str, number: int, text: str) -> Optional[Entry]:
        """The entry of the journal that it is; None when it is new, and `text` was noted."""
        if self.halt is not None:
            raise Stop()
        entry = self._next_command()
        if self.place < self.commands:
            self._must_be_near(kind, name)
        if entry is None:
            self.entries.append(text)
            return None
        if entry["kind"] != kind or entry["name"] != name or entry["op"] != number:
            self._mismatch(self.commands, entry, "asks for " + _named(kind, name), code_place())
        self.commands += 1
        return entry

    def _must_be_near(self, kind: str, name: str) -> None:  # [R3]
        for index in range(self.place, self.commands):
            entry = self.journal[index]
            if entry["kind"] not in _COMMANDS and (
                    self.last is None or self.last == "wait" and entry["kind"] != "wait"):
                self._mismatch(index, entry, "asks for " + _named(kind, name), code_place())

    def mark(self, name: str, value: Any, number: int = 0) -> Any:
        """The value as it was the first time."""
        text = '{"kind":"mark","name":%s,"value":%s%s}' % (
            encode(name), encode(value), ',"op":%d' % number if number else "")
        entry = self.command("mark", name, number, text)
        return value if entry is None else entry["data"]

    def has_mark(self, name: str) -> bool:
        """Whether the function gets there for the first time, or did with this mark."""
        entry = self._next_command()
        if entry is None and self.is_replaying:
            return False
        if entry is not None and (entry["kind"], entry["name"]) != ("mark", name):
            return False
        self.mark(name, None)
        return True

    def note(self, text: str) -> None:
        """An entry that the journal does not keep."""
        if self.halt is not None:
            raise Stop()
        self.entries.append(text)

    @property
    def is_replaying(self) -> bool:
        return self.place < self.news

    @property
    def has_commands(self) -> bool:
        """Whether the journal has commands that the function has not given."""
        return self._next_command() is not None

    def _next_command(self) -> Optional[Entry]:
        while self.commands < len(self.journal):
            entry = self.journal[self.commands]
            if entry["kind"] in _COMMANDS and entry["outcome"] != "cancelled":
                return entry
            self.commands += 1
        return None

    # ---- what has ended ----

    def extend(self, journal: List[Entry]) -> None:
        """With what came since, or, at the beginning, with all that there is."""
        is_all = self.walked == 0 and self.count == 0
        self.journal.extend(journal)
        self.news = len(self.journal) if is_all else 0

    def settle_next(self) -> bool:
        """Settles what the journal ends next; False when it has nothing more. [R2]"""
        while self.place < len(self.journal):
            entry = self.journal[self.place]
            if entry["outcome"] == "cancelled":
                self.place += 1
                self.last = "cancelled"
                self.cancel()
                return True
            if entry["kind"] not in _COMMANDS:
                self._complete(entry)
                self.place += 1
                self.last = entry["kind"]
                return True
            if self.commands <= self.place:
                self._mismatch(self.place, entry, "does not ask for it", None)
            self.place += 1
        self.walked += len(self.journal)
        self.journal, self.place, self.commands, self.news = [], 0, 0, 0
        return False

    def cancel(self) -> None:
        """The run was asked to end: whatever is open fails."""
        self.is_cancelled = True
        operations, self.open = list(self.open.values()), {}
        for operation in operations:
            operation.fail(CancelledError("the run was cancelled"))

    def _complete(self, entry: Entry) -> None:
        number, kind, name = entry["op"], entry["kind"], entry["name"]
        operation = self.open.get(number)
        if operation is None:
            if not 0 < number <= self.count:
                self._mismatch(self.place, entry, "has not begun operation %d" % number, None)
            return
        if isinstance(operation, StepOperation):
            fits = operation.is_in_backoff if kind == "wait" else operation.name == name
        else:
            fits = kind == "wait" and (operation.kind not in ("signal", "event")
                                       or operation.name == name)
        if not fits:
            self._mismatch(self.place, entry, "has begun " + _named(operation.kind, operation.name),
                           operation.place)
        if isinstance(operation, StepOperation) and kind == "wait":
            operation.end_backoff()
        elif isinstance(operation, StepOperation) and kind == "step_attempt":
            operation.begin_backoff(entry["attempt"], entry["data"].get("next_at"))
        else:
            self.settle(operation, entry["outcome"], entry["data"])

    def settle(self, operation: Durable[Any], outcome: str, data: Any) -> None:
        if self.open.pop(operation.number, None) is None:
            return
        if outcome == "ok":
            operation.succeed(data)
        elif outcome == "timeout":
            operation.fail(OperationTimeout("%s did not come in time" % _named(
                operation.kind, operation.name)))
        else:
            operation.fail(failure_of(operation, data))

    # ---- what does not fit ----

    def _mismatch(self, index: int, entry: Entry, found: str, place: Optional[Place]) -> None:
        kind = {"step_attempt": "an attempt of step", "wait": "the end of"}.get(
            entry["kind"], entry["kind"])
        self.halt = Mismatch(self.walked + index + 1, _named(kind, entry["name"]), found, place)
        raise Stop()
