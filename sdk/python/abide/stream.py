"""Server-sent events that go on where a connection broke."""
from __future__ import annotations

import http.client
import json
import time
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple

from .errors import ServerUnreachable
from .transport import Backoff, Transport, problem

_SILENCE_MAX = 60.0  # a stream says something every 25 s


def follow(transport: Transport, path: str, is_last: Callable[[Dict[str, Any]], bool], *,
           query: Optional[Mapping[str, Any]] = None,
           after: Optional[int] = None) -> Iterator[Tuple[int, Dict[str, Any]]]:
    """(sequence number, data) of a stream until the last one, or until nothing will ever come.

    `after` is the number to begin after, if any; a connection that breaks is made again and the
    stream goes on after the last number seen.
    """
    backoff = Backoff()
    until = time.monotonic() + transport.retry_for
    while True:
        failure: Exception = ConnectionError("the stream broke off")
        try:
            for number, data in _connection(transport, path, query, after):
                if number is None:
                    return
                after = number
                yield number, data
                if is_last(data):
                    return
                backoff.reset()
                until = time.monotonic() + transport.retry_for
        except (OSError, http.client.HTTPException) as error:
            failure = error
        pause = backoff.pause()
        if time.monotonic() + pause > until:
            raise ServerUnreachable("the stream %s of %s cannot go on: %s" % (
                path, transport.url, failure)) from failure
        time.sleep(pause)


def _connection(transport: Transport, path: str, query: Optional[Mapping[str, Any]],
                after: Optional[int]) -> Iterator[Tuple[Optional[int], Dict[str, Any]]]:
    """Of one connection; a None in place of the number when nothing will ever come."""
    connection = transport.connect(_SILENCE_MAX)
    try:
        connection.request("GET", transport.target(path, query), headers=transport.headers(
            {"Last-Event-ID": None if after is None else str(after),
             "Accept": "text/event-stream"}))
        response = connection.getresponse()
        if response.status == 204:
            yield None, {}
            return
        if response.status in (502, 503, 504):
            raise ConnectionError("HTTP %d" % response.status)
        if response.status != 200:
            raise problem(response.status, response.read())
        number = None
        for line in response:
            if line.startswith(b"id:"):
                number = int(line[3:])
            elif line.startswith(b"data:") and number is not None:
                yield number, json.loads(line[5:])
    finally:
        connection.close()
