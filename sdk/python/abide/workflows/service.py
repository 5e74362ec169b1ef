"""Service: the part of a worker that executes workflows, on a thread and an event loop of its own.

Three things go on at a time: a claim that waits for turns, a request with commits (pump.py), and now
and then a heartbeat. Runs are in memory while a turn of them is held; suspended ones stay until there
are too many, the least recently used go first. Leaving memory costs a replay, nothing else.

  [service-1] Everything about runs is done on the service's thread, functions of threads aside.
  [service-2] At most `turns` turns are held; nothing is claimed that could not begin at once.
  [service-3] Stopping claims nothing any more. Steps that are executed may end, their results are
        recorded, and every turn that is still held is handed back.
"""
from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from typing import Any, Callable, Dict, List, Optional, Sequence, Set

from ..aio import AsyncTransport
from ..convert import encode
from ..errors import ApiError, ServerUnreachable
from ..fields import in_milliseconds
from ..transport import Backoff
from ..voice import Link, say
from .context import Clock
from .definition import Workflow
from .drivers import ThreadDriver
from .loop import WorkflowLoop
from .pump import Pump
from .run import Run, Turn
from .slips import watch
from .steps import Attempt, Steps

_CLAIM_MAX = 1000
_THREADS_KEPT_MAX = 200  # suspended runs with a thread each
_PERMANENT = (400, 401, 403, 404, 405, 422)
_LAST_MOMENT = 2.0


class Options:
    """What Worker says to its service."""

    def __init__(self, name: str, lease: float, heartbeat: float, poll: float, turns: int,
                 step_threads: int, max_runs_in_memory: int):
        self.name = name
        self.lease = lease
        self.heartbeat = heartbeat
        self.poll = poll
        self.turns = turns
        self.step_threads = step_threads
        self.max_runs_in_memory = max_runs_in_memory


class Service:
    def __init__(self, transport: AsyncTransport, link: Link, options: Options,
                 definitions: List[Workflow[Any, Any]],
                 refused: Callable[[ApiError], None]):
        self.transport = transport
        self.link = link
        self.clock = Clock()
        self.is_stopping = self.is_dead = False
        self.mocks: Dict[str, Callable[..., Any]] = {}
        self._options = options
        self._definitions = {(each.name, each.version): each for each in definitions}
        self._claimant = '"worker":%s,"lease":"%s","workflows":%s' % (
            encode(options.name), in_milliseconds(options.lease),
            encode([{"name": name, "version": version} for name, version in self._definitions]))
        self._asked = 0  # turns that the claim under way may bring
        self._refused = refused
        self._runs: Dict[str, Run] = {}  # that hold a turn
        self._memory: "OrderedDict[str, Run]" = OrderedDict()  # that are suspended
        self._thread_count = 0  # of them
        self._has_room: Optional[asyncio.Event] = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="abide workflows")
        self._ended: Optional[asyncio.Event] = None
        self._grace = 0.0
        self._is_ready = threading.Event()
        self.is_serving = threading.Event()  # it has asked for turns

    # ---- from other threads ----

    def begin(self) -> None:
        watch()
        self._thread.start()
        self._is_ready.wait()

    def stop(self, grace: float) -> None:
        """Hands everything back, and ends."""
        self._grace = grace
        self.call_soon(self.loop, self._stop)
        self._thread.join(grace + 3 * _LAST_MOMENT)

    def kill(self) -> None:
        """Ends without a word, as a process does that is killed: for tests."""
        self.is_dead = True
        self.call_soon(self.loop, self._die)
        self._thread.join()

    @staticmethod
    def call_soon(loop: asyncio.AbstractEventLoop, function: Callable[..., Any]) -> None:
        try:
            loop.call_soon_threadsafe(function)
        except RuntimeError:  # it has ended
            pass

    # ---- life ----

    def _run(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.workflow_loop = WorkflowLoop()  # type: ignore[abstract]
        self.pump = Pump(self)
        self.steps = Steps(self.loop, self._options.step_threads, self.clock, self._steps_ended)
        self.steps.mocks = self.mocks
        self._has_room, self._ended = asyncio.Event(), asyncio.Event()
        self._is_ready.set()
        others = [asyncio.ensure_future(each) for each in (
            self._claim_forever(), self.pump.work(), self._heartbeat_forever())]
        for each in others:
            each.add_done_callback(self._say_broken)
        await self._ended.wait()
        for each in others:
            each.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for run in [*self._runs.values(), *self._memory.values()]:
            run.drop("stopping")
        self.steps.close()
        await self.transport.close()

    def _say_broken(self, task: "asyncio.Future[Any]") -> None:
        if not task.cancelled() and task.exception() is not None:
            say(logging.CRITICAL, "the worker is broken: %s", task.exception(), error=task.exception())

    def _die(self) -> None:
        assert self._ended is not None
        self._ended.set()

    def _stop(self) -> None:
        if not self.is_stopping:
            self.is_stopping = True
            asyncio.ensure_future(self._wind_up())

    async def _wind_up(self) -> None:  # [service-3]
        assert self._ended is not None
        deadline = self.loop.time() + self._grace
        for run in list(self._runs.values()):
            run.present()
        while self._runs and self.loop.time() < deadline:
            await asyncio.sleep(0.01)
        deadline = self.loop.time() + _LAST_MOMENT
        for run in list(self._runs.values()):
            run.give_up_steps("stopping")
        while self._runs and self.loop.time() < deadline and any(
                run.running for run in self._runs.values()):
            await asyncio.sleep(0.01)
        for run in list(self._runs.values()):
            if not run.is_committing and run.token is not None:
                self.hand_back(run)
        while not self.pump.is_idle and self.loop.time() < deadline + _LAST_MOMENT:
            await asyncio.sleep(0.01)
        self._ended.set()

    def _registration(self) -> str:
        about = [{"name": each.name, "version": each.version, "description": each.description,
                  "input": each.schema} for each in self._definitions.values()]
        return encode({"workflows": [
            {key: value for key, value in each.items() if value is not None} for each in about]})

    # ---- claiming ----

    async def _claim_forever(self) -> None:
        backoff, is_registered = Backoff(), False
        while not self.is_stopping:
            await self._wait_for_room()
            try:
                if not is_registered:
                    await self.transport.call("POST", "/v1/turns/register", retry_for=0,
                                              text=self._registration())
                    await self._ask_about_clock()
                    is_registered = True
                await self.take(await self._claim())
            except (ApiError, ServerUnreachable) as error:
                if isinstance(error, ApiError) and error.code == "WORKFLOW_NOT_FOUND":
                    is_registered = False
                elif isinstance(error, ApiError) and error.status in _PERMANENT:
                    self._refused(error)
                    return
                else:
                    self.link.down(error)
                await asyncio.sleep(backoff.pause())
                continue
            self.link.up()
            self.is_serving.set()
            backoff.reset()

    async def _ask_about_clock(self) -> None:
        try:
            answer = await self.transport.call("GET", "/v1/time", retry_for=0)
        except ApiError:  # a token of a worker may not ask; servers for tests have none
            return
        self.clock.stands_still = answer["is_virtual"]
        self.clock.hear(answer)

    async def _wait_for_room(self) -> None:  # [service-2]
        assert self._has_room is not None
        while len(self._runs) >= self._options.turns:
            self._has_room.clear()
            await self._has_room.wait()

    async def _claim(self) -> List[Turn]:
        options = self._options
        # A first claim that does not wait finds out at once whether there is a server.
        wait = options.poll if self.link.is_up else 0
        self._asked = min(_CLAIM_MAX, (options.turns - len(self._runs) + 1) // 2)
        try:
            answer = await self.transport.call(
                "POST", "/v1/turns/claim", retry_for=0, wait=wait, text='{%s,"max":%d,"wait":"%s"}' % (
                    self._claimant, self._asked, in_milliseconds(wait)))
        finally:
            self._asked = 0
        self._tell_news(set(answer["news"]))
        turns: List[Turn] = answer["turns"]
        return turns

    def _tell_news(self, tokens: Set[int]) -> None:
        for run in list(self._runs.values()) if tokens else ():
            if run.token in tokens:
                run.ask()

    def wish(self) -> str:
        """The member of a commit that asks for turns, if there is room for more. [service-2]"""
        room = min(_CLAIM_MAX, self._options.turns - len(self._runs) - self._asked)
        return ',"claim":{%s,"max":%d}' % (self._claimant, room) if room > 0 and (
            not self.is_stopping) else ""

    async def take(self, turns: Sequence[Turn]) -> None:
        if turns:
            self.clock.hear(turns[-1])
        for turn in turns:
            await self._take(turn)

    async def _take(self, turn: Turn) -> None:
        run = self._runs.get(turn["run_id"])
        if run is not None and run.is_committing:  # its verdict is on its way
            run.next_turn = turn
            return
        if run is not None:
            run.drop()
        if self.is_stopping:
            self.pump.add(None, _released(turn["turn"]), "released")
            return
        run = self._memory.pop(turn["run_id"], None)
        if run is not None:
            self._thread_count -= isinstance(run.driver, ThreadDriver)
        if turn["after"] == 0 and run is not None:  # it went back, or somebody else had it
            run.drop()
            run = None
        elif turn["after"] > 0 and run is None:
            await self.take_again(turn["turn"], self._definition(turn))
            return
        self._begin(run, turn)

    def _begin(self, run: Optional[Run], turn: Turn) -> None:
        if run is None:
            run = Run(self, self._definition(turn), turn)
        self._runs[turn["run_id"]] = run
        run.take(turn)

    def _definition(self, turn: Turn) -> Workflow[Any, Any]:
        return self._definitions[turn["workflow"], turn["version"]]

    async def take_again(self, token: int, definition: Workflow[Any, Any]) -> None:
        """The whole turn, of a run that is not in memory."""
        try:
            turn = await self.transport.call("POST", "/v1/turns/journal", body={"turn": token},
                                             is_repeatable=True)
        except ApiError:  # it is not ours any more
            return
        except ServerUnreachable as error:
            self.link.down(error)
            return
        self._begin(None, {**turn, "version": definition.version})

    def take_next(self, run: Run) -> None:
        """The turn that came before the verdict of the last one."""
        turn, run.next_turn = run.next_turn, None
        if turn is not None:
            asyncio.ensure_future(self._take(turn))

    # ---- what runs ask for ----

    def may_keep(self, run: Run) -> bool:
        if self._options.max_runs_in_memory < 1 or self.is_stopping:
            return False
        return not isinstance(run.driver, ThreadDriver) or self._thread_count < _THREADS_KEPT_MAX

    def keep(self, run: Run) -> None:
        self._remove(run)
        self._memory[run.info.run_id] = run
        self._thread_count += isinstance(run.driver, ThreadDriver)
        while len(self._memory) > self._options.max_runs_in_memory:
            oldest = next(iter(self._memory.values()))
            oldest.drop()

    def forget(self, run: Run) -> None:
        self._remove(run)
        if self._memory.get(run.info.run_id) is run:
            del self._memory[run.info.run_id]
            self._thread_count -= isinstance(run.driver, ThreadDriver)

    def _remove(self, run: Run) -> None:
        if self._runs.get(run.info.run_id) is run:
            del self._runs[run.info.run_id]
            assert self._has_room is not None
            self._has_room.set()

    def lose_memory(self, claimed: Sequence[Turn]) -> None:
        """Begins anew, as the process that comes after a crash: for tests."""
        self.pump.forget()
        tokens = [turn["turn"] for turn in claimed]
        for run in [*self._runs.values(), *self._memory.values()]:
            tokens += [run.token] if run.token is not None else []
            tokens += [run.next_turn["turn"]] if run.next_turn is not None else []
            run.next_turn = None
            run.drop("stopping")
        for token in tokens:
            self.pump.add(None, _released(token), "released")

    def hand_back(self, run: Run) -> None:
        token = run.token
        assert token is not None
        run.drop("stopping")
        self.pump.add(None, _released(token), "released")

    def _steps_ended(self, attempts: List[Attempt]) -> None:
        runs = {}
        for attempt in attempts:
            attempt.run.step_ended(attempt)
            runs[attempt.run.info.run_id] = attempt.run
        for run in runs.values():
            run.present()

    # ---- heartbeats ----

    async def _heartbeat_forever(self) -> None:
        while True:
            await asyncio.sleep(self._options.heartbeat / 2)
            old = self.loop.time() - self._options.heartbeat / 2
            due = [run for run in self._runs.values()
                   if run.renewed_at <= old and run.token is not None]
            for start in range(0, len(due), _CLAIM_MAX):
                await self._heartbeat(due[start:start + _CLAIM_MAX])

    async def _heartbeat(self, runs: List[Run]) -> None:
        tokens = [run.token for run in runs]
        began = self.loop.time()
        try:
            answer = await self.transport.call(
                "POST", "/v1/turns/heartbeat", retry_for=0, is_repeatable=True, body={
                    "turns": [{"turn": token} for token in tokens],
                    "lease": in_milliseconds(self._options.lease)})
        except (ApiError, ServerUnreachable) as error:
            self.link.down(error)
            return
        for run, token, said in zip(runs, tokens, answer["turns"]):
            if run.token != token or run.is_committing:
                continue
            run.renewed_at = began
            if said["status"] == "fenced":
                run.drop()
            elif said["status"] == "accepted":
                run.ask()
            elif said["status"] == "cancelled" and not run.is_cancel_wanted:
                run.is_cancel_wanted = True
                run.woken()


def _released(token: int) -> str:
    return '{"turn":%d,"outcome":"released"}' % token
