"""Operations: what a workflow can await, and combinations of them.

  [O1] What nobody awaits is not waited for. The loser of a race takes no signal and no event away
       from whoever awaits them next; awaited again, it goes on.
  [O2] An operation is settled once. Who awaits it is woken in the order in which they began to.
"""
from __future__ import annotations

import asyncio
from typing import Any, Callable, Generator, Generic, List, Optional, Sequence, TypeVar

from ..convert import Decoder
from ..errors import AbideError

T = TypeVar("T")
Listener = Callable[["Operation[Any]"], None]


class Operation(Generic[T]):
    """Something that ends later. `await` it; in a plain function, call its result()."""

    __slots__ = ("is_done", "_value", "_error", "_listeners", "_block")

    def __init__(self, block: "Optional[Callable[[Operation[Any]], None]]" = None) -> None:
        self.is_done = False
        """Whether it has ended, well or not."""
        self._value: Any = None
        self._error: Optional[BaseException] = None
        self._listeners: List[Listener] = []
        self._block = block

    def __await__(self) -> Generator[Any, None, T]:
        self._refresh()
        if not self.is_done:
            future = asyncio.get_running_loop().create_future()
            wake = lambda _: None if future.done() else future.set_result(None)  # noqa: E731
            self._listen(wake)
            try:
                yield from future
            finally:
                self._leave(wake)
        return self._outcome()

    def result(self) -> T:
        """What it ended with: its value, or its error is raised. A plain function waits for it."""
        self._refresh()
        if not self.is_done:
            if self._block is None:
                raise RuntimeError("it has not ended: await it")
            self._block(self)
        return self._outcome()

    @property
    def error(self) -> Optional[BaseException]:
        """What it failed with; None when it has not."""
        return self._error

    @property
    def is_awaited(self) -> bool:  # [O1]
        return bool(self._listeners)

    # ---- for what settles it ----

    def _refresh(self) -> None:
        """Before it is looked at."""

    def _outcome(self) -> T:
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[no-any-return]

    def _listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def _leave(self, listener: Listener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    def _settle(self, value: Any = None, error: Optional[BaseException] = None) -> None:
        if self.is_done:  # [O2]
            return
        self.is_done, self._value, self._error = True, value, error
        listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener(self)


class Durable(Operation[T]):
    """One that the server knows: it has a number, and the journal says how it ended."""

    __slots__ = ("number", "kind", "name", "place", "wait", "until", "decode")

    def __init__(self, block: "Callable[[Operation[Any]], None]", kind: str, name: str,
                 decode: Optional[Decoder] = None):
        super().__init__(block)
        self.number = 0
        self.kind = kind
        self.name = name
        self.place: Any = None
        """Where the code began it: (code object, line)."""
        self.wait: Optional[str] = None
        """What to wait for on the server: the members of a wait, as JSON text."""
        self.until: Optional[str] = None
        """When that is over, if it is by itself."""
        self.decode = decode

    def succeed(self, raw: Any) -> None:
        """With what the journal has of it."""
        try:
            self._settle(raw if self.decode is None else self.decode(raw))
        except AbideError as error:
            self._settle(error=error)

    def fail(self, error: BaseException) -> None:
        self._settle(error=error)

    def __repr__(self) -> str:
        return "<%s %r, operation %d, %s>" % (
            self.kind, self.name, self.number, "done" if self.is_done else "open")


class Settled(Generic[T]):
    """How one of several ended: of all_settled."""

    __slots__ = ("value", "error")

    def __init__(self, value: Optional[T], error: Optional[BaseException]):
        self.value = value
        self.error = error

    @property
    def ok(self) -> bool:
        return self.error is None

    def __repr__(self) -> str:
        return "Settled(%s)" % (repr(self.value) if self.ok else repr(self.error))


class NoneSucceeded(AbideError):
    """All of what any() was given failed; `errors` has why, in order."""

    def __init__(self, errors: Sequence[Optional[BaseException]]):
        super().__init__("all %d failed: %s" % (len(errors), "; ".join(map(str, errors))))
        self.errors = list(errors)


Rule = Callable[["Combined", Operation[Any]], None]
"""What it means for the whole that one of the parts has ended; `left` have not."""


class Combined(Operation[Any]):
    """Ends by a rule over others. It awaits them while it is awaited itself. [O1]"""

    __slots__ = ("parts", "left", "_rule")

    def __init__(self, parts: Sequence[Operation[Any]], rule: Rule,
                 block: Optional[Callable[[Operation[Any]], None]]):
        super().__init__(block)
        self.parts = parts
        self._rule = rule
        self._refresh()

    def _refresh(self) -> None:
        """Parts may have ended while nobody awaited this."""
        for part in self.parts:
            part._refresh()
        self.left = sum(not part.is_done for part in self.parts)
        for part in self.parts:
            if part.is_done and not self.is_done:
                self._rule(self, part)

    def _ended(self, part: Operation[Any]) -> None:
        self.left -= 1
        self._rule(self, part)
        if self.is_done:
            self._leave_parts()

    def _leave_parts(self) -> None:
        for part in self.parts:
            if not part.is_done:
                part._leave(self._ended)

    def _listen(self, listener: Listener) -> None:
        if not self._listeners:
            for part in self.parts:
                if not part.is_done:
                    part._listen(self._ended)
        super()._listen(listener)

    def _leave(self, listener: Listener) -> None:
        super()._leave(listener)
        if not self._listeners and not self.is_done:
            self._leave_parts()


def every(combined: Combined, part: Operation[Any]) -> None:
    """A tuple of all values, or the first error."""
    if part.error is not None:
        combined._settle(error=part.error)
    elif combined.left == 0:
        combined._settle(tuple(each.result() for each in combined.parts))


def first(combined: Combined, part: Operation[Any]) -> None:
    """Value or error of the first that ends."""
    combined._settle(None if part.error else part.result(), part.error)


def first_success(combined: Combined, part: Operation[Any]) -> None:
    """The first value; an error when there can be none any more."""
    if part.error is None:
        combined._settle(part.result())
    elif combined.left == 0 and all(each.error for each in combined.parts):
        combined._settle(error=NoneSucceeded([each.error for each in combined.parts]))


def every_end(combined: Combined, _part: Operation[Any]) -> None:
    """A tuple of Settled."""
    if combined.left == 0:
        combined._settle(tuple(Settled(None if each.error else each.result(), each.error)
                               for each in combined.parts))
