"""Run: one run in the memory of this worker, from a turn to its commits.

    take ──▶ go ──▶ the function executes ──▶ it can go on no more ──▶ settle what ended ──▶ go …
                                                  │ nothing more to settle
                                                  ▼
                                               present: begin steps; commit what is new

  [run-1] The function goes on with the result of a step after the commit that records it was
        accepted, never before.
  [run-2] A run has at most one commit on its way.
  [run-3] While steps are executed the turn is held, and the server is asked for what else the run
        waits for: when that changes, when a time of it has come, and when there is news.
  [run-4] What a run says after its turn was lost goes nowhere.
"""
from __future__ import annotations

import asyncio
import datetime
import logging
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

from ..convert import ConversionError, encode
from ..voice import logger, say
from .blocking import BlockingContext
from .context import Context, ContinueAs, RunInfo
from .definition import Workflow
from .drivers import CoroutineDriver, Outcome, ThreadDriver
from .loop import Scope
from .operation import Durable
from .replay import Mismatch, Replay, Stop
from .step import StepOperation
from .steps import Attempt, describe

if TYPE_CHECKING:
    from .service import Service

Turn = Dict[str, Any]

_ENTRIES_MAX = 5000  # of one commit; the server takes 20,000
_BYTES_MAX = 2 << 20
_LATE = 0.005  # seconds: a timer is asked for when it is due for sure
_PATIENT = '{"kind":"mark"'  # entries that may wait for the next step's result


def _moment(text: Optional[str]) -> datetime.datetime:
    return datetime.datetime.fromisoformat((text or "1970-01-01T00:00:00Z").replace("Z", "+00:00"))


class Run:
    __slots__ = ("service", "definition", "info", "replay", "driver", "token", "number", "renewed_at",
                 "is_executing", "is_committing", "is_cancel_wanted", "is_kept", "next_turn",
                 "results", "committed", "settled", "fresh", "waits", "running", "__weakref__")

    def __init__(self, service: "Service", definition: Workflow[Any, Any], turn: Turn):
        self.service = service
        self.definition = definition
        self.info = RunInfo(turn["run_id"], turn["workflow"], turn["version"], turn["attempt"],
                            tuple(turn["tags"]), turn["parent_id"], _moment(turn["started_at"]),
                            turn["traceparent"])
        self.replay = Replay()
        self.token: Optional[int] = None  # of the turn that is held
        self.number = 0  # of the last commit under it
        self.renewed_at = 0.0
        self.is_executing = self.is_committing = self.is_cancel_wanted = self.is_kept = False
        self.next_turn: Optional[Turn] = None
        self.results: List[Attempt] = []  # that ended, and are not committed
        self.committed: List[Attempt] = []  # that are on their way
        self.settled: List[Attempt] = []  # that were accepted, and are not settled
        self.fresh: List[Dict[str, Any]] = []  # entries that came meanwhile; they follow `settled`
        self.waits = ""  # that the server was told of last, while steps are executed
        self.running = 0  # steps
        self.driver = self._driver(turn["input"])

    def _driver(self, given: Any) -> Union[CoroutineDriver, ThreadDriver]:
        context = Context(self.replay, self.info, self.service.clock)
        definition = self.definition
        if definition.is_async:
            scope = Scope(context)
            return CoroutineDriver(self.service.workflow_loop, scope, self._begin(context, given))
        loop, idle = self.service.loop, self.idle
        driver = ThreadDriver(lambda: self._call(BlockingContext(context), given),
                              lambda: self.service.call_soon(loop, idle))
        context._block = driver.block
        return driver

    def _arguments(self, context: Any, given: Any) -> Tuple[Any, ...]:
        definition = self.definition
        if not definition.takes_input:
            return (context,)
        try:
            return (context, definition.read_input(given))
        except ConversionError as error:
            raise ConversionError("the input of %s: %s" % (definition.name, error)) from None

    async def _begin(self, context: Context, given: Any) -> Any:
        return await self.definition.function(*self._arguments(context, given))

    def _call(self, context: BlockingContext, given: Any) -> Any:
        return self.definition.function(*self._arguments(context, given))

    # ---- executing ----

    def take(self, turn: Turn) -> None:
        """The server hands it out."""
        self.token = turn["turn"]
        self.number = 0
        self.renewed_at = self.service.loop.time()
        self.is_cancel_wanted = turn["cancelled"]
        self.replay.extend(turn["journal"])
        self.go()

    def go(self) -> None:
        """The function goes on, as far as it can with what the journal has."""
        self.is_executing = True
        while self.driver.resume():
            if not self._settle():
                self.is_executing = False
                self.present()
                return

    def idle(self) -> None:
        """The function, on a thread of its own, can go on no more."""
        if not self.is_executing:
            return
        if self._settle():
            self.go()
        else:
            self.is_executing = False
            self.present()

    def _settle(self) -> bool:
        """The next thing that has ended; False when there is none."""
        if self.replay.halt is not None:
            return False
        try:
            if self.replay.settle_next():
                return True
        except Stop:
            return False
        if self.settled:
            self._settle_step(self.settled.pop(0))
            return True
        if self.fresh:
            self.replay.extend(self.fresh)
            self.fresh = []
            return self._settle()
        if self.is_cancel_wanted and not self.replay.is_cancelled and self.driver.outcome is None:
            self.replay.note('{"kind":"cancel","name":"cancel"}')
            self.give_up_steps("cancelled")
            self.replay.cancel()
            return True
        return False

    def _settle_step(self, attempt: Attempt) -> None:
        operation = attempt.operation
        if attempt.kind == "attempt":
            operation.begin_backoff(attempt.step.attempt, attempt.data["next_at"])
        else:
            outcome = "error" if attempt.kind == "error" else "ok"
            self.replay.settle(operation, outcome, attempt.data)

    # ---- presenting ----

    def present(self) -> None:
        """The function can go on no more: begin steps, and commit what is new."""
        if self.token is None or self.is_committing or self.is_executing:  # [run-2]
            return
        if isinstance(self.replay.halt, Mismatch):
            self.replay.entries.clear()
            self.commit("paused", error=self.replay.halt.describe())
            return
        if self._is_too_much():
            self.commit("running")
            return
        outcome = self.driver.outcome
        if outcome is not None:
            self._finish(outcome)
            return
        has_more = self._begin_steps()
        if self.results:
            self.commit("running")
        elif self.running > 0:
            if self._waits() != self.waits or any(
                    not entry.startswith(_PATIENT) for entry in self.replay.entries):
                self.commit("running")
        elif has_more:
            self.service.hand_back(self)
        else:
            self._suspend()

    def _is_too_much(self) -> bool:
        entries = self.replay.entries
        return len(entries) > _ENTRIES_MAX or len(entries) > 1 and sum(map(len, entries)) > _BYTES_MAX

    def _begin_steps(self) -> bool:
        """True when there are some that a worker that stops does not begin."""
        has_more = False
        for operation in list(self.replay.open.values()):
            if not isinstance(operation, StepOperation) or operation.running is not None:
                continue
            if any(attempt.operation is operation for attempt in self.results):
                continue
            if operation.retry_at is None and self.service.is_stopping:
                has_more = True
            elif operation.retry_at is None:
                self.running += 1
                self.service.steps.begin(self, operation)
        return has_more

    def _awaited(self) -> List[Durable[Any]]:
        """What the server has to end: steps in their backoff, too."""
        return [operation for operation in self.replay.open.values() if operation.wait is not None
                and (operation.is_awaited or isinstance(operation, StepOperation))]

    def _waits(self) -> str:
        """What the function awaits beside its steps, as JSON."""
        return ",".join('{"op":%d,%s}' % (operation.number, operation.wait)
                        for operation in self._awaited())

    def ask(self) -> None:
        """There may be something of what it waits for: the commit brings it. [run-3]"""
        if self.running > 0 and self.token is not None and not self.is_committing and (
                not self.is_executing and self._waits()):
            self.commit("running")

    def _suspend(self) -> None:
        waits = self._waits()
        if waits:
            self.is_kept = self.service.may_keep(self)
            self.commit("suspended", '"waits":[%s],"deliver":"each","keep":%s' % (
                waits, "true" if self.is_kept else "false"))
            return
        place = self.driver.stuck_at()
        self.commit("paused", error={
            "type": "StuckError", "at": place or None,
            "message": "the function%s awaits what nothing will end: await operations of ctx, and "
                       "do everything else in a step" % (", at %s," % place if place else "")})

    def _finish(self, outcome: Outcome) -> None:
        error = outcome.error
        if error is None:
            try:
                self.commit("completed", '"result":' + encode(outcome.value))
            except (TypeError, ValueError) as wrong:
                self.commit("failed", error={"type": "ResultError", "message":
                                             "the result cannot be written as JSON: %s" % wrong})
        elif isinstance(error, ContinueAs):
            self.commit("continue_as", '"input":' + error.input)
        elif isinstance(error, asyncio.CancelledError):
            self.commit("cancelled", error={"type": "CancelledError",
                                            "message": str(error) or "the run was cancelled"})
        else:
            self._say_failed(error)
            self.commit("failed", error=describe(error))

    def _say_failed(self, error: BaseException) -> None:
        info = self.info
        say(logging.ERROR, "workflow %s (run %s) failed: %s: %s", info.workflow, info.run_id,
            type(error).__name__, error, error=error, run_id=info.run_id, workflow=info.workflow)

    def commit(self, outcome: str, members: str = "", error: Any = None) -> None:
        """Sends what is new. A commit that would be too large goes on with another one."""
        if error is not None:
            members = '"error":' + encode(error)
        entries = self.replay.entries
        if self._is_too_much():
            outcome, members, count, size = "running", "", 0, 0
            while count < len(entries) and count < _ENTRIES_MAX and (
                    count == 0 or size + len(entries[count]) <= _BYTES_MAX):
                size += len(entries[count])
                count += 1
            entries, self.replay.entries = entries[:count], entries[count:]
        else:
            self.replay.entries = []
            if outcome == "running":
                self.committed, self.results = self.results, []
                entries = entries + [attempt.entry for attempt in self.committed]
                members = self._wish()
        self.is_committing = True
        self.number += 1
        self.service.pump.add(self, '{"turn":%d,"number":%d,"outcome":"%s"%s%s}' % (
            self.token or 0, self.number, outcome, ',"entries":[%s]' % ",".join(entries) if entries else "",
            "," + members if members else ""), outcome)

    def _wish(self) -> str:
        """Of a commit that goes on with steps: what is awaited beside them. [run-3]"""
        self.waits = self._waits() if self.running > 0 else ""
        if not self.waits:
            return ""
        now = self.service.clock.now()
        for operation in self._awaited():
            if operation.until is not None:
                delay = _moment(operation.until).timestamp() - now
                if delay > 0:
                    self.service.loop.call_later(delay + _LATE, self.ask)
        return '"waits":[%s],"deliver":"each"' % self.waits

    # ---- what the server says ----

    def accepted(self, outcome: str, verdict: Dict[str, Any]) -> None:
        """[run-1]"""
        self.is_committing = False
        self.service.clock.hear(verdict)
        if outcome != "running":
            self.token = None
            if outcome == "suspended" and self.is_kept:
                self.service.keep(self)
            else:
                self.drop()
            return
        if not verdict["is_held"]:
            self.drop()
            return
        self.is_cancel_wanted = self.is_cancel_wanted or verdict["cancelled"]
        self.settled.extend(self.committed)
        self.committed = []
        self.fresh = verdict.get("journal", [])
        if self.fresh:
            self.waits = ""  # they are not waited for any more
        self.woken()

    def woken(self) -> None:
        """Something may have ended."""
        if self.is_executing or self.is_committing or self.token is None:
            return
        if self._settle():
            self.go()
        else:
            self.present()

    def refused(self, verdict: Dict[str, Any]) -> None:
        """Nothing was taken, and it would not be if it was sent again: the run fails."""
        self.is_committing = False
        committed, self.committed = self.committed, []
        say(logging.ERROR, "the server refuses what workflow %s (run %s) did: %s: %s",
            self.info.workflow, self.info.run_id, verdict["code"], verdict["detail"],
            run_id=self.info.run_id)
        if self.replay.halt is None and committed is not None:
            self.replay.halt = Stop()
            self.replay.entries.clear()
            self.commit("failed", error={"type": verdict["code"], "message": verdict["detail"]})
        else:
            self.service.hand_back(self)

    def step_ended(self, attempt: Attempt) -> None:
        if self.token is None:  # [run-4]
            return
        self.running -= 1
        attempt.operation.running = None
        if not attempt.operation.is_done:
            self.results.append(attempt)

    # ---- the end ----

    def give_up_steps(self, reason: str) -> None:
        for operation in self.replay.open.values():
            if isinstance(operation, StepOperation) and operation.running is not None:
                operation.running.give_up(reason)

    def drop(self, reason: str = "lease lost") -> None:
        """Out of memory. What the function does from here on goes nowhere."""
        self.token = None
        self.give_up_steps(reason)
        if self.replay.halt is None:
            self.replay.halt = Stop()
        self.service.forget(self)
        self.driver.close()
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("run %s has left this worker", self.info.run_id)


