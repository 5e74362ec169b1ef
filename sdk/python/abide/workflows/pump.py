"""Pump: commits of all runs, in one request at a time.

While a request is on its way, what runs commit meanwhile gathers; the next request carries all of
it. So a server with a slow disk gets few large requests, and a fast one small ones at once.

  [P1] A commit is sent until it was answered. Commits are numbered: one of a turn that goes on, and
        that was taken, is answered again as it was; any other is fenced then, and its run replayed.
"""
from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Deque, Dict, List, Optional, Tuple

from ..errors import ApiError, ServerUnreachable
from ..transport import Backoff

if TYPE_CHECKING:
    from .run import Run
    from .service import Service

_BATCH_MAX = 1000
_BATCH_BYTES = 2 << 20

Said = Tuple[Optional["Run"], str, str]
"""A run (None: it is not in memory any more), a turn as JSON, its outcome."""


class Pump:
    def __init__(self, service: "Service"):
        self._service = service
        self._outbox: Deque[Said] = deque()
        self._is_needed = asyncio.Event()
        self.is_sending = False

    def add(self, run: "Optional[Run]", text: str, outcome: str) -> None:
        self._outbox.append((run, text, outcome))
        self._is_needed.set()

    def forget(self) -> None:
        """What was not sent yet."""
        self._outbox.clear()

    @property
    def is_idle(self) -> bool:
        return not self._outbox and not self.is_sending

    async def work(self) -> None:
        while True:
            await self._is_needed.wait()
            while self._outbox:
                self.is_sending = True
                await self._send(self._take())
                self.is_sending = False
                await asyncio.sleep(0)  # steps that ended meanwhile share the next one
            self._is_needed.clear()

    def _take(self) -> List[Said]:
        batch: List[Said] = []
        size = 0
        while self._outbox and len(batch) < _BATCH_MAX:
            size += len(self._outbox[0][1])
            if batch and size > _BATCH_BYTES:
                break
            batch.append(self._outbox.popleft())
        return batch

    async def _send(self, batch: List[Said]) -> None:
        backoff = Backoff()
        while True:
            try:
                answer = await self._service.transport.call(
                    "POST", "/v1/turns/commit", retry_for=0, is_repeatable=True,
                    text='{"turns":[%s]%s}' % (",".join(text for _, text, _ in batch),
                                               self._service.wish()))
            except ServerUnreachable as error:
                self._service.link.down(error)
                await asyncio.sleep(backoff.pause())  # and again [P1]
            except ApiError as error:
                if error.status >= 500:
                    self._service.link.down(error)
                    await asyncio.sleep(backoff.pause())
                    continue
                await self._send_apart(batch, error)
                return
            else:
                self._service.link.up()
                for said, verdict in zip(batch, answer["turns"]):
                    self._tell(said, verdict)
                await self._service.take(answer.get("claimed", ()))
                return

    async def _send_apart(self, batch: List[Said], error: ApiError) -> None:
        """A commit that the server cannot take must not hold up the others."""
        if len(batch) > 1:
            for said in batch:
                await self._send([said])
            return
        self._tell(batch[0], {"status": "refused", "code": error.code, "detail": error.detail})

    def _tell(self, said: Said, verdict: Dict[str, Any]) -> None:
        run, _, outcome = said
        if run is None or run.token is None:
            return
        status = verdict["status"]
        if status == "accepted":
            run.accepted(outcome, verdict)
        elif status == "refused":
            run.refused(verdict)
        else:
            run.is_committing = False
            run.drop()
        self._service.take_next(run)
