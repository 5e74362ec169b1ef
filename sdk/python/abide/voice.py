"""What a worker says: through the logger "abide", or to standard error when nobody listens to it.

A program that has configured logging gets records of the logger "abide" and nothing else: no
handler is added and no level is set. In a program that has not, records of level INFO and above
are written to standard error, because the library's own default would show no more than the bare
text of warnings.
"""
from __future__ import annotations

import logging
import sys
import threading
from typing import Any, Optional

logger = logging.getLogger("abide")

least = [logging.INFO]
"""What is written to standard error at least; tests ask for less."""

_formatter = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")


def say(level: int, message: str, *args: Any, error: Optional[BaseException] = None,
        **fields: Any) -> None:
    """`error` is told with its traceback; `fields` become attributes of the record."""
    info = None if error is None else (type(error), error, error.__traceback__)
    if logger.hasHandlers():
        logger.log(level, message, *args, exc_info=info, extra=fields)
    elif level >= (logger.level or least[-1]) and logging.root.manager.disable < level:
        record = logger.makeRecord(logger.name, level, "", 0, message, args, info, extra=fields)
        try:
            sys.stderr.write(_formatter.format(record) + "\n")
            sys.stderr.flush()
        except (OSError, ValueError):  # closed: there is nobody to tell
            pass


class Link:
    """Whether the server can be reached: said once per change, not once per try."""

    def __init__(self, url: str, about: str):
        self._url = url
        self._about = about
        self._is_up: Optional[bool] = None  # not known yet
        self._lock = threading.Lock()

    @property
    def is_up(self) -> bool:
        return self._is_up is True

    def _change(self, is_up: bool) -> Optional[str]:
        """What it was: "up", "down" or "unknown"; None when it is as before."""
        with self._lock:
            before, self._is_up = self._is_up, is_up
        return None if before is is_up else {None: "unknown", True: "up", False: "down"}[before]

    def up(self) -> None:
        before = self._change(True)
        if before is not None:
            say(logging.INFO, "connected %sto %s; %s", "again " if before == "down" else "",
                self._url, self._about)

    def down(self, why: object) -> None:
        before = self._change(False)
        if before is not None:
            what = "connection to %s lost" if before == "up" else "cannot reach %s"
            say(logging.WARNING, what + ": %s; trying again until it is back", self._url, why)


def way_out(status: int, url: str, has_token: bool) -> str:
    """What to do about a claim that the server refuses for good."""
    make = "make one with `abide token create --name NAME --scope worker`, " \
           "and pass it as token=… or in $ABIDE_TOKEN"
    if status == 401:
        return ("the server does not know this token; " if has_token else
                "the server asks for a token and none was given; ") + make
    if status == 403:
        return "the token lacks the scope worker; " + make
    if status in (404, 405):
        return "%s has no such route: look whether server=… or $ABIDE_SERVER is the URL of an " \
               "abide server" % url
    return "the worker cannot go on"
