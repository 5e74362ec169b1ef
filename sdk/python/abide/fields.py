"""Fields of requests: what each may hold, and how it is written.

One field means the same in every request, so each is described once. A value that the server would
refuse for its kind is refused here, by name and before anything is sent.
"""
from __future__ import annotations

import datetime
import re
import urllib.parse
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Union

Duration = Union[int, float, str]
"""Seconds, or text such as "500ms", "2s", "15m", "24h", "30d", "1h30m", "PT15M"."""
Time = Union[str, datetime.datetime]
"""RFC 3339 text, or a datetime that knows its time zone."""
Several = Union[str, Iterable[str]]
"""One text (several of them with commas), or a list of them."""

_AMOUNT = r"(?:(\d+(?:\.\d+)?)%s)?"
_UNITS = (604800, 86400, 3600, 60, 1, 0.001)
_PLAIN = re.compile("".join(_AMOUNT % unit for unit in ("w", "d", "h", "m", "s", "ms")))
_ISO = re.compile("P" + _AMOUNT % "W" + _AMOUNT % "D" + "(?:T" + _AMOUNT % "H" + _AMOUNT % "M" +
                  _AMOUNT % "S" + ")?")


def seconds(duration: Duration, name: str = "duration") -> float:
    """Of what the server takes as a duration; raises ValueError for anything else."""
    if not isinstance(duration, bool) and isinstance(duration, (int, float)) and duration >= 0:
        return float(duration)
    if isinstance(duration, str):
        if re.fullmatch(r"\d+(\.\d+)?", duration):
            return float(duration)
        match = _PLAIN.fullmatch(duration) or _ISO.fullmatch(duration)
        amounts = match.groups() if match else ()
        if any(amounts):
            return sum(float(amount or 0) * unit for amount, unit in zip(amounts, _UNITS))
    raise ValueError("%s: not a duration: %r; write a number of seconds, or text as in \"500ms\", "
                     "\"2s\", \"1h30m\" or \"PT15M\"" % (name, duration))


def in_milliseconds(duration: Duration, name: str = "duration") -> str:
    return "%dms" % round(seconds(duration, name) * 1000)


# ---- kinds ----

def _refused(name: str, wanted: str, value: Any) -> TypeError:
    return TypeError("%s: must be %s, not %r" % (name, wanted, value))


def _any(_name: str, value: Any) -> Any:
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or value == "":
        raise _refused(name, "a text that is not empty", value)
    return value


def _texts(name: str, value: Any) -> List[str]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise _refused(name, "a list of texts", value)
    return [_text(name, item) for item in value]


def _list(name: str, value: Any) -> List[Any]:
    if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
        raise _refused(name, "a list", value)
    return list(value)


def _duration(name: str, value: Any) -> Any:
    seconds(value, name)
    return value


def _time(name: str, value: Any) -> str:
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise ValueError("%s: %r has no time zone" % (name, value))
        return value.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    return _text(name, value)


def _integer(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _refused(name, "a whole number", value)
    return value


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _refused(name, "a number", value)
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _refused(name, "True or False", value)
    return value


def _one_of(*words: str) -> Callable[[str, Any], Any]:
    def check(name: str, value: Any) -> Any:
        if value not in words:
            raise ValueError("%s: %r is none of %s" % (name, value, ", ".join(words)))
        return value
    return check


_KINDS: Dict[str, Callable[[str, Any], Any]] = {
    "consume": _one_of("one", "all"),
    "leftover_signals": _one_of("discard", "topic", "dead_letter"),
    "parent_close": _one_of("abandon", "cancel"),
    "overlap": _one_of("skip", "queue", "allow", "cancel-old"),
    "retry_factor": _number,
    "visible": _one_of("all", "after-create", "after-wait"),
}
_KINDS.update({name: _any for name in ("claim", "event", "input", "kwargs", "payload", "start_event")})
_KINDS.update({name: _list for name in (
    "children", "events", "results", "signals", "tasks", "turns", "workflows")})
_KINDS.update({name: _flag for name in (
    "dry_run", "include_internal", "include_qualified_name", "paused", "purge", "secrets")})
_KINDS.update({name: _texts for name in ("ids", "names", "queues", "scopes", "tags")})
_KINDS.update({name: _time for name in (
    "at", "created_after", "created_before", "from", "idle_before", "start_at", "to")})
_KINDS.update({name: _integer for name in (
    "after", "attempts", "cap", "depth", "iteration", "max", "max_per_key", "max_running",
    "page_size", "priority", "rate_count", "turn")})
_KINDS.update({name: _duration for name in (
    "by", "catch_up", "delay", "every", "expire", "expires", "grace", "heartbeat_timeout", "jitter",
    "lease", "rate_period", "retry_delay", "retry_max_delay", "schedule_timeout", "time", "timeout",
    "ttl",
    "wait")})
_KINDS.update({name: _text for name in (
    "concurrency_key", "cron", "cursor", "file", "handler_id", "id", "key", "leftover_topic", "name",
    "parent", "path", "q", "queue", "reason", "run", "source", "state", "step", "tag", "timezone",
    "traceparent", "tracestate", "verb", "version", "waiting_on", "where", "worker", "workflow")})


def given(**fields: Any) -> Dict[str, Any]:
    """The fields that are not None, checked; page_size is sent as `limit`."""
    return {"limit" if name == "page_size" else name: _KINDS[name](name, value)
            for name, value in fields.items() if value is not None}


def several(name: str, value: Optional[Several]) -> Optional[Sequence[str]]:
    """For a filter that takes one text or many."""
    if value is None:
        return None
    return [_text(name, value)] if isinstance(value, str) else _texts(name, value)


def path(*parts: str) -> str:
    """A path whose parts cannot be mistaken for others: path("/v1/runs/", id, "/cancel").

    Every second part is a value. One that is empty would lead to another route.
    """
    for value in parts[1::2]:
        if not isinstance(value, str) or value == "":
            raise TypeError("%s…: an id or a name is needed here, not %r" % (parts[0], value))
    return "".join(urllib.parse.quote(part, safe="") if number % 2 else part
                   for number, part in enumerate(parts))
