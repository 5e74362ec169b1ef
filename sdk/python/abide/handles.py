"""RunHandle: a run that was started, or is known by its id: its JSON, and what can be asked of it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, Iterator, Optional, TypeVar

from .fields import Duration

if TYPE_CHECKING:
    from .client import Client

R = TypeVar("R")
JsonObject = Dict[str, Any]


class RunHandle(Dict[str, Any], Generic[R]):
    """A run, as the dictionary that the server answered; `refresh()` asks for it anew."""

    def __init__(self, client: "Client", run: JsonObject, read: Callable[[Any], Any]):
        super().__init__(run)
        self._client = client
        self._read = read

    @property
    def id(self) -> str:
        return str(self["id"])

    @property
    def status(self) -> str:
        """When it was asked for last."""
        return str(self["status"])

    def result(self, *, timeout: Optional[Duration] = None) -> R:
        """Waits for the end, and answers the result as the workflow's annotation says.

        Raises RunFailed when it failed or was cancelled, WaitTimeout when `timeout` passed first.
        """
        answer: R = self._read(self._client.result(self.id, timeout=timeout))
        return answer

    def wait(self, *, timeout: Optional[Duration] = None) -> "RunHandle[R]":
        """Waits for the end, whatever it is, or until `timeout` has passed; then see `status`."""
        self._client.wait(self.id, timeout=timeout)
        return self.refresh()

    def refresh(self) -> "RunHandle[R]":
        run = self._client.show(self.id)
        self.clear()
        self.update(run)
        return self

    def signal(self, name: str, payload: Any = None, *, id: Optional[str] = None) -> JsonObject:
        """Sends a signal. It is kept until the run takes it; `id` deduplicates."""
        return self._client.signal(self.id, name, payload, id=id)

    def events(self, *, after: int = 0) -> Iterator[JsonObject]:
        """The entries of the run's log as they are written, until it has ended."""
        return self._client.stream(self.id, after=after)

    def messages(self, type: Optional[str] = None, *, after: int = 0) -> Iterator[Any]:
        """What the workflow streams (ctx.stream), as it comes; those of one type, or all."""
        for entry in self.events(after=after):
            if entry["kind"] == "stream" and type in (None, entry["name"]):
                yield entry["data"]

    def cancel(self, *, reason: Optional[str] = None, grace: Optional[Duration] = None) -> bool:
        """True when this asked a living run to end; False when it had ended already."""
        return self._client.cancel(self.id, reason=reason, grace=grace)
