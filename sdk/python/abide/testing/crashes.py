"""every_crash: one scenario, with a crash of the worker at every point where one could matter.

A worker can die before the server has taken a commit, or after it and before the answer. The scenario
is executed once without a crash, then once for each such point of each commit, with a server of its
own. The worker then has lost everything that it knew, and begins anew. Every time its answer, what the runs recorded, and which effects there were must be the same.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

from ..convert import encode
from ..workflows.definition import Workflow
from .environment import Environment

Scenario = Callable[[Environment], Any]


class Difference(AssertionError):
    """A crash that changed what came of a scenario; the message says where and what."""


class _Outcome:
    def __init__(self, env: Environment, answer: Any):
        self.parts: Dict[str, Any] = {
            "the answer of the scenario": encode(answer),
            "what the runs recorded": sorted(_recorded(env)),
            "the effects": sorted({encode(each) for each in env.effects})}


def _recorded(env: Environment) -> List[str]:
    """Of each run: how it ended, and which steps have a result; values may be random."""
    runs = []
    for run in env.client.list():
        steps = sorted(step["name"] for step in env.client.steps(run["id"])
                       if step["kind"] == "step")
        runs.append("%s %s: %s" % (run["workflow"], run["status"], ", ".join(steps)))
    return runs


def _execute(scenario: Scenario, definitions: Tuple[Workflow[Any, Any], ...],
             options: Dict[str, Any], at: int, is_after: bool) -> Tuple[_Outcome, bool]:
    env = Environment(*definitions, **options)
    crash = env.crash_at(at, is_after)
    where = _where(at, is_after)
    try:
        with env:
            return _Outcome(env, scenario(env)), crash.has_happened
    except Exception as error:
        if at == 0 or not crash.has_happened:
            raise
        raise Difference("%s: the scenario failed: %s: %s" % (
            where, type(error).__name__, error)) from error


def _where(at: int, is_after: bool) -> str:
    return "with the worker killed %s commit %d" % ("after" if is_after else "before", at)


def every_crash(scenario: Scenario, *definitions: Workflow[Any, Any], **options: Any) -> int:
    """Executes scenario(env) with every crash there can be; answers how many there were.

    Raises Difference at the first that changes anything. `options` are those of Environment. Steps
    are executed at least once: an effect may be there twice, and is compared as if it was once.
    """
    wanted, _ = _execute(scenario, definitions, options, 0, False)
    crashes = 0
    for is_after in (False, True):
        at = 1
        while True:
            found, has_crashed = _execute(scenario, definitions, options, at, is_after)
            if not has_crashed:
                break
            _compare(wanted, found, _where(at, is_after))
            crashes += 1
            at += 1
    return crashes


def _compare(wanted: _Outcome, found: _Outcome, where: str) -> None:
    for what, value in wanted.parts.items():
        if found.parts[what] != value:
            raise Difference("%s, %s differ: %s instead of %s" % (
                where, what, found.parts[what], value))
