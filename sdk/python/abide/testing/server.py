"""TestServer: a private `abide serve` with a memory store and a clock that stands still."""
from __future__ import annotations

import datetime
import os
import re
import shutil
import subprocess
import threading
from typing import Any, List, Optional, Sequence

from ..client import Client
from ..errors import AbideError
from ..fields import Duration, in_milliseconds, seconds

_READY = re.compile(r"listening on (https?://\S+?)(\"})?$")
_PATIENCE = 60.0


def find_binary(binary: Optional[str]) -> str:
    """The option, $ABIDE_BIN, or `abide` on the PATH."""
    found = binary or os.environ.get("ABIDE_BIN") or shutil.which("abide")
    if found is None:
        raise AbideError("no abide program: pass binary=…, set $ABIDE_BIN, or put abide on the PATH")
    return found


class TestServer:
    """A server for one test. Use it with `with`, or start() and close() it.

    binary     the program; $ABIDE_BIN or `abide` on the PATH unless given
    arguments  more options of `abide serve`
    """

    __test__ = False  # for pytest

    def __init__(self, *, binary: Optional[str] = None, arguments: Sequence[str] = ()):
        self._command = [find_binary(binary), "serve", "--store", "memory:", "--virtual-time",
                         "--idle-release-timeout", "off", "--listen", "127.0.0.1:0", *arguments]
        self._process: "Optional[subprocess.Popen[str]]" = None
        self._is_ready = threading.Event()
        self.log: List[str] = []
        """What the server said."""
        self.url = ""

    def start(self) -> "TestServer":
        environment = {key: value for key, value in os.environ.items() if key != "ABIDE_TOKEN"}
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, text=True,
                                         stderr=subprocess.PIPE, env=environment)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._is_ready.wait(_PATIENCE)
        if not self.url:
            self.close()
            raise AbideError("the server did not start: " + "\n".join(self.log))
        return self

    def _read(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        for line in self._process.stderr:
            self.log.append(line.rstrip("\n"))
            match = _READY.search(self.log[-1])
            if match:
                self.url = match.group(1)
                self._is_ready.set()
        self._is_ready.set()

    def close(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stderr is not None
        self._process.stderr.close()
        self._process = None

    def __enter__(self) -> "TestServer":
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.close()

    def client(self) -> Client:
        return Client(self.url)

    # ---- time ----

    def advance(self, by: Duration, *, patience: Duration = 30) -> datetime.datetime:
        """Moves the clock, from one due moment to the next, until everything on the way was done.

        TimeoutError when that took longer than `patience` of real time.
        """
        with self.client() as client:
            answer = client.transport.object("POST", "/v1/time/advance", wait=seconds(patience), body={
                "by": in_milliseconds(by, "by"), "wait": in_milliseconds(patience, "patience")})
        if not answer["is_settled"]:
            raise TimeoutError("something was still executed at %s: a step that does not end?"
                               % answer["now"])
        return _moment(answer["now"])

    def now(self) -> datetime.datetime:
        """What time it is for workflows."""
        with self.client() as client:
            return _moment(client.transport.object("GET", "/v1/time")["now"])


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
